#include "kernels/cuda/gather.h"

#include "tests/kernels/gather_contract.h"
#include "tests/kernels_cuda/on_device.h"

namespace gnomon::kernels {
namespace {

using cuda::Place;
using cuda::Placed;
using graph::VertexId;

/// The device's gather from rows at a place. With a cache every third row is read from it alone.
template <Place Where, bool Cached, bool ByPlace = false>
struct GatherOnDevice {
  static std::string why_skipped() { return cuda::why_skipped(); }

  static std::vector<std::byte> rows(const graph::Features& features, const std::vector<VertexId>& vertices) {
    std::vector<std::byte> all(features.data, features.data + features.rows * features.row_bytes());
    std::vector<std::byte> cached;
    std::vector<std::int32_t> slots(static_cast<std::size_t>(features.rows), -1);
    for (VertexId vertex = 0; Cached && vertex < features.rows; vertex += 3) {
      slots[static_cast<std::size_t>(vertex)] = static_cast<std::int32_t>(vertex / 3);
      const auto row = all.begin() + vertex * features.row_bytes();
      cached.insert(cached.end(), row, row + features.row_bytes());
      std::fill(row, row + features.row_bytes(), std::byte{0xEE});
    }
    const Placed<std::byte> placed(Where, all);
    const Placed<std::byte> placed_cache(Place::device, cached);
    const Placed<std::int32_t> placed_slots(Place::device, slots);
    const cuda::DeviceArray<VertexId> wanted(vertices);
    const cuda::DeviceArray<std::byte> out(vertices.size() * static_cast<std::size_t>(features.row_bytes()));
    cuda::Executor executor(nullptr);
    const device::Rows table{placed.data(), features.row_bytes(), Cached ? placed_slots.data() : nullptr,
                             placed_cache.data()};
    if (ByPlace) {
      device::gather_rows_by_place(executor, table, features.rows, device::Reads::shifted, wanted.data(),
                                   std::ssize(vertices), out.data());
    } else {
      device::gather_rows(executor, table, device::Reads::shifted, wanted.data(), std::ssize(vertices),
                          out.data());
    }
    return out.to_host();
  }
  static std::vector<std::int64_t> labels(const std::vector<std::int32_t>& labels_of,
                                          const std::vector<VertexId>& vertices) {
    const Placed<std::int32_t> placed(Where, labels_of);
    const cuda::DeviceArray<VertexId> wanted(vertices);
    const cuda::DeviceArray<std::int64_t> out(vertices.size());
    cuda::Executor executor(nullptr);
    device::gather_labels(executor, placed.data(), wanted.data(), std::ssize(vertices), out.data());
    return out.to_host();
  }
};

using GatherInDeviceMemory = GatherOnDevice<Place::device, false>;
using GatherOverTheLink = GatherOnDevice<Place::host, false>;
using Cached = GatherOnDevice<Place::host, true>;
using CachedByPlace = GatherOnDevice<Place::host, true, true>;

INSTANTIATE_TYPED_TEST_SUITE_P(InDeviceMemory, GatherContract, GatherInDeviceMemory);
INSTANTIATE_TYPED_TEST_SUITE_P(OverTheLink, GatherContract, GatherOverTheLink);
INSTANTIATE_TYPED_TEST_SUITE_P(Cached, GatherContract, Cached);
INSTANTIATE_TYPED_TEST_SUITE_P(ByPlace, GatherContract, CachedByPlace);

}  // namespace
}  // namespace gnomon::kernels
