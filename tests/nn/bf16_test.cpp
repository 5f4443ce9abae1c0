#include "kernels/cpu/bf16.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/instruction_set.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

class Bf16 : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!choose_instruction_set(GetParam())) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
  }
};

/// Any bits at all, and the numbers between which rounding turns.
std::vector<float> numbers(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> all{0.0F,
                         -0.0F,
                         infinity,
                         -infinity,
                         std::numeric_limits<float>::quiet_NaN(),
                         std::bit_cast<float>(0x7F800001U),
                         std::bit_cast<float>(0xFFFFFFFFU),
                         std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::denorm_min()};
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    all.push_back(std::bit_cast<float>(bits));
    all.push_back(std::bit_cast<float>((bits & 0xFFFF0000U) | 0x8000U));  // halfway
    all.push_back(std::bit_cast<float>((bits & 0xFFFF0000U) | 0x7FFFU));
    all.push_back(std::bit_cast<float>((bits & 0xFFFF0000U) | 0x8001U));
  }
  return all;
}

TEST_P(Bf16, RoundsAsLibTorch) {
  const test::RandomSeed seed;
  auto from = numbers(seed);
  for (const std::int64_t count :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{15}, std::int64_t{33}, std::ssize(from)}) {
    std::vector<std::uint16_t> to(static_cast<std::size_t>(count) + 1, 0xA5A5);
    round_to_bf16(from.data(), count, to.data());
    const auto x = at::from_blob(from.data(), {count});
    const auto expected = x.to(at::kBFloat16);
    const auto found = at::from_blob(to.data(), {count}, at::kBFloat16);
    EXPECT_TRUE(at::equal(found.isnan(), x.isnan())) << count;
    const auto bits_of = [&](const at::Tensor& y) { return y.masked_fill(x.isnan(), 0).view(at::kShort); };
    EXPECT_TRUE(at::equal(bits_of(found), bits_of(expected))) << count;
    EXPECT_EQ(to.back(), 0xA5A5) << "written beyond the last of " << count;
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, Bf16, testing::Values(HWY_AVX3, HWY_AVX2, HWY_STATIC_TARGET));

}  // namespace
}  // namespace gnomon::kernels::cpu
