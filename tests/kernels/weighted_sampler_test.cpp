#include <random>

#include "tests/kernels/sampler_paths.h"
#include "tests/kernels/weighted_contract.h"

namespace gnomon::kernels {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Portable32, WeightedContract, Portable32);
INSTANTIATE_TYPED_TEST_SUITE_P(Portable64, WeightedContract, Portable64);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx2With32, WeightedContract, Avx2With32);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx2With64, WeightedContract, Avx2With64);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx512With32, WeightedContract, Avx512With32);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx512With64, WeightedContract, Avx512With64);
INSTANTIATE_TYPED_TEST_SUITE_P(Split32, WeightedContract, Split32);
INSTANTIATE_TYPED_TEST_SUITE_P(Split64, WeightedContract, Split64);
INSTANTIATE_TYPED_TEST_SUITE_P(Wide, WeightedContract, WideOnSmallIds);

double exponential_of(std::uint64_t bits) { return static_cast<double>(exponential(bits)) * 0x1p-57; }

TEST(WeightedRule, TheExponentialIsTheLogarithm) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random() >> (random() % 40) << (random() % 3);
    for (const std::uint64_t tested : {bits, ~bits}) {
      const auto exact = static_cast<double>(-std::log1p(static_cast<long double>(tested) * -0x1p-64L));
      ASSERT_NEAR(exponential_of(tested), exact, 0x1p-40 * exact + 0x1p-55) << tested;
    }
  }
  EXPECT_EQ(exponential(0), 0);
  EXPECT_NEAR(exponential_of(std::uint64_t{1} << 63), std::log(2.0), 1e-12);
  EXPECT_NEAR(exponential_of(~std::uint64_t{0}), 64 * std::log(2.0), 1e-12);
}

TEST(WeightedRule, EdgesHaveWordsOfTheirOwn) {
  std::set<std::uint64_t> seen;
  for (std::int64_t edge = 0; edge < 20000; ++edge) {
    seen.insert(edge_bits({1, 2, 3}, 1, edge));
    seen.insert(edge_bits({1, 2, 3}, 1, edge + (std::int64_t{1} << 40)));
  }
  EXPECT_EQ(seen.size(), 40000U);
}

// Devices compile the rule as C++17 constexpr functions.
TEST(WeightedRule, IsTheSameAtCompileTime) {
  constexpr Arrival at_compile_time = arrival(edge_bits({5, 6, 7}, 2, 1234567), 0.37F, 1234567);
  volatile float weight = 0.37F;
  EXPECT_EQ(arrival(edge_bits({5, 6, 7}, 2, 1234567), weight, 1234567).time, at_compile_time.time);
}

}  // namespace
}  // namespace gnomon::kernels
