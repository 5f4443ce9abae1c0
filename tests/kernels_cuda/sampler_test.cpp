#include "kernels/cuda/sampler.h"

#include "kernels/cpu/sample/sampler.h"
#include "tests/kernels/sample/device_batches.h"
#include "tests/kernels/sample/sampler_contract.h"
#include "tests/kernels/sample/weighted_contract.h"
#include "tests/kernels_cuda/on_device.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

using cuda::Place;
using cuda::Placed;
using graph::VertexId;

constexpr auto first_of = []<class T>(const device::Array<T>& array, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  cuda::check(cudaMemcpy(host.data(), array.data, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
              "reading a batch");
  return host;
};

/// The device's sampler on lists of 32-bit ids at a place.
template <Place Where>
class OnDevice {
 public:
  static std::string why_skipped() { return cuda::why_skipped(); }

  OnDevice(const graph::Graph& graph, const std::vector<int>& fanouts, cpu::Draws draws = cpu::Draws::uniform)
      : OnDevice(cpu::resident_copy(graph, draws), fanouts) {}
  MiniBatch sample(const BatchKey& key, std::span<const VertexId> seeds) {
    return to_host(sampler_.sample(key, seeds.data(), std::ssize(seeds)), first_of);
  }

 private:
  OnDevice(const cpu::Topology& host, const std::vector<int>& fanouts)
      : indptr_(Where, {host.indptr.begin(), host.indptr.end()}),
        indices_(Where, {host.narrow_indices.begin(), host.narrow_indices.end()}),
        columns_(Where, {host.columns.begin(), host.columns.end()}),
        weights_(Where, {host.weights.begin(), host.weights.end()}),
        positives_(Where, {host.positives.begin(), host.positives.end()}),
        executor_(nullptr),
        sampler_(executor_,
                 device::Topology{{indptr_.data(), nullptr, indices_.data(),
                                   host.draws_by_weight() ? columns_.data() : nullptr},
                                  host.num_vertices(),
                                  nullptr,
                                  {},
                                  weights_.data(),
                                  host.positives.empty() ? nullptr : positives_.data()},
                 fanouts) {}

  Placed<std::int64_t> indptr_;
  Placed<std::uint32_t> indices_;
  Placed<AliasColumn> columns_;
  Placed<float> weights_;
  Placed<std::uint32_t> positives_;
  cuda::Executor executor_;
  cuda::Sampler sampler_;
};

using InDeviceMemory = OnDevice<Place::device>;
using OverTheLink = OnDevice<Place::host>;

INSTANTIATE_TYPED_TEST_SUITE_P(InDeviceMemory, SamplerContract, InDeviceMemory);
INSTANTIATE_TYPED_TEST_SUITE_P(OverTheLink, SamplerContract, OverTheLink);
INSTANTIATE_TYPED_TEST_SUITE_P(InDeviceMemory, WeightedContract, InDeviceMemory);
INSTANTIATE_TYPED_TEST_SUITE_P(OverTheLink, WeightedContract, OverTheLink);

TEST(CudaSampler, AThousandRandomBatchesAreTheCpusByteForByte) {
  if (const auto why = cuda::why_skipped(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const test::RandomSeed seed(20261122);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000; ++i) {
    const auto vertices = static_cast<std::int64_t>(2 + random() % 3000);
    const auto graph = test::with_random_weights(test::skewed_graph(vertices, random()), 6, random());
    const auto draws = i % 2 == 0 ? cpu::Draws::uniform : cpu::Draws::by_weight;
    std::vector<int> fanouts(1 + random() % 3);
    for (int& fanout : fanouts) {
      fanout = random() % 8 == 0 ? -1 : static_cast<int>(1 + random() % 20);
    }
    const auto seeds = some_seeds(
        graph, static_cast<std::int64_t>(1 + random() % static_cast<std::uint64_t>(vertices)), random());
    const BatchKey key{random(), random() >> 33, random() >> 33};
    MiniBatch expected;
    cpu::Sampler(cpu::view_of(graph, draws), fanouts).sample(key, seeds, expected);
    expect_same(InDeviceMemory(graph, fanouts, draws).sample(key, seeds), expected);
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "in case " << i;
    }
  }
}

}  // namespace
}  // namespace gnomon::kernels
