// Mini-batch preparation on an R-MAT graph of 2^20 vertices and about 30 million stored edges with 128 fp32
// features per vertex: batches of 1,024 vertices, fanouts 15, 10, 5; each thread has its own sampler.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/philox.h"
#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/sample/alias_tables.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sparse/sparse.h"

namespace gnomon::kernels::cpu {
namespace {

constexpr std::int64_t batch_size = 1024;

/// The graph with edge weights uniform in (0, 1).
const graph::Graph& rmat() {
  static std::vector<float> weights;
  static const graph::Graph graph = [] {
    auto made = graph::generate_in_memory(graph::Rmat{.scale = 20, .seed = 1});
    base::RandomStream random({1, base::Purpose::test, 0, 0, 0, 0});
    weights.resize(static_cast<std::size_t>(made.num_edges()));
    std::generate(weights.begin(), weights.end(),
                  [&] { return static_cast<float>(random.uniform() + 0x1p-30); });
    made.edge_weights = weights;
    return made;
  }();
  return graph;
}

/// The topology that all threads share, with alias tables for weighted draws.
Topology topology_for(Draws draws) {
  if (draws == Draws::uniform) {
    return view_of(rmat());
  }
  static const Topology weighted = view_of(rmat(), Draws::by_weight);
  return weighted;
}

/// All vertices in random order.
const std::vector<graph::VertexId>& order() {
  static const std::vector<graph::VertexId> vertices = [] {
    std::vector<graph::VertexId> all(static_cast<std::size_t>(rmat().num_vertices()));
    std::iota(all.begin(), all.end(), graph::VertexId{0});
    return graph::epoch_order(all, 1, 0);
  }();
  return vertices;
}

/// Samples a sequence of batches; threads sample different ones.
class BatchStream {
 public:
  explicit BatchStream(const benchmark::State& state, Draws draws = Draws::uniform,
                       EdgeIds edge_ids = EdgeIds::omit, int threads_a_batch = 1)
      : sampler_(topology_for(draws), {15, 10, 5}, edge_ids, {threads_a_batch, {}}),
        next_(state.thread_index()),
        stride_(state.threads()) {}
  const MiniBatch& next() {
    sampler_.sample({1, 0, static_cast<std::uint64_t>(next_)}, graph::batch_seeds(order(), batch_size, next_),
                    batch_);
    next_ = (next_ + stride_) % graph::num_batches(rmat().num_vertices(), batch_size);
    return batch_;
  }

 private:
  Sampler sampler_;
  MiniBatch batch_;
  std::int64_t next_;
  std::int64_t stride_;
};

void sample_from(benchmark::State& state, BatchStream stream) {
  std::int64_t edges = 0;
  for (auto _ : state) {
    edges += stream.next().num_edges();
  }
  state.counters["edges"] = benchmark::Counter(static_cast<double>(edges), benchmark::Counter::kIsRate);
}

void sample(benchmark::State& state) { sample_from(state, BatchStream(state)); }
void sample_with_edge_ids(benchmark::State& state) {
  sample_from(state, BatchStream(state, Draws::uniform, EdgeIds::keep));
}
/// Samples one batch at a time with several threads; the argument is their number.
void sample_split(benchmark::State& state) {
  sample_from(state, BatchStream(state, Draws::uniform, EdgeIds::omit, static_cast<int>(state.range(0))));
}
void sample_by_weight(benchmark::State& state) { sample_from(state, BatchStream(state, Draws::by_weight)); }

/// Builds the alias tables of all lists; the argument is the number of threads.
void make_tables(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_alias_tables(rmat().indptr, rmat().edge_weights, threads));
  }
  state.counters["edges"] = benchmark::Counter(static_cast<double>(rmat().num_edges()),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

void gather(benchmark::State& state) {
  const MiniBatch batch = BatchStream(state).next();
  std::vector<std::byte> out(batch.vertices.size() * static_cast<std::size_t>(rmat().features.row_bytes()));
  for (auto _ : state) {
    gather_rows(rmat().features, batch.vertices, out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

void sample_and_gather(benchmark::State& state) {
  BatchStream stream(state);
  std::vector<std::byte> out;
  std::int64_t vertices = 0;
  for (auto _ : state) {
    const MiniBatch& batch = stream.next();
    out.resize(batch.vertices.size() * static_cast<std::size_t>(rmat().features.row_bytes()));
    gather_rows(rmat().features, batch.vertices, out.data());
    vertices += static_cast<std::int64_t>(batch.vertices.size());
  }
  state.SetBytesProcessed(vertices * rmat().features.row_bytes());
}

/// Computes the mean aggregation of the first layer's block; the argument is the number of columns.
void spmm_mean(benchmark::State& state) {
  const Block block = BatchStream(state).next().blocks.back();
  const std::int64_t width = state.range(0);
  const std::vector<float> x(static_cast<std::size_t>(block.num_sources * width), 1.0F);
  std::vector<float> y(static_cast<std::size_t>(block.num_destinations * width));
  const auto scale = inverse_degrees(block.indptr);
  for (auto _ : state) {
    spmm(rows_of(block), {0, block.num_destinations}, {scale, {}}, x, width, y);
    benchmark::ClobberMemory();
  }
  state.counters["edges"] = benchmark::Counter(static_cast<double>(block.num_edges()),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

/// Reads the input of a first layer with the mean aggregator, dropout included, for a sequence of batches;
/// `of_stored` reads it in the feature store, without a gathered copy.
void first_layer(benchmark::State& state, bool of_stored) {
  BatchStream stream(state);
  std::vector<MiniBatch> batches(8);
  std::generate(batches.begin(), batches.end(), [&] { return stream.next(); });
  const graph::Features& features = rmat().features;
  const DropoutRule rule{{1, base::Purpose::dropout, 0, 0, 0, 0}, 32768};
  std::vector<float> x, y;
  std::vector<std::uint8_t> bits;
  std::size_t next = 0;
  for (auto _ : state) {
    const MiniBatch& batch = batches[next++ % batches.size()];
    const Block& block = batch.blocks.back();
    const std::int64_t elements = block.num_sources * features.columns;
    const auto scale = inverse_degrees(block.indptr);
    y.resize(static_cast<std::size_t>(block.num_destinations * features.columns));
    const RowRange all{0, block.num_destinations};
    if (of_stored) {
      bits.resize(static_cast<std::size_t>(kept_bytes(elements)));
      kept_elements(rule, 0, elements, bits.data());
      spmm_stored(rows_of(block), all, {scale, {}}, {features, batch.vertices, {bits.data(), rule.scale()}},
                  y);
    } else {
      x.resize(static_cast<std::size_t>(elements));
      gather_rows(features, batch.vertices, reinterpret_cast<std::byte*>(x.data()));
      dropout(rule, 0, elements, x.data(), x.data());
      spmm(rows_of(block), all, {scale, {}}, x, features.columns, y);
    }
    benchmark::ClobberMemory();
  }
}
void first_layer_of_gathered(benchmark::State& state) { first_layer(state, false); }
void first_layer_of_stored(benchmark::State& state) { first_layer(state, true); }

/// The first half of the latter.
void find_kept_elements(benchmark::State& state) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(kept_bytes(state.range(0))));
  const DropoutRule rule{{1, base::Purpose::dropout, 0, 0, 0, 0}, 32768};
  for (auto _ : state) {
    kept_elements(rule, 0, state.range(0), bits.data());
    benchmark::ClobberMemory();
  }
}

BENCHMARK(sample)->ThreadRange(1, 8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sample_split)->DenseRange(1, 2)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sample_with_edge_ids)->ThreadRange(1, 2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sample_by_weight)->ThreadRange(1, 2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(make_tables)->DenseRange(1, 2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gather)->ThreadRange(1, 8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sample_and_gather)->ThreadRange(1, 8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(first_layer_of_gathered)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(first_layer_of_stored)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(find_kept_elements)->Arg(87500 * 128)->Unit(benchmark::kMillisecond);
BENCHMARK(spmm_mean)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gnomon::kernels::cpu
