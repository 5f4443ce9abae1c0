#include "nn/adam.h"

#include <ATen/ATen.h>
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
