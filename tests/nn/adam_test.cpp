#include "nn/adam.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/random_seed.h"

namespace gnomon::nn {
namespace {

class AdamTest : public ::testing::Test {
 protected:
  std::vector<at::Tensor> fresh() {
    at::manual_seed(static_cast<std::int64_t>(static_cast<std::uint64_t>(seed_) % 1000));
    std::vector<at::Tensor> weights;
    for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{5, 7}, {7}, {3, 2}}) {
      weights.push_back(at::randn(sizes).requires_grad_());
    }
    return weights;
  }
  /// The last weight gets a gradient in every other step only.
  static void set_gradients(const std::vector<at::Tensor>& weights, int step) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const bool is_missing = i + 1 == weights.size() && step % 2 == 1;
      weights[i].mutable_grad() =
          is_missing ? at::Tensor()
                     : (weights[i].detach() * 0.1 + static_cast<double>(step) - 3).contiguous();
    }
  }
  test::RandomSeed seed_{20261123};
  torch::optim::AdamOptions options_ = torch::optim::AdamOptions(0.01).weight_decay(5e-4);
};

TEST_F(AdamTest, AFusedStepIsLibTorchsUpToRounding) {
  const auto expected = fresh();
  const auto found = fresh();
  torch::optim::Adam reference(expected, options_);
  torch::optim::Adam fused(found, options_);
  at::Tensor scratch;
  for (int step = 0; step < 10; ++step) {
    set_gradients(expected, step);
    set_gradients(found, step);
    reference.step();
    fused_step(fused, scratch);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-5, 1e-6)) << "weight " << i << ", step " << step;
      EXPECT_EQ(state_of(fused, found[i])->step(), state_of(reference, expected[i])->step());
    }
  }
  EXPECT_FALSE(at::allclose(found[0], fresh()[0], 1e-2, 1e-2));  // it moves
}

TEST_F(AdamTest, AChunkedStepHasTheBitsOfLibTorchsForAnyThreads) {
  const int threads_before = at::get_num_threads();
  for (const double decay : {0.0, 5e-4}) {
    for (const int threads : {1, 2, 3, 8}) {
      at::manual_seed(static_cast<std::int64_t>(static_cast<std::uint64_t>(seed_) % 1000));
      std::vector<at::Tensor> expected, found;
      for (const std::int64_t count : {1, 7, 31, 1 << 15, (1 << 15) + 13, 3 * (1 << 15) - 1, 200001}) {
        expected.push_back(at::randn({count}).requires_grad_());
        found.push_back(expected.back().detach().clone().requires_grad_());
      }
      expected.push_back(at::randn({300, 400}).requires_grad_());
      found.push_back(expected.back().detach().clone().requires_grad_());
      const auto options = torch::optim::AdamOptions(0.01).weight_decay(decay);
      torch::optim::Adam reference(expected, options);
      torch::optim::Adam chunked(found, options);
      for (int step = 0; step < 5; ++step) {
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const bool is_missing = i == 2 && step % 2 == 1;
          const bool is_transposed = i + 1 == expected.size() && step == 3;
          auto gradient = is_transposed ? at::randn({400, 300}).t() : at::randn(expected[i].sizes());
          expected[i].mutable_grad() = is_missing ? at::Tensor() : gradient;
          found[i].mutable_grad() = is_missing ? at::Tensor() : gradient.clone();
        }
        at::set_num_threads(1);
        reference.step();
        at::set_num_threads(threads);
        chunked_step(chunked);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_TRUE(at::equal(found[i], expected[i]))
              << threads << " threads, weight " << i << ", step " << step;
          const auto* state = state_of(chunked, found[i]);
          const auto* other = state_of(reference, expected[i]);
          EXPECT_EQ(state->step(), other->step());
          EXPECT_TRUE(at::equal(state->exp_avg(), other->exp_avg()));
          EXPECT_TRUE(at::equal(state->exp_avg_sq(), other->exp_avg_sq()));
        }
      }
    }
  }
  at::set_num_threads(threads_before);
}

TEST_F(AdamTest, StepsOfBothKindsContinueEachOther) {
  const auto expected = fresh();
  const auto found = fresh();
  torch::optim::Adam reference(expected, options_);
  torch::optim::Adam mixed(found, options_);
  at::Tensor scratch;
  for (int step = 0; step < 6; ++step) {
    set_gradients(expected, step);
    set_gradients(found, step);
    reference.step();
    step < 3 ? fused_step(mixed, scratch) : static_cast<void>(mixed.step());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-5, 1e-6)) << "weight " << i;
  }
}

}  // namespace
}  // namespace gnomon::nn
