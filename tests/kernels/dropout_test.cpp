#include "kernels/cpu/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/instruction_set.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

/// The rule as it is written down, element by element.
float by_rule(const DropoutRule& rule, std::int64_t element, float value) {
  auto stream = rule.key;
  stream.item = static_cast<std::uint64_t>(element / 8);
  const auto word = base::random_words(stream, 0).word[element % 8 / 2];
  const std::uint32_t drawn = element % 2 == 0 ? word & 0xFFFFU : word >> 16;
  return drawn < rule.threshold ? 0 : value * 65536.0F / static_cast<float>(65536U - rule.threshold);
}

class Dropout : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!choose_instruction_set(GetParam())) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
  }
};

TEST_P(Dropout, RangesFollowTheRuleBitForBit) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::vector<float> from(5000);
  for (auto& value : from) {
    value = static_cast<float>(random() % 2001) - 1000.0F;
  }
  for (int round = 0; round < 50; ++round) {
    const DropoutRule rule{{random(), base::Purpose::dropout, random() % 100, random() % 1000,
                            static_cast<std::uint32_t>(random() % 8), 0},
                           static_cast<std::uint32_t>(random() % 65536)};
    const auto begin = static_cast<std::int64_t>(random() % 300) * dropout_block;
    const auto end = begin + static_cast<std::int64_t>(random() % 2500);
    std::vector<float> to(from.size(), -1);
    std::vector<float> after_relu(from.size(), -1);
    dropout(rule, begin, end - begin, from.data() + begin, to.data() + begin);
    relu_dropout(rule, begin, end - begin, from.data() + begin, after_relu.data() + begin);
    for (std::int64_t i = 0; i < std::ssize(from); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool inside = i >= begin && i < end;
      ASSERT_FLOAT_EQ(to[at], inside ? by_rule(rule, i, from[at]) : -1) << "element " << i;
      ASSERT_EQ(after_relu[at], inside ? std::max(to[at], 0.0F) : -1) << "element " << i;
    }
  }
}

TEST_P(Dropout, ItemsOfMoreThan32BitsFollowTheRuleToo) {
  const DropoutRule rule{{5, base::Purpose::dropout, 1, 2, 3, 0}, 30000};
  const std::int64_t begin = (std::int64_t{1} << 35) - 1024;
  std::vector<float> values(2048, 1);
  dropout(rule, begin, std::ssize(values), values.data(), values.data());
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    ASSERT_FLOAT_EQ(values[static_cast<std::size_t>(i)], by_rule(rule, begin + i, 1)) << "element " << i;
  }
}

TEST_P(Dropout, GradientGoesWhereTheResultIsNotZero) {
  const DropoutRule rule{{5, base::Purpose::dropout, 1, 2, 3, 0}, 20000};
  for (const std::int64_t count : {0, 1, 15, 16, 333}) {
    std::vector<float> values(static_cast<std::size_t>(count)), out = values, gradient = values, to = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i % 5) - 2;
      gradient[i] = static_cast<float>(i) + 1;
    }
    relu_dropout(rule, 0, count, values.data(), out.data());
    relu_dropout_gradient(rule.scale(), count, out.data(), gradient.data(), to.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool passes = values[i] > 0 && by_rule(rule, static_cast<std::int64_t>(i), 1) > 0;
      ASSERT_FLOAT_EQ(to[i], passes ? gradient[i] * rule.scale() : 0) << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, Dropout, testing::Values(HWY_AVX3, HWY_AVX2, HWY_SCALAR));

}  // namespace
}  // namespace gnomon::kernels::cpu
