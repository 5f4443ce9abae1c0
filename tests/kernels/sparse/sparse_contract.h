#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

#include "kernels/block.h"
#include "tests/kernels/contract_skip.h"
#include "tests/kernels/sparse/test_blocks.h"

/// The contract of every set of sparse operations. An implementation has
///     using BlockPtr = …;   static BlockPtr share(Block);   static torch::Device device();
/// why_skipped() where it cannot always run, hub_degree where a hub of a million edges would take too long,
/// and, as static functions, the operations of nn/sparse/sparse.h on a BlockPtr. The reference is dense
/// algebra in double precision with the incidence matrices of the block, and gradients are central
/// differences of that reference; for blocks too large for this the same algebra by indices, and autograd in
/// double precision.
namespace gnomon::kernels {

using torch::Tensor;

/// One operation by its implementation (float) and by the reference (double), on the same inputs.
using Operation = std::function<Tensor(const std::vector<Tensor>&)>;

/// The edges' destinations and sources, as incidence matrices (rows x edges) unless these would be large.
class Incidence {
 public:
  explicit Incidence(const Block& block) {
    std::vector<std::int64_t> destinations;
    for (std::size_t v = 0; v + 1 < block.indptr.size(); ++v) {
      destinations.insert(destinations.end(), static_cast<std::size_t>(block.indptr[v + 1] - block.indptr[v]),
                          static_cast<std::int64_t>(v));
    }
    destination_ = side(destinations, block.num_destinations);
    source_ = side({block.indices.begin(), block.indices.end()}, block.num_sources);
  }
  Tensor to_edges_from_sources(const Tensor& x) const { return to_edges(source_, x); }
  Tensor to_edges_from_destinations(const Tensor& x) const { return to_edges(destination_, x); }
  Tensor to_destinations(const Tensor& edges) const {
    return destination_.matrix.defined() ? multiply(destination_.matrix, edges) : add_up(destination_, edges);
  }

 private:
  struct Side {
    std::int64_t num_rows;
    Tensor row_of_edge;
    Tensor matrix;
  };
  static Side side(const std::vector<std::int64_t>& row_of_edge, std::int64_t num_rows) {
    Side side{num_rows, torch::tensor(row_of_edge, torch::kLong), {}};
    const auto edges = side.row_of_edge.numel();
    if (num_rows * edges < 1000000) {
      side.matrix = torch::zeros({num_rows, edges}, torch::kDouble);
      side.matrix.index_put_({side.row_of_edge, torch::arange(edges)}, 1);
    }
    return side;
  }
  static Tensor multiply(const Tensor& matrix, const Tensor& x) {
    auto sizes = x.sizes().vec();
    sizes[0] = matrix.size(0);
    return torch::mm(matrix, x.flatten(1)).reshape(sizes);
  }
  static Tensor add_up(const Side& side, const Tensor& edges) {
    auto sizes = edges.sizes().vec();
    sizes[0] = side.num_rows;
    return torch::zeros(sizes, torch::kDouble).index_add(0, side.row_of_edge, edges);
  }
  static Tensor to_edges(const Side& side, const Tensor& x) {
    return side.matrix.defined() ? multiply(side.matrix.t(), x) : x.index_select(0, side.row_of_edge);
  }
  Side destination_;
  Side source_;
};

inline Tensor degrees(const Block& block) {
  return torch::tensor(block.indptr, torch::kDouble).diff().reshape({-1, 1});
}

/// By norm. Inputs are of size one, so that a norm below 1e-4 is a zero that rounding has blurred.
inline double relative_error(const Tensor& found, const Tensor& expected) {
  const Tensor error = found.to(torch::kCPU, torch::kDouble) - expected;
  return error.norm().item<double>() / std::max(expected.norm().item<double>(), 1e-4);
}

/// The gradient of the sum of weights · operation(inputs) by inputs[which].
inline Tensor gradient_by_differences(const Operation& operation, std::vector<Tensor> inputs,
                                      std::size_t which, const Tensor& weights) {
  constexpr double step = 1e-4;  // the error of the third order is below 1e-7 of these smooth functions
  const Tensor original = inputs[which];
  const Tensor gradient = torch::zeros_like(original);
  for (std::int64_t i = 0; i < original.numel(); ++i) {
    const auto shifted = [&](double by) {
      inputs[which] = original.clone();
      inputs[which].view(-1)[i] += by;
      return (operation(inputs) * weights).sum().item<double>();
    };
    gradient.view(-1)[i] = (shifted(step) - shifted(-step)) / (2 * step);
  }
  return gradient;
}

inline std::vector<Tensor> gradients_by_autograd(const Operation& operation,
                                                 const std::vector<Tensor>& inputs, const Tensor& weights) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) {
    leaves.push_back(input.detach().requires_grad_());
  }
  (operation(leaves) * weights).sum().backward();
  std::vector<Tensor> gradients;
  for (const Tensor& leaf : leaves) {
    gradients.push_back(leaf.grad());
  }
  return gradients;
}

enum class Gradients { by_differences, by_autograd };

/// Compares values and gradients of an operation on float inputs with its reference.
inline void expect_equal(const Operation& operation, const Operation& reference,
                         const std::vector<Tensor>& inputs, torch::Device device, Gradients how) {
  constexpr double tolerance = 1e-5;
  std::vector<Tensor> floats;
  std::vector<Tensor> doubles;
  for (const Tensor& input : inputs) {
    floats.push_back(input.to(device));
    doubles.push_back(input.to(torch::kDouble));
  }
  const Tensor expected = reference(doubles);
  EXPECT_LT(relative_error(operation(floats), expected), tolerance);
  const Tensor weights = torch::rand(expected.sizes()) + 0.1;
  const auto found = gradients_by_autograd(operation, floats, weights.to(device));
  std::vector<Tensor> by_autograd;
  if (how == Gradients::by_autograd) {
    by_autograd = gradients_by_autograd(reference, doubles, weights);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor gradient = how == Gradients::by_autograd
                                ? by_autograd[i]
                                : gradient_by_differences(reference, doubles, i, weights);
    EXPECT_LT(relative_error(found[i], gradient), tolerance) << "gradient of input " << i;
  }
}

template <class Implementation>
class SparseContract : public ::testing::Test {
 protected:
  // Threads are another test's matter; here they would only wait for each other.
  void SetUp() override {
    at::set_num_threads(1);
    if (const auto why = why_skipped<Implementation>(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  void TearDown() override { at::set_num_threads(threads_before_); }

  /// All operations on one block, against the reference.
  static void expect_all_equal(const Block& block, Gradients how) {
    at::manual_seed(1);
    const auto shared = Implementation::share(block);
    const auto device = Implementation::device();
    const Incidence incidence(block);
    const auto S = block.num_sources;
    const auto D = block.num_destinations;
    const auto E = block.num_edges();
    const auto sums = [&](const Tensor& x) {
      return incidence.to_destinations(incidence.to_edges_from_sources(x));
    };
    {
      SCOPED_TRACE("spmm_sum");
      expect_equal([&](const auto& in) { return Implementation::spmm_sum(shared, in[0]); },
                   [&](const auto& in) { return sums(in[0]); }, {torch::rand({S, 5})}, device, how);
    }
    {
      SCOPED_TRACE("spmm_mean");
      expect_equal([&](const auto& in) { return Implementation::spmm_mean(shared, in[0]); },
                   [&](const auto& in) { return sums(in[0]) / degrees(block).clamp_min(1); },
                   {torch::rand({S, 5})}, device, how);
    }
    {
      SCOPED_TRACE("spmm_scaled");
      const Tensor a = torch::rand({D});
      const Tensor b = torch::rand({S});
      expect_equal(
          [&](const auto& in) {
            return Implementation::spmm_scaled(shared, in[0], a.to(device), b.to(device));
          },
          [&](const auto& in) {
            return a.to(torch::kDouble).unsqueeze(1) * sums(b.to(torch::kDouble).unsqueeze(1) * in[0]);
          },
          {torch::rand({S, 5})}, device, how);
    }
    {
      SCOPED_TRACE("spmm_weighted");
      expect_equal(
          [&](const auto& in) { return Implementation::spmm_weighted(shared, in[0], in[1]); },
          [&](const auto& in) {
            return incidence.to_destinations(incidence.to_edges_from_sources(in[0]) * in[1].unsqueeze(2));
          },
          {torch::rand({S, 2, 3}), torch::rand({E, 2})}, device, how);
    }
    {
      SCOPED_TRACE("sddmm_add");
      expect_equal([&](const auto& in) { return Implementation::sddmm_add(shared, in[0], in[1]); },
                   [&](const auto& in) {
                     return incidence.to_edges_from_destinations(in[0]) +
                            incidence.to_edges_from_sources(in[1]);
                   },
                   {torch::rand({D, 2}), torch::rand({S, 2})}, device, how);
    }
    {
      SCOPED_TRACE("edge_softmax");
      expect_equal([&](const auto& in) { return Implementation::edge_softmax(shared, in[0]); },
                   [&](const auto& in) {
                     const Tensor exponentials = in[0].exp();
                     return exponentials /
                            incidence.to_edges_from_destinations(incidence.to_destinations(exponentials));
                   },
                   {torch::rand({E, 2}) * 4 - 2}, device, how);
    }
  }

 private:
  int threads_before_ = at::get_num_threads();
};

TYPED_TEST_SUITE_P(SparseContract);

TYPED_TEST_P(SparseContract, EqualsDenseAlgebra) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::int32_t>> in_edges(6);
    for (std::size_t v = 1; v < 5; ++v) {  // the first and the last destination have no edge
      in_edges[v].resize(1 + random() % 6);
      std::generate(in_edges[v].begin(), in_edges[v].end(),
                    [&] { return static_cast<std::int32_t>(random() % 8); });
    }
    this->expect_all_equal(block_of(9, in_edges), Gradients::by_differences);
  }
}

TYPED_TEST_P(SparseContract, EqualsDenseAlgebraOnLongRows) {
  this->expect_all_equal(random_block(50, 40, 4), Gradients::by_autograd);
}

TYPED_TEST_P(SparseContract, SmallestBlocks) {
  this->expect_all_equal(block_of(1, {{}}), Gradients::by_differences);
  this->expect_all_equal(block_of(1, {{0}}), Gradients::by_differences);
  this->expect_all_equal(block_of(4, {{}, {}, {}}), Gradients::by_differences);
  this->expect_all_equal(block_of(2, {{1, 1, 1}}), Gradients::by_differences);
  this->expect_all_equal(block_of(0, {}), Gradients::by_differences);
}

TYPED_TEST_P(SparseContract, HugeHubsEqualDenseAlgebra) {
  std::int64_t degree = 1000000;
  if constexpr (requires { TypeParam::hub_degree; }) {
    degree = TypeParam::hub_degree;
  }
  this->expect_all_equal(in_hub(degree), Gradients::by_autograd);
  this->expect_all_equal(out_hub(degree), Gradients::by_autograd);
}

TYPED_TEST_P(SparseContract, WideAndSingleColumns) {
  const Block block = random_block(30, 40, 5);
  const auto shared = TypeParam::share(block);
  const Incidence incidence(block);
  for (const std::int64_t width : {1, 127, 128, 129, 700}) {
    at::manual_seed(width);
    expect_equal([&](const auto& in) { return TypeParam::spmm_mean(shared, in[0]); },
                 [&](const auto& in) {
                   return incidence.to_destinations(incidence.to_edges_from_sources(in[0])) /
                          degrees(block).clamp_min(1);
                 },
                 {torch::randn({40, width})}, TypeParam::device(), Gradients::by_autograd);
    expect_equal(
        [&](const auto& in) { return TypeParam::spmm_weighted(shared, in[0], in[1]); },
        [&](const auto& in) {
          return incidence.to_destinations(incidence.to_edges_from_sources(in[0]) * in[1].unsqueeze(2));
        },
        {torch::randn({40, 3, width}), torch::randn({block.num_edges(), 3})}, TypeParam::device(),
        Gradients::by_autograd);
  }
}

TYPED_TEST_P(SparseContract, TakesViewsThatAreNotContiguous) {
  const auto shared = TypeParam::share(block_of(3, {{0, 2}, {1}}));
  const Tensor x = torch::arange(12, torch::kFloat).reshape({4, 3}).t().to(TypeParam::device());
  EXPECT_TRUE(torch::equal(TypeParam::spmm_sum(shared, x), TypeParam::spmm_sum(shared, x.contiguous())));
  const Tensor leaf = x.detach().requires_grad_();
  TypeParam::spmm_sum(shared, leaf).sum().backward();  // the gradient of sum() is one number, expanded
  EXPECT_TRUE(torch::equal(leaf.grad().cpu(), torch::ones({3, 4})));
}

TYPED_TEST_P(SparseContract, SoftmaxOfLargeLogits) {
  const auto shared = TypeParam::share(block_of(4, {{0, 1, 2}, {3, 0}}));
  const Tensor logits =
      torch::tensor({1e4F, 1e4F, -1e4F, -3e38F, -3e38F}).reshape({5, 1}).to(TypeParam::device());
  EXPECT_TRUE(torch::equal(TypeParam::edge_softmax(shared, logits).cpu(),
                           torch::tensor({0.5F, 0.5F, 0.0F, 0.5F, 0.5F}).reshape({5, 1})));
}

TYPED_TEST_P(SparseContract, SameBitsEveryTime) {
  at::manual_seed(6);
  const auto shared = TypeParam::share(random_block(3000, 4000, 6));
  const Tensor x = torch::randn({4000, 32}).to(TypeParam::device());
  const auto run = [&] {
    const Tensor leaf = x.detach().requires_grad_();
    const Tensor y = TypeParam::spmm_mean(shared, leaf);
    y.pow(2).sum().backward();
    return torch::cat({y.detach(), leaf.grad()});
  };
  EXPECT_TRUE(torch::equal(run(), run()));
}

TYPED_TEST_P(SparseContract, RefusesWrongArguments) {
  const auto shared = TypeParam::share(block_of(3, {{0, 2}, {1}}));  // S = 3, D = 2, E = 3
  const auto ones = [&](std::vector<std::int64_t> sizes) { return torch::ones(sizes, TypeParam::device()); };
  EXPECT_THROW(TypeParam::spmm_sum(shared, ones({2, 4})), c10::Error);
  EXPECT_THROW(TypeParam::spmm_sum(shared, ones({3})), c10::Error);
  EXPECT_THROW(TypeParam::spmm_sum(shared, ones({3, 4}).to(torch::kHalf)), c10::Error);
  EXPECT_THROW(TypeParam::spmm_sum(shared, ones({3, 4}).to(torch::kMeta)), c10::Error);
  EXPECT_THROW(TypeParam::spmm_sum(shared, Tensor()), c10::Error);
  EXPECT_THROW(TypeParam::spmm_mean(shared, ones({3, 4}).to(torch::kDouble)), c10::Error);
  EXPECT_THROW(TypeParam::spmm_scaled(shared, ones({3, 4}), ones({3}), ones({3})), c10::Error);
  EXPECT_THROW(TypeParam::spmm_scaled(shared, ones({3, 4}), ones({2}), ones({2})), c10::Error);
  EXPECT_THROW(TypeParam::spmm_scaled(shared, ones({3, 4}), ones({2}).requires_grad_(), ones({3})),
               c10::Error);
  EXPECT_THROW(TypeParam::spmm_weighted(shared, ones({3, 2, 4}), ones({3, 1})), c10::Error);
  EXPECT_THROW(TypeParam::spmm_weighted(shared, ones({3, 2, 4}), ones({2, 2})), c10::Error);
  EXPECT_THROW(TypeParam::sddmm_add(shared, ones({3, 2}), ones({3, 2})), c10::Error);
  EXPECT_THROW(TypeParam::sddmm_add(shared, ones({2, 2}), ones({3, 1})), c10::Error);
  EXPECT_THROW(TypeParam::edge_softmax(shared, ones({2, 2})), c10::Error);
  EXPECT_THROW(TypeParam::edge_softmax(shared, ones({3})), c10::Error);
}

TYPED_TEST_P(SparseContract, RefusesSecondDerivatives) {
  const auto shared = TypeParam::share(block_of(3, {{0, 2}, {1}}));
  const Tensor x = torch::ones({3, 4}, TypeParam::device()).requires_grad_();
  const Tensor loss = TypeParam::spmm_sum(shared, x).pow(2).sum();
  EXPECT_THROW(torch::autograd::grad({loss}, {x}, {}, true, true), c10::Error);
}

REGISTER_TYPED_TEST_SUITE_P(SparseContract, EqualsDenseAlgebra, EqualsDenseAlgebraOnLongRows, SmallestBlocks,
                            HugeHubsEqualDenseAlgebra, WideAndSingleColumns, TakesViewsThatAreNotContiguous,
                            SoftmaxOfLargeLogits, SameBitsEveryTime, RefusesWrongArguments,
                            RefusesSecondDerivatives);

}  // namespace gnomon::kernels
