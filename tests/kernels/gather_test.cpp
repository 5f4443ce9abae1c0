#include "kernels/cpu/gather.h"

#include "tests/kernels/gather_contract.h"

namespace gnomon::kernels {
namespace {

struct CpuGather {
  static std::vector<std::byte> rows(const graph::Features& features,
                                     const std::vector<graph::VertexId>& vertices) {
    std::vector<std::byte> out(vertices.size() * static_cast<std::size_t>(features.row_bytes()));
    cpu::gather_rows(features, vertices, out.data());
    return out;
  }
  static std::vector<std::int64_t> labels(const std::vector<std::int32_t>& labels_of,
                                          const std::vector<graph::VertexId>& vertices) {
    std::vector<std::int64_t> out(vertices.size());
    cpu::gather_labels(labels_of, vertices, out.data());
    return out;
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, GatherContract, CpuGather);

}  // namespace
}  // namespace gnomon::kernels
