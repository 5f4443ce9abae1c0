#include "kernels/cpu/sample/alias_tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/sample/topology.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

constexpr std::uint64_t column_parts = std::uint64_t{1} << 32;

/// The parts that each position has of all columns; a column has 2^32.
std::vector<std::uint64_t> parts_of(const AliasColumn* columns, std::size_t degree) {
  std::vector<std::uint64_t> parts(degree);
  for (std::size_t i = 0; i < degree; ++i) {
    parts[i] += columns[i].threshold;
    parts.at(columns[i].other) += column_parts - columns[i].threshold;
  }
  return parts;
}

/// Every position's chance is that of its weight, as near as alias_tables.h says.
void expect_chances(const std::vector<float>& weights) {
  const std::vector<std::int64_t> indptr{0, std::ssize(weights)};
  const auto tables = make_alias_tables(indptr, weights, 1);
  const auto parts = parts_of(tables.columns.data(), weights.size());
  long double total = 0;
  for (const float weight : weights) {
    total += static_cast<long double>(weight);
  }
  const auto degree = static_cast<long double>(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const long double share = static_cast<long double>(weights[i]) / total;
    const long double chance = static_cast<long double>(parts[i]) * 0x1p-32L / degree;
    ASSERT_LE(std::abs(chance - share), 0x1p-31L * share + 0x1p-31L / degree + 0x1p-48L) << i;
    ASSERT_EQ(parts[i] > 0, weights[i] > 0) << i;
    ASSERT_EQ(tables.columns[i].threshold > 0, weights[i] > 0) << i;
  }
}

/// Weights between 2^-reach and 2^reach, some of them 0.
std::vector<float> random_weights(std::size_t count, int reach, double zeros, std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(-reach, reach);
  std::bernoulli_distribution is_zero(zeros);
  std::vector<float> weights(count);
  for (float& weight : weights) {
    weight = is_zero(random) ? 0.0F : static_cast<float>(std::exp2(exponent(random)));
  }
  weights.back() = 1;
  return weights;
}

TEST(AliasTables, GiveEveryEdgeTheChanceOfItsWeight) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const int reach : {0, 1, 5, 30, 127}) {
    for (const double zeros : {0.0, 0.3, 0.95}) {
      for (std::size_t count = 1; count < 2000; count += 1 + count / 3 + random() % 3) {
        expect_chances(random_weights(count, reach, zeros, random));
        if (HasFatalFailure()) {
          FAIL() << count << " weights, reach " << reach << ", zeros " << zeros;
        }
      }
    }
  }
  expect_chances(random_weights(300000, 3, 0.1, random));
}

TEST(AliasTables, DrawByExtremeWeights) {
  const float least = std::numeric_limits<float>::denorm_min();
  const float most = std::numeric_limits<float>::max();
  expect_chances({least});
  expect_chances({most, most, most});
  expect_chances({least, 0, least, least});
  expect_chances({most, least, 0, 1});
  std::vector<float> weights(1000, least);
  weights[500] = most;
  expect_chances(weights);
  weights.assign(1000, 0);
  weights[999] = least;
  expect_chances(weights);
  weights.assign(1000, most);
  weights[0] = least;
  expect_chances(weights);
}

TEST(AliasTables, HaveNoThresholdsForAListWithoutWeight) {
  const auto tables =
      make_alias_tables(std::vector<std::int64_t>{0, 3, 3, 4}, std::vector<float>{0, 0, 0, 2}, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tables.columns[i].threshold, 0U);
  }
  EXPECT_EQ(tables.columns[3].other, 0U);
  EXPECT_EQ((std::vector<std::uint32_t>(tables.positives.data(), tables.positives.data() + 3)),
            (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(AliasTables, CountPositiveEdgesOnlyWhereSomeAreNot) {
  EXPECT_EQ(
      make_alias_tables(std::vector<std::int64_t>{0, 2}, std::vector<float>{1, 3}, 1).positives.capacity(),
      0U);
  EXPECT_EQ(make_alias_tables({}, {}, 2).columns.capacity(), 0U);
  EXPECT_EQ(make_alias_tables(std::vector<std::int64_t>{0, 0}, {}, 2).positives.capacity(), 0U);
}

TEST(AliasTables, AreTheSameFromAnyThreads) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> indptr{0, 0};
  while (indptr.back() < 900000) {
    indptr.push_back(indptr.back() +
                     static_cast<std::int64_t>(random() % (random() % 100 == 0 ? 50000 : 60)));
  }
  const auto edges = static_cast<std::size_t>(indptr.back());
  const auto weights = random_weights(edges, 4, 0.2, random);
  const auto expected = make_alias_tables(indptr, weights, 1);
  for (const int threads : {2, 3, 8}) {
    const auto found = make_alias_tables(indptr, weights, threads);
    EXPECT_EQ(std::memcmp(found.columns.data(), expected.columns.data(), edges * sizeof(AliasColumn)), 0);
    EXPECT_TRUE(std::equal(found.positives.data(), found.positives.data() + indptr.size() - 1,
                           expected.positives.data()));
  }
}

TEST(AliasTables, RefuseWhatCannotBeDrawnBy) {
  const std::vector<std::int64_t> indptr{0, 1, 3};
  for (const float bad : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_THROW(make_alias_tables(indptr, std::vector<float>{1, 2, bad}, 1), base::InputError) << bad;
  }
  // Nothing is read of what is not there.
  const std::vector<std::int64_t> too_long{0, std::int64_t{1} << 32};
  EXPECT_THROW(make_alias_tables(too_long, {}, 1), base::InputError);
  std::vector<std::int64_t> too_many{0};
  for (int i = 0; i < 2000; ++i) {
    too_many.push_back(too_many.back() + (std::int64_t{1} << 31));
  }
  EXPECT_THROW(make_alias_tables(too_many, {}, 1), base::Failure);
}

TEST(AliasTables, AreCountedInTheMemoryOfACopy) {
  const auto graph = test::with_random_weights(test::skewed_graph(500, 1), 2, 3);
  EXPECT_EQ(resident_bytes(graph, Draws::by_weight) - resident_bytes(graph),
            graph.num_edges() * (4 + 8) + graph.num_vertices() * 4);
  const auto copy = resident_copy(graph, Draws::by_weight);
  EXPECT_EQ(std::ssize(copy.columns), graph.num_edges());
  EXPECT_EQ(std::ssize(copy.positives), graph.num_vertices());
  EXPECT_TRUE(view_of(graph).columns.empty());
}

}  // namespace
}  // namespace gnomon::kernels::cpu
