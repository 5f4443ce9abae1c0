// Mini-batch preparation on a GPU: gathering rows over the link and from device memory, and sampling. The
// references, pinned copies to the device and copies within it, are measured as well. Without a GPU every
// benchmark is skipped.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/repeated_gather.h"
#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/draws.h"
#include "kernels/cuda/gather.h"
#include "kernels/cuda/mapped_memory.h"
#include "kernels/cuda/sampler.h"

namespace gnomon::kernels::cuda {
namespace {

enum class Where : std::int64_t { device, host };

/// Memory of a pool that keeps what is freed, as LibTorch's allocator does: cudaMalloc would be a part of
/// each batch.
std::shared_ptr<void> allocate_from_pool(std::size_t bytes) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the memory pool");
  std::uint64_t kept = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "keeping the pool's memory");
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, std::max<std::size_t>(bytes, 1), nullptr), "allocating device memory");
  return {memory, [](void* allocated) { cudaFreeAsync(allocated, nullptr); }};
}

/// Elements that the device reads in one of the two places: uploaded to its memory, or mapped.
template <class T>
class Placed {
 public:
  Placed(Executor& executor, Where where, const T* data, std::size_t count) {
    if (where == Where::device) {
      array_ = device::make_array<T>(executor, static_cast<std::int64_t>(count));
      executor.upload(array_.data, data, count * sizeof(T));
      data_ = array_.data;
    } else {
      mapped_ = map_memory(data, count * sizeof(T));
      data_ = static_cast<const T*>(mapped_.device_data);
    }
  }
  const T* data() const { return data_; }

 private:
  device::Array<T> array_;
  MappedMemory mapped_;
  const T* data_ = nullptr;
};

bool is_skipped(benchmark::State& state) {
  const auto why = why_no_device();
  if (!why.empty()) {
    state.SkipWithError(("no GPU: " + why).c_str());
  }
  return !why.empty();
}

void wait() { check(cudaStreamSynchronize(nullptr), "waiting for the device"); }

/// What is gathered from and sampled, made once: a benchmark's function is called several times for each row.
constexpr std::size_t gathered_bytes = std::size_t{4} << 30;

/// Aligned as features are, in the runtime's copies and in stores.
const Placed<std::byte>& gathered(Executor& executor, Where where) {
  static const cpu::HugeArray<std::byte> bytes = [] {
    cpu::HugeArray<std::byte> made;
    made.reserve(gathered_bytes, 0);
    std::fill_n(made.data(), gathered_bytes, std::byte{1});
    return made;
  }();
  static std::map<Where, Placed<std::byte>> places;
  if (!places.contains(where)) {
    places.try_emplace(where, executor, where, bytes.data(), gathered_bytes);
  }
  return places.at(where);
}

struct SampledGraph {
  explicit SampledGraph(int scale)
      : graph(graph::generate_in_memory(graph::Rmat{.scale = scale, .feature_columns = 0, .seed = 1})),
        topology(cpu::resident_copy(graph)) {}
  graph::Graph graph;
  cpu::Topology topology;
};

const SampledGraph& rmat(int scale) {
  static std::map<int, SampledGraph> graphs;
  return graphs.try_emplace(scale, scale).first->second;
}

constexpr std::size_t copied_bytes = std::size_t{256} << 20;

/// The lower bound of everything that goes over the link.
void copy_to_device(benchmark::State& state) {
  if (is_skipped(state)) {
    return;
  }
  Executor executor(nullptr);
  void* host = nullptr;
  check(cudaHostAlloc(&host, copied_bytes, cudaHostAllocDefault), "pinning");
  const std::shared_ptr<void> pinned(host, [](void* memory) { cudaFreeHost(memory); });
  const auto target = executor.allocate(copied_bytes);
  for (auto _ : state) {
    executor.upload(target.get(), host, copied_bytes);
    wait();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(copied_bytes));
}
BENCHMARK(copy_to_device)->UseRealTime();

/// The lower bound of everything within the device's memory; counts bytes read and written.
void copy_within_device(benchmark::State& state) {
  if (is_skipped(state)) {
    return;
  }
  Executor executor(nullptr);
  const auto from = executor.allocate(4 * copied_bytes);
  const auto to = executor.allocate(4 * copied_bytes);
  for (auto _ : state) {
    check(cudaMemcpyAsync(to.get(), from.get(), 4 * copied_bytes, cudaMemcpyDeviceToDevice, nullptr),
          "copying");
    wait();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(8 * copied_bytes));
}
BENCHMARK(copy_within_device)->UseRealTime();

/// Over the link from a table whose translations the device keeps: larger ones are gathered by place (below).
constexpr std::size_t linked_bytes = std::size_t{512} << 20;

/// Gathers random rows of range(1) bytes at range(0), from 4 GiB in device memory or 512 MiB in host memory,
/// with range(2) percent of the thread slots; range(3): whether reads are shifted to cache lines. Other rows
/// each time, so that no cache holds them, and several gathers for each wait. Counts the bytes of the rows
/// once; in device memory, read and written.
void gather(benchmark::State& state) {
  if (is_skipped(state)) {
    return;
  }
  const auto where = static_cast<Where>(state.range(0));
  const std::int64_t row_bytes = state.range(1);
  const auto rows =
      static_cast<std::int64_t>(where == Where::host ? linked_bytes : gathered_bytes) / row_bytes;
  Executor executor(nullptr, allocate_uncached, static_cast<double>(state.range(2)) / 100);
  const auto& all = gathered(executor, where);
  bench::RepeatedGather<Executor> repeated(executor, rows, row_bytes);
  const auto reads = state.range(3) != 0 ? device::Reads::shifted : device::Reads::straight;
  for (auto _ : state) {
    repeated.run({all.data(), row_bytes, nullptr, nullptr}, reads, wait);
  }
  state.SetBytesProcessed(state.iterations() * repeated.bytes() * (where == Where::device ? 2 : 1));
}
BENCHMARK(gather)
    ->ArgNames({"over_link", "row_bytes", "share", "shifted"})
    ->ArgsProduct({{1}, {200, 256, 400, 512, 1024}, {100}, {1, 0}})
    ->ArgsProduct({{1}, {512}, {2, 4, 8, 12, 16, 20, 30, 50}, {1}})
    ->ArgsProduct({{0}, {200, 256, 512, 1024}, {100}, {1}})
    ->UseRealTime();

/// Gathers random rows of range(0) bytes over the link from a table of range(1) MiB; range(2): by their
/// places. Counts the bytes of the rows once.
void gather_table(benchmark::State& state) {
  if (is_skipped(state)) {
    return;
  }
  const std::int64_t row_bytes = state.range(0);
  const std::int64_t rows = (state.range(1) << 20) / row_bytes;
  Executor executor(nullptr, allocate_from_pool);
  const device::Rows table{gathered(executor, Where::host).data(), row_bytes, nullptr, nullptr};
  bench::RepeatedGather<Executor> repeated(executor, rows, row_bytes);
  for (auto _ : state) {
    if (state.range(2) != 0) {
      repeated.run_by_place(table, rows, device::Reads::shifted, wait);
    } else {
      repeated.run(table, device::Reads::shifted, wait);
    }
  }
  state.SetBytesProcessed(state.iterations() * repeated.bytes());
}
BENCHMARK(gather_table)
    ->ArgNames({"row_bytes", "table_mib", "by_place"})
    ->ArgsProduct({{256, 1024}, {64, 512, 2048, 4096}, {0, 1}})
    ->UseRealTime();

/// Samples batches of range(2) vertices with fanouts 15, 10, 5 from an R-MAT graph of 2^range(1) vertices at
/// range(0).
void sample(benchmark::State& state) {
  if (is_skipped(state)) {
    return;
  }
  const auto& [graph, topology] = rmat(static_cast<int>(state.range(1)));
  const auto where = static_cast<Where>(state.range(0));
  Executor executor(nullptr, allocate_from_pool);
  const Placed<std::int64_t> indptr(executor, where, topology.indptr.data(), topology.indptr.size());
  const Placed<std::uint32_t> indices(executor, where, topology.narrow_indices.data(),
                                      topology.narrow_indices.size());
  Sampler sampler(executor,
                  device::Topology{{indptr.data(), nullptr, indices.data(), nullptr},
                                   graph.num_vertices(),
                                   nullptr,
                                   {},
                                   nullptr,
                                   nullptr},
                  {15, 10, 5});
  std::vector<graph::VertexId> all(static_cast<std::size_t>(graph.num_vertices()));
  for (std::size_t v = 0; v < all.size(); ++v) {
    all[v] = static_cast<graph::VertexId>(v);
  }
  const auto order = graph::epoch_order(all, 1, 0);
  const std::int64_t batch_size = state.range(2);
  const std::int64_t batches = graph::num_batches(graph.num_vertices(), batch_size);
  std::int64_t edges = 0;
  std::int64_t next = 0;
  for (auto _ : state) {
    const auto seeds = graph::batch_seeds(order, batch_size, next);
    const auto batch = sampler.sample({1, 0, static_cast<std::uint64_t>(next)}, seeds.data(),
                                      static_cast<std::int64_t>(seeds.size()));
    for (const auto& block : batch.blocks) {
      edges += block.num_edges;
    }
    next = (next + 1) % batches;
  }
  state.counters["edges_per_s"] = benchmark::Counter(static_cast<double>(edges), benchmark::Counter::kIsRate);
}
BENCHMARK(sample)
    ->ArgNames({"over_link", "scale", "batch"})
    ->ArgsProduct({{0, 1}, {20, 22, 24}, {1024, 8192}})
    ->UseRealTime();

}  // namespace
}  // namespace gnomon::kernels::cuda
