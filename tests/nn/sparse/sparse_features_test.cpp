#include "nn/sparse/sparse_features.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "nn/dense/dense.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/nn/tensors.h"

namespace gnomon::nn {
namespace {

using test::Values;

constexpr std::int64_t rows = 500;
constexpr std::int64_t feature_columns = 130;

/// Features with empty rows, a full row and a full column, of which sums have more than 256 addends.
graph::Graph random_features(graph::FeatureType type, Values kind, std::uint64_t seed) {
  auto values = test::mostly_zero(rows, feature_columns, 9, kind, seed);
  const auto full = [&](std::int64_t row, std::int64_t column) {
    values[static_cast<std::size_t>(row * feature_columns + column)] = kind == Values::ones ? 1.0F : 0.25F;
  };
  for (std::int64_t column = 0; column < feature_columns; ++column) {
    full(7, column);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    full(row, 11);
  }
  for (const std::int64_t row : {0, 40, 499}) {
    std::fill_n(values.begin() + row * feature_columns, feature_columns, 0.0F);
  }
  return test::with_features(test::hub_graph(rows - 1), values, feature_columns, type);
}

at::Tensor dense_of(const graph::Graph& graph) {
  const auto values = test::dense_values(graph.features);
  return at::from_blob(const_cast<float*>(values.data()), {rows, feature_columns}, at::kFloat).clone();
}

struct FeatureCase {
  graph::FeatureType type;
  Values kind;
};
const std::vector<FeatureCase> feature_cases{{graph::FeatureType::fp32, Values::normal},
                                             {graph::FeatureType::fp16, Values::normal},
                                             {graph::FeatureType::bf16, Values::normal},
                                             {graph::FeatureType::fp32, Values::ones}};

TEST(SparseFeatures, RowsAreThoseOfTheMatrix) {
  for (const auto& [type, kind] : feature_cases) {
    const auto graph = random_features(type, kind, 5);
    const auto sparse = test::in_sparse_form(graph);
    const auto dense = dense_of(graph);
    EXPECT_TRUE(at::equal(to_dense(sparse_rows(sparse.features, 0, rows)), dense));
    EXPECT_TRUE(at::equal(to_dense(sparse_rows(sparse.features, 100, 37)), dense.narrow(0, 100, 37)));
    const std::vector<graph::VertexId> vertices{3, 499, 499, 7, 0, 250};
    const auto gathered = gathered_rows(sparse.features, vertices);
    EXPECT_TRUE(at::equal(to_dense(gathered), dense.index_select(0, at::tensor(vertices))));
    EXPECT_TRUE(at::equal(to_dense(first_rows(gathered, 2)), to_dense(gathered).narrow(0, 0, 2)));
    EXPECT_EQ(gathered.values.defined(), kind != Values::ones);
  }
}

TEST(SparseFeatures, DropoutIsThatOfTheDenseMatrix) {
  for (const auto& [type, kind] : feature_cases) {
    const auto graph = random_features(type, kind, 6);
    const auto sparse = test::in_sparse_form(graph);
    const auto x = sparse_rows(sparse.features, 0, rows);
    for (const double probability : {0.0, 0.3, 0.9}) {
      const base::StreamKey key{3, base::Purpose::dropout, 1, 4, 2, 0};
      const auto found = dropped(x, dense::dropout_rule(probability, key));
      EXPECT_TRUE(
          at::equal(to_dense(found), dense::dropout(dense_of(graph), dense::dropout_rule(probability, key))));
      if (probability > 0) {
        EXPECT_LT(found.entries->num_edges(), x.entries->num_edges());
        EXPECT_EQ(found.values.scalar_type(), at::kFloat);
      }
    }
  }
}

TEST(SparseFeatures, ProductsAndGradientsAreThoseInDoublePrecision) {
  for (const auto& [type, kind] : feature_cases) {
    const auto graph = random_features(type, kind, 7);
    const auto sparse = test::in_sparse_form(graph);
    const auto x = dropped(sparse_rows(sparse.features, 0, rows), {});
    for (const std::int64_t outputs : {1, 3, 16, 41, 64, 200}) {
      const auto weight = random_tensor({feature_columns, outputs}, 8).requires_grad_();
      const auto gradient = random_tensor({rows, outputs}, 9);
      const auto out = dense::linear(x, weight);
      out.backward(gradient);
      const auto wide = dense_of(graph).to(at::kDouble);
      const auto expected = at::matmul(wide, weight.detach().to(at::kDouble));
      const auto expected_gradient = at::matmul(wide.t(), gradient.to(at::kDouble));
      EXPECT_LT((out - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());
      EXPECT_LT((weight.grad() - expected_gradient).abs().max().item<double>(),
                1e-6 * expected_gradient.abs().max().item<double>());
    }
  }
}

TEST(SparseFeatures, GradientsOfManyRowsAreAddedBySumsOfSome) {
  const auto graph = random_features(graph::FeatureType::fp32, Values::normal, 13);
  const auto sparse = test::in_sparse_form(graph);
  std::vector<graph::VertexId> vertices(20'000);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    vertices[i] = static_cast<graph::VertexId>(i * 37 % rows);
  }
  const auto x = gathered_rows(sparse.features, vertices);
  const auto gradient = random_tensor({20'000, 24}, 14);
  const auto found = transposed_product(x, gradient);
  const auto expected = at::matmul(to_dense(x).to(at::kDouble).t(), gradient.to(at::kDouble));
  EXPECT_LT((found - expected).abs().max().item<double>(), 1e-6 * expected.abs().max().item<double>());
}

TEST(SparseFeatures, BitsDoNotDependOnTheNumberOfThreads) {
  const auto graph = random_features(graph::FeatureType::fp32, Values::normal, 10);
  const auto sparse = test::in_sparse_form(graph);
  std::vector<graph::VertexId> vertices(20 * rows);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    vertices[i] = static_cast<graph::VertexId>(i * 37 % rows);
  }
  at::Tensor expected, expected_gradient;
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 3, 5}) {
    at::set_num_threads(threads);
    const auto x = dropped(gathered_rows(sparse.features, vertices),
                           dense::dropout_rule(0.5, {3, base::Purpose::dropout, 1, 4, 2, 0}));
    const auto weight = random_tensor({feature_columns, 48}, 11).requires_grad_();
    const auto out = dense::linear(x, weight);
    out.backward(out.detach());
    if (threads == 1) {
      expected = out.detach();
      expected_gradient = weight.grad();
    }
    EXPECT_TRUE(at::equal(out, expected));
    EXPECT_TRUE(at::equal(weight.grad(), expected_gradient));
  }
  at::set_num_threads(before);
}

TEST(SparseFeatures, FeaturesOfZerosGiveZeros) {
  const auto graph = test::in_sparse_form(
      test::with_features(test::hub_graph(9), std::vector<float>(50, 0.0F), 5, graph::FeatureType::fp32));
  for (const double probability : {0.0, 0.5}) {
    const auto x = dropped(sparse_rows(graph.features, 0, 10), dense::dropout_rule(probability, {}));
    const auto weight = random_tensor({5, 8}, 12).requires_grad_();
    const auto out = dense::linear(x, weight);
    EXPECT_TRUE(at::equal(out, at::zeros({10, 8})));
    out.sum().backward();
    EXPECT_TRUE(at::equal(weight.grad(), at::zeros({5, 8})));
  }
}

}  // namespace
}  // namespace gnomon::nn
