#include "nn/caching_allocator.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <thread>
#include <vector>

namespace gnomon::nn {
namespace {

class TensorMemory : public testing::Test {
 protected:
  void SetUp() override { install_caching_allocator(); }
};

/// Writes all of a new tensor of so many floats; where its memory is.
const void* touch(std::int64_t count, float value) {
  const auto tensor = torch::full({count}, value);
  EXPECT_EQ(tensor.sum().item<float>(), value * static_cast<float>(count));
  EXPECT_EQ(reinterpret_cast<std::size_t>(tensor.const_data_ptr()) % 64, 0U);
  return tensor.const_data_ptr();
}

TEST_F(TensorMemory, GoesToTheNextTensorOfAboutTheSameSize) {
  const auto* first = touch(1 << 20, 1);
  EXPECT_EQ(touch(1 << 20, 2), first);
  EXPECT_EQ(touch((1 << 20) - 1000, 3), first);
}

TEST_F(TensorMemory, GoesToALargeTensorThatIsAFewPercentLarger) {
  constexpr std::int64_t large = 30 << 20;  // 120 MiB, larger than what other tests leave
  const auto* first = touch(large, 1);
  EXPECT_EQ(touch(large + large / 25, 2), first);
  EXPECT_EQ(touch(large - large / 25, 3), first);
}

TEST_F(TensorMemory, OfOneLargeTensorServesSmallerOnesAndTheOtherWayRound) {
  constexpr std::int64_t large = 24 << 20;  // 96 MiB, larger than what other tests leave
  const auto* first = static_cast<const float*>(touch(large, 1));
  {
    const auto one = torch::full({large / 2}, 2.0F);
    const auto other = torch::full({large / 2}, 3.0F);
    for (const auto& tensor : {one, other}) {
      EXPECT_GE(tensor.const_data_ptr<float>(), first);
      EXPECT_LE(tensor.const_data_ptr<float>() + large / 2, first + large);
    }
    EXPECT_TRUE(one.eq(2).all().item<bool>());
  }
  EXPECT_EQ(touch(large, 4), first);
}

TEST_F(TensorMemory, IsCounted) {
  touch(1 << 24, 1);  // so that there is memory to keep
  const auto before = tensor_bytes();
  {
    const auto tensor = torch::full({1 << 22}, 1.0F);
    EXPECT_EQ(tensor_bytes().used, before.used + (1 << 24));
    EXPECT_EQ(tensor_bytes().held, before.held);
  }
  EXPECT_EQ(tensor_bytes().used, before.used);
}

TEST_F(TensorMemory, OfATransientPhaseIsGivenBack) {
  constexpr std::int64_t large = std::int64_t{100} << 20;  // 400 MiB, larger than what other tests leave
  touch(1 << 24, 1);
  const auto before = tensor_bytes();
  torch::Tensor kept;
  {
    const TransientTensors transient;
    touch(large, 2);
    EXPECT_GE(tensor_bytes().held, large * 4);
    kept = torch::full({1 << 20}, 3.0F);
  }
  EXPECT_LE(tensor_bytes().held, before.held + before.held / 4 + (8 << 20));
  EXPECT_EQ(tensor_bytes().used, before.used + (4 << 20));
  EXPECT_TRUE(kept.eq(3).all().item<bool>());
}

TEST_F(TensorMemory, IsNotSharedByLivingTensors) {
  std::vector<torch::Tensor> tensors;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back(torch::full({(1 << 18) + i * 40000}, i));
  }
  for (int i = 0; i < 20; i += 2) {
    tensors[static_cast<std::size_t>(i)] = torch::full({(1 << 18) + i * 30000}, i);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(tensors[static_cast<std::size_t>(i)].eq(i).all().item<bool>()) << i;
  }
}

TEST_F(TensorMemory, SmallTensorsResizedTensorsAndOtherThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 20; ++i) {
        auto small = torch::full({100 + i}, t);
        auto large = torch::full({(1 << 18) + 1000 * i}, t);
        small.resize_({1 << 19}).fill_(t);
        EXPECT_TRUE(small.eq(t).all().item<bool>());
        EXPECT_TRUE(large.eq(t).all().item<bool>());
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace gnomon::nn
