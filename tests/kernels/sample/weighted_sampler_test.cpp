#include <array>
#include <random>
#include <set>

#include "tests/kernels/sample/edge_id_contract.h"
#include "tests/kernels/sample/sampler_paths.h"
#include "tests/kernels/sample/weighted_contract.h"
#include "tests/random_seed.h"

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

INSTANTIATE_TYPED_TEST_SUITE_P(Portable32, EdgeIdContract, Portable32);
INSTANTIATE_TYPED_TEST_SUITE_P(Portable64, EdgeIdContract, Portable64);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx2With32, EdgeIdContract, Avx2With32);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx2With64, EdgeIdContract, Avx2With64);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx512With32, EdgeIdContract, Avx512With32);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx512With64, EdgeIdContract, Avx512With64);
INSTANTIATE_TYPED_TEST_SUITE_P(Split32, EdgeIdContract, Split32);
INSTANTIATE_TYPED_TEST_SUITE_P(Split64, EdgeIdContract, Split64);
INSTANTIATE_TYPED_TEST_SUITE_P(Wide, EdgeIdContract, WideOnSmallIds);

double exponential_of(std::uint64_t bits) { return static_cast<double>(exponential(bits)) * 0x1p-57; }

TEST(WeightedRule, TheExponentialIsTheLogarithm) {
  const test::RandomSeed seed(3);
  std::mt19937_64 random(seed);
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

TEST(WeightedRule, LateIsSaidOfLateEdgesOnly) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::int64_t told = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random() >> (random() % 64);
    ASSERT_LE(exponential_lower_bound(bits), exponential(bits)) << bits;
    ASSERT_LE(exponential_lower_bound(~bits), exponential(~bits)) << bits;
    const auto weight = static_cast<float>(std::exp2(static_cast<double>(random() % 40) - 20));
    const double time = reservoir_key(random() >> (random() % 8), weight);
    if (certainly_exceeds(bits, weight, time)) {
      ++told;
      ASSERT_GT(reservoir_key(bits, weight), time) << bits;
    }
  }
  EXPECT_GT(told, 1000);
}

TEST(WeightedRule, AttemptsStayWithinTheirStream) {
  EXPECT_LT(max_attempts(max_fanout, std::int64_t{1} << 40), 1 << 13);
}

/// Two of three edges, of which the last holds nearly everything: the race draws the other one.
constexpr std::array<std::int64_t, 2> two_of_three(const BatchKey& key) {
  const std::array<AliasColumn, 3> columns{{{1, 2}, {1, 2}, {0xFFFFFFFFU, 2}}};
  const std::array<float, 3> weights{1e-9F, 1e-9F, 1};
  std::array<std::int64_t, 2> positions{};
  std::array<double, 2> times{};
  draw_by_weight(key, 1, 9, {columns.data(), weights.data(), 3, 1000}, 2, positions.data(), times.data());
  return positions;
}

// Devices compile the rule as C++17 constexpr functions.
TEST(WeightedRule, IsTheSameAtCompileTime) {
  constexpr double at_compile_time = reservoir_key(edge_bits({5, 6, 7}, 2, 1234567), 0.37F);
  volatile float weight = 0.37F;
  EXPECT_EQ(reservoir_key(edge_bits({5, 6, 7}, 2, 1234567), weight), at_compile_time);
  constexpr auto drawn = two_of_three({5, 6, 7});
  volatile std::uint64_t seed = 5;
  EXPECT_EQ(two_of_three({seed, 6, 7}), drawn);
  EXPECT_EQ(drawn[0], 2);
}

}  // namespace
}  // namespace gnomon::kernels
