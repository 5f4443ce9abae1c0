#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runtime/batch/batch_data.h"
#include "runtime/batch/batch_tensors.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/runtime/device_batches.h"

// Mini-batches of graphs with sparse features.

namespace gnomon::runtime {
namespace {

using test::Values;

graph::Graph labelled_graph(graph::FeatureType type, Values kind) {
  auto graph = test::planted_graph(400, 8);
  return test::with_features(graph, test::mostly_zero(400, 60, 7, kind, 4), 60, type);
}

BatchData batch_of(const graph::Graph& graph, int threads, std::uint64_t number = 0) {
  kernels::cpu::Sampler sampler(kernels::cpu::view_of(graph, kernels::cpu::Draws::uniform), {4, 4},
                                kernels::cpu::EdgeIds::omit, {threads, {}, {}});
  BatchData data;
  prepare_batch(graph, sampler, {1, 0, number}, std::span(graph.train).first(30), data);
  return data;
}

TEST(SparseBatch, HoldsTheRowsOfItsVertices) {
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16, graph::FeatureType::bf16}) {
    for (const auto kind : {Values::normal, Values::ones}) {
      const auto dense = labelled_graph(type, kind);
      const auto sparse = test::in_sparse_form(dense);
      const auto expected = batch_of(dense, 1);
      for (const int threads : {1, 3}) {
        const auto found = batch_of(sparse, threads);
        const auto view = view_of(found);
        EXPECT_FALSE(view.features.defined());
        ASSERT_TRUE(view.sparse.defined());
        EXPECT_EQ(view.sparse.values.defined(), kind != Values::ones);
        expect_same(nn::to_dense(view.sparse), view_of(expected).features.to(at::kFloat));
      }
    }
  }
}

TEST(SparseBatch, CountsItsBytes) {
  for (const auto kind : {Values::normal, Values::ones}) {
    const auto dense = labelled_graph(graph::FeatureType::fp16, kind);
    const auto expected = batch_of(dense, 1);
    const auto found = batch_of(test::in_sparse_form(dense), 1);
    const auto rows = std::ssize(expected.batch.vertices);
    const auto entries = found.feature_indptr.back();
    EXPECT_EQ(found.bytes(), expected.bytes() - rows * dense.features.row_bytes() + 8 * (rows + 1) +
                                 entries * (kind == Values::ones ? 4 : 6));
    EXPECT_LT(found.bytes(), expected.bytes());
  }
}

TEST(SparseBatch, CopiesAndSlotsUsedAgainHoldTheSame) {
  const auto sparse = test::in_sparse_form(labelled_graph(graph::FeatureType::fp32, Values::normal));
  const auto first = batch_of(sparse, 1);
  BatchData copy;
  copy_batch(first, copy);
  expect_same(nn::to_dense(view_of(copy).sparse), nn::to_dense(view_of(first).sparse));
  EXPECT_EQ(copy.bytes(), first.bytes());

  kernels::cpu::Sampler sampler(sparse, {4, 4});
  prepare_batch(sparse, sampler, {1, 0, 7}, std::span(sparse.train).last(10), copy);
  const auto small = view_of(copy);
  EXPECT_EQ(small.sparse.size(0), std::ssize(copy.batch.vertices));
  sample_batch(sparse, sampler, {1, 0, 0}, std::span(sparse.train).first(30), copy);
  EXPECT_FALSE(view_of(copy).sparse.defined());
  base::Team team(2);
  gather_features(sparse, team, copy);
  expect_same(nn::to_dense(view_of(copy).sparse), nn::to_dense(view_of(first).sparse));
}

TEST(SparseBatch, FeaturesOfZerosAreThere) {
  auto graph = test::planted_graph(400, 8);
  graph = test::in_sparse_form(
      test::with_features(graph, std::vector<float>(400 * 60, 0.0F), 60, graph::FeatureType::fp32));
  const auto data = batch_of(graph, 1);
  const auto view = view_of(data);
  ASSERT_TRUE(view.sparse.defined());
  EXPECT_EQ(nn::to_dense(view.sparse).abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace gnomon::runtime
