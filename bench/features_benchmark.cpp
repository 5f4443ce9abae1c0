#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "graph/feature_form.h"
#include "kernels/cpu/gather.h"
#include "nn/dense/chunks.h"
#include "nn/dense/dense.h"
#include "nn/sparse/sparse.h"

// The first layer's products with features like those of coauthor_cs (6,805 columns, 60 entries a row), in
// dense and in sparse form, for the vertices of one mini-batch.

namespace {

using namespace gnomon;

constexpr std::int64_t num_rows = 8192;
constexpr std::int64_t num_columns = 6805;
constexpr std::int64_t row_entries = 60;
const base::StreamKey dropout_key{1, base::Purpose::dropout, 0, 0, 0, 0};

/// Words as frequent as in texts: the column of rank r in proportion to 1 / r.
const graph::Graph& sparse_graph() {
  static const auto graph = [] {
    auto values =
        std::make_shared<std::vector<float>>(static_cast<std::size_t>(num_rows * num_columns), 0.0F);
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> share(0, std::log(static_cast<double>(num_columns)));
    for (std::int64_t row = 0; row < num_rows; ++row) {
      for (std::int64_t entry = 0; entry < row_entries;) {
        const auto column = static_cast<std::int64_t>(std::exp(share(random))) - 1;
        float& value = (*values)[static_cast<std::size_t>(row * num_columns + column)];
        entry += value == 0 ? 1 : 0;
        value = 0.125F * static_cast<float>(1 + column % 7);
      }
    }
    graph::Graph dense;
    dense.features = {reinterpret_cast<const std::byte*>(values->data()), graph::FeatureType::fp32, num_rows,
                      num_columns};
    dense.storage = values;
    return graph::with_features_in(dense, graph::FeatureForm::sparse);
  }();
  return graph;
}

const graph::Graph& dense_graph() {
  static const auto graph = graph::with_features_in(sparse_graph(), graph::FeatureForm::dense);
  return graph;
}

const std::vector<graph::VertexId>& shuffled() {
  static const auto vertices = [] {
    std::vector<graph::VertexId> all(static_cast<std::size_t>(num_rows));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<graph::VertexId>(i * 4097 % static_cast<std::size_t>(num_rows));
    }
    return all;
  }();
  return vertices;
}

at::Tensor gathered_dense() {
  auto rows = at::empty({num_rows, num_columns}, at::kFloat);
  kernels::cpu::gather_rows(dense_graph().features, shuffled(),
                            static_cast<std::byte*>(rows.mutable_data_ptr()));
  return rows;
}

at::Tensor weight_of(std::int64_t width) { return at::randn({num_columns, width}).requires_grad_(); }

void BM_GatherDense(benchmark::State& state) {
  dense_graph();
  for (auto _ : state) {
    benchmark::DoNotOptimize(gathered_dense());
  }
}

void BM_GatherSparse(benchmark::State& state) {
  const auto& features = sparse_graph().features;
  const nn::AtenThreadsGuard one(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(nn::gathered_rows(features, shuffled()));
  }
}

void BM_DropoutDense(benchmark::State& state) {
  const auto x = gathered_dense();
  const nn::AtenThreadsGuard threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(nn::dense::dropout(x, nn::dense::dropout_rule(0.5, dropout_key)));
  }
}

void BM_DropoutSparse(benchmark::State& state) {
  const auto x = nn::gathered_rows(sparse_graph().features, shuffled());
  const nn::AtenThreadsGuard threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(nn::dropped(x, nn::dense::dropout_rule(0.5, dropout_key)));
  }
}

/// Forward and backward pass of x · weight.
template <class Inputs>
void run_layer(benchmark::State& state, const Inputs& make_inputs) {
  const auto weight = weight_of(state.range(1));
  const auto gradient = at::randn({num_rows, state.range(1)});
  const nn::AtenThreadsGuard threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    nn::dense::linear(make_inputs(), weight).backward(gradient);
    weight.mutable_grad().reset();
  }
  state.SetItemsProcessed(state.iterations() * num_rows);
}

void BM_FirstLayerDense(benchmark::State& state) {
  const auto x = gathered_dense();
  run_layer(state, [&] { return x; });
}

/// With structures derived from the entries made anew, as in each mini-batch.
void BM_FirstLayerSparse(benchmark::State& state) {
  const auto& features = sparse_graph().features;
  const auto x = nn::gathered_rows(features, shuffled());
  run_layer(state, [&] { return nn::first_rows(x, num_rows); });
}

void BM_FirstLayerSparseForward(benchmark::State& state) {
  const auto x = nn::gathered_rows(sparse_graph().features, shuffled());
  const auto weight = weight_of(state.range(1)).detach();
  const nn::AtenThreadsGuard threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(nn::dense::linear(x, weight));
  }
}

void BM_TransposeEntries(benchmark::State& state) {
  const auto x = nn::gathered_rows(sparse_graph().features, shuffled());
  const nn::AtenThreadsGuard threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(x.entries->kernels().transpose(*x.entries));
  }
}

BENCHMARK(BM_GatherDense)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_GatherSparse)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DropoutDense)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DropoutSparse)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_TransposeEntries)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FirstLayerSparseForward)->ArgsProduct({{1, 2}, {64, 256}})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FirstLayerSparse)->ArgsProduct({{1, 2}, {64, 256}})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FirstLayerDense)->ArgsProduct({{1, 2}, {64, 256}})->Unit(benchmark::kMillisecond);

}  // namespace
