#include "nn/dense/dense.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nn/dense/chunks.h"
#include "tests/nn/tensors.h"

namespace gnomon::nn {
namespace {

/// Values of a fixed seed, whatever ATen's generator has drawn before.
/// The results and gradients of `act` on so many threads.
template <class Act>
std::vector<at::Tensor> on_threads(int threads, const std::vector<at::Tensor>& inputs, const Act& act) {
  const AtenThreadsGuard guard(threads);
  std::vector<at::Tensor> leaves;
  for (const auto& input : inputs) {
    leaves.push_back(input.clone().requires_grad_());
  }
  auto out = act(leaves);
  (out * out).sum().backward();
  std::vector<at::Tensor> results = {out.detach()};
  for (const auto& leaf : leaves) {
    results.push_back(leaf.grad());
  }
  return results;
}

/// `act` and its gradients against `reference` in double precision, and the same bits on 1, 2 and 3 threads.
template <class Act, class Reference>
void expect_matches(const std::vector<at::Tensor>& inputs, const Act& act, const Reference& reference) {
  std::vector<at::Tensor> wide;
  for (const auto& input : inputs) {
    wide.push_back(input.to(at::kDouble));
  }
  const auto expected = on_threads(1, wide, reference);
  const auto found = on_threads(1, inputs, act);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT(relative_error(found[i], expected[i]), 1e-5) << "result " << i;
  }
  for (const int threads : {2, 3}) {
    const auto again = on_threads(threads, inputs, act);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(at::equal(found[i], again[i])) << "result " << i << ", " << threads << " threads";
    }
  }
}

TEST(Dense, LinearMatchesDoublePrecisionOnAnyNumberOfThreads) {
  for (const auto& [rows, in, out] : std::vector<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {511, 33, 7}, {512, 32, 64}, {3001, 100, 47}, {5, 2000, 16}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(in) + " x " + std::to_string(out));
    expect_matches(
        {random_tensor({rows, in}, 1), random_tensor({in, out}, 2)},
        [](const auto& x) { return dense::linear(x[0], x[1]); },
        [](const auto& x) { return at::matmul(x[0], x[1]); });
  }
}

TEST(Dense, AddBiasMatchesDoublePrecisionOnAnyNumberOfThreads) {
  expect_matches(
      {random_tensor({3001, 70}, 3), random_tensor({70}, 4)},
      [](const auto& x) { return dense::add_bias(x[0], x[1]); }, [](const auto& x) { return x[0] + x[1]; });
}

TEST(Dense, EluMatchesDoublePrecisionOnAnyNumberOfThreads) {
  expect_matches(
      {random_tensor({2001, 77}, 5)}, [](const auto& x) { return dense::elu(x[0]); },
      [](const auto& x) { return at::elu(x[0]); });
}

TEST(Dense, ReluDropoutIsTheOneAfterTheOther) {
  const base::StreamKey key{7, base::Purpose::dropout, 1, 2, 3, 0};
  const auto x = random_tensor({301, 77}, 6);
  for (const double probability : {0.0, 0.3, 0.5}) {
    const auto found = on_threads(1, {x}, [&](const auto& t) {
      return dense::relu_dropout(t[0], dense::dropout_rule(probability, key));
    });
    const auto expected = on_threads(1, {x}, [&](const auto& t) {
      return dense::dropout(at::relu(t[0]), dense::dropout_rule(probability, key));
    });
    EXPECT_TRUE(at::equal(found[0], expected[0]));
    EXPECT_TRUE(at::equal(found[1], expected[1]));
  }
}

TEST(Dense, DropoutKeepsTheExpectationAndDropsTheSameInBothDirections) {
  const base::StreamKey key{7, base::Purpose::dropout, 1, 2, 3, 0};
  const auto ones = at::ones({1000, 999});
  const auto results = on_threads(
      1, {ones}, [&](const auto& x) { return dense::dropout(x[0], dense::dropout_rule(0.3, key)); });
  const double kept = results[0].ne(0).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(kept, 0.7, 5 * std::sqrt(0.21 / 999000));
  EXPECT_NEAR(results[0].max().item<double>(), 1 / 0.7, 1e-4);
  EXPECT_TRUE(at::allclose(results[1], 2 * results[0] * results[0]));  // of the sum of squares, inputs 1
  // Neighbouring elements fall independently of each other.
  const auto flat = results[0].flatten().ne(0).to(at::kDouble);
  for (const std::int64_t lag : {1, 2, 7, 8, 999}) {
    const auto both = flat.narrow(0, 0, flat.numel() - lag) * flat.narrow(0, lag, flat.numel() - lag);
    EXPECT_NEAR(both.mean().item<double>(), 0.49, 0.005) << "lag " << lag;
  }
}

TEST(Dense, DropoutIsAPureFunctionOfItsKey) {
  const auto x = random_tensor({700, 123}, 6);
  const base::StreamKey key{7, base::Purpose::dropout, 1, 2, 3, 0};
  const auto first = dense::dropout(x, dense::dropout_rule(0.5, key));
  at::manual_seed(999);
  for (const int threads : {1, 2, 3}) {
    const AtenThreadsGuard guard(threads);
    EXPECT_TRUE(at::equal(dense::dropout(x, dense::dropout_rule(0.5, key)), first));
  }
  const base::StreamKey others[] = {{8, base::Purpose::dropout, 1, 2, 3, 0},
                                    {7, base::Purpose::dropout, 2, 2, 3, 0},
                                    {7, base::Purpose::dropout, 1, 3, 3, 0},
                                    {7, base::Purpose::dropout, 1, 2, 4, 0}};
  for (const auto& other : others) {
    EXPECT_FALSE(at::equal(dense::dropout(x, dense::dropout_rule(0.5, other)), first));
  }
  EXPECT_TRUE(at::equal(dense::dropout(x, dense::dropout_rule(0, key)), x));
}

TEST(Dense, PiecesCoverEverythingOnce) {
  for (const std::int64_t count : {0, 1, 9, 10, 11, 1000}) {
    std::vector<int> visits(static_cast<std::size_t>(count), 0);
    const AtenThreadsGuard guard(3);
    for_each_chunk(count, 10, [&](std::int64_t begin, std::int64_t length) {
      for (auto i = begin; i < begin + length; ++i) {
        ++visits[static_cast<std::size_t>(i)];
      }
    });
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), count);
  }
}

}  // namespace
}  // namespace gnomon::nn
