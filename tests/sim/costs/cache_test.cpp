#include "sim/costs/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "tests/random_seed.h"

namespace gnomon::sim {
namespace {

using plan::CachePolicy;

constexpr CachePolicy all_policies[] = {CachePolicy::random,    CachePolicy::out_degree,
                                        CachePolicy::presample, CachePolicy::value_weight,
                                        CachePolicy::recent,    CachePolicy::optimal};

profiles::Accesses skewed_by(double skew) {
  profiles::Accesses accesses;
  accesses.skew = skew;
  return accesses;
}

/// Uses of the vertices of rank 1 … count, in proportion to rank^-skew.
std::vector<double> uses_by_rank(int count, double skew) {
  std::vector<double> uses(static_cast<std::size_t>(count));
  double sum = 0;
  for (int rank = 1; rank <= count; ++rank) {
    sum += uses[static_cast<std::size_t>(rank - 1)] = std::pow(rank, -skew);
  }
  for (double& each : uses) {
    each /= sum;
  }
  return uses;
}

TEST(HitShare, OfTheBestChoiceIsTheSumOfTheFirstRanks) {
  // Of infinitely many vertices exactly; the steeper, the more are needed to be near.
  for (const double skew : {0.2, 0.5, 0.7}) {
    const auto uses = uses_by_rank(1000000, skew);
    for (const double share : {0.01, 0.1, 0.5}) {
      const double sum = std::accumulate(uses.begin(), uses.begin() + static_cast<int>(share * 1e6), 0.0);
      EXPECT_NEAR(hit_share(skewed_by(skew), CachePolicy::optimal, share), sum, 0.02);
    }
  }
}

TEST(HitShare, OfTheLastUsedIsThatOfASimulatedCache) {
  const test::RandomSeed seed(99);
  constexpr int count = 2000;
  const double skew = 0.7;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  // Ranks in (0, 1] with a density in proportion to x^-skew, cut into vertices.
  const auto draw = [&] { return static_cast<int>(count * std::pow(uniform(random), 1 / (1 - skew))); };
  // Least recently used by time stamps: held are the `room` vertices with the latest ones.
  constexpr int room = count / 5;
  std::vector<long> last(count, -1);
  std::vector<int> held;
  int hits = 0;
  int counted = 0;
  for (long now = 0; now < 60000; ++now) {
    const int vertex = draw();
    const bool hit = std::find(held.begin(), held.end(), vertex) != held.end();
    if (!hit) {
      if (std::ssize(held) == room) {
        const auto oldest = std::min_element(held.begin(), held.end(), [&](int a, int b) {
          return last[static_cast<std::size_t>(a)] < last[static_cast<std::size_t>(b)];
        });
        held.erase(oldest);
      }
      held.push_back(vertex);
    }
    last[static_cast<std::size_t>(vertex)] = now;
    if (now >= 20000) {
      ++counted;
      hits += hit;
    }
  }
  EXPECT_NEAR(hit_share(skewed_by(skew), CachePolicy::recent, 0.2), static_cast<double>(hits) / counted, 0.02)
      << "seed " << seed;
}

TEST(HitShare, RisesWithRoomFromNothingToEverything) {
  for (const auto policy : all_policies) {
    EXPECT_EQ(hit_share(skewed_by(0.6), policy, 0), 0);
    EXPECT_EQ(hit_share(skewed_by(0.6), policy, 1), 1);
    double before = 0;
    for (double share = 0.05; share < 1; share += 0.05) {
      const double hits = hit_share(skewed_by(0.6), policy, share);
      EXPECT_GT(hits, before);
      EXPECT_GE(hits, share * (1 - 1e-9));
      EXPECT_LE(hits, hit_share(skewed_by(0.6), CachePolicy::optimal, share) + 1e-9);
      before = hits;
    }
  }
  EXPECT_EQ(hit_share(skewed_by(0.6), CachePolicy::none, 0.5), 0);
}

TEST(HitShare, WithoutSkewIsTheShare) {
  for (const auto policy : all_policies) {
    EXPECT_NEAR(hit_share({}, policy, 0.3), 0.3, 1e-3);
  }
}

TEST(HitShare, MeasuredCurvesAreLinearBetweenTheirPoints) {
  // From (0, 0) over (0.2, 0.6) and (0.4, 0.8) to (1, 1).
  const profiles::Accesses accesses{0.5, {{CachePolicy::out_degree, {{0.2, 0.6}, {0.4, 0.8}}}}};
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::out_degree, 0.1), 0.3);
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::out_degree, 0.3), 0.7);
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::out_degree, 0.7), 0.9);
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::optimal, 0.25), 0.5);  // not measured: 0.25^(1 - 0.5)
}

// Presampling counts two epochs, its curve one: what both have seen (0.3) answers as much as it would of a
// cache that keeps what was read.
TEST(HitShare, OfCountedVisitsGoesOnToWhatTwoEpochsHaveSeen) {
  profiles::Accesses accesses{
      0.5, {{CachePolicy::presample, {{0.2, 0.6}}}, {CachePolicy::recent, {{0.2, 0.5}, {0.3, 0.8}}}}};
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::presample, 0.2), 0.6);
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::presample, 0.25), 0.7);
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::presample, 0.65), 0.9);
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::recent, 0.25), 0.65);
  accesses.curves.back().points = {{0.1, 0.5}};  // no epoch sees less than one before it
  EXPECT_DOUBLE_EQ(hit_share(accesses, CachePolicy::presample, 0.6), 0.8);
}

/// Vertices that an epoch's mini-batches use, each distinct within its mini-batch, those of low ids more
/// often.
std::vector<std::set<int>> drawn_epoch(std::mt19937_64& random, int vertices) {
  std::vector<std::set<int>> batches(20);
  for (auto& batch : batches) {
    while (batch.size() < 500) {
      batch.insert(static_cast<int>(std::pow(std::uniform_real_distribution()(random), 1.6) * vertices));
    }
  }
  return batches;
}

TEST(FilledHitShare, OfACacheThatHoldsEverythingLeavesFirstReads) {
  const test::RandomSeed seed(17);
  std::mt19937_64 random(seed);
  for (const int vertices : {5000, 20000, 100000}) {
    std::set<int> read;
    for (const auto& batch : drawn_epoch(random, vertices)) {
      read.insert(batch.begin(), batch.end());
    }
    const std::set<int> seen = read;
    double uses = 0, uses_of_seen = 0, hits = 0;
    for (const auto& batch : drawn_epoch(random, vertices)) {
      uses += static_cast<double>(batch.size());
      uses_of_seen +=
          static_cast<double>(std::ranges::count_if(batch, [&](int v) { return seen.contains(v); }));
      hits += static_cast<double>(std::ranges::count_if(batch, [&](int v) { return read.contains(v); }));
      read.insert(batch.begin(), batch.end());
    }
    const double share = static_cast<double>(seen.size()) / vertices;
    profiles::Accesses accesses;
    accesses.curves = {{CachePolicy::presample, {{share, uses_of_seen / uses}}},
                       {CachePolicy::optimal, {{share, 1}}}};
    for (const auto policy : {CachePolicy::optimal, CachePolicy::recent}) {
      EXPECT_NEAR(filled_hit_share(accesses, policy, 1, uses / vertices), hits / uses, 0.08) << vertices;
    }
    EXPECT_DOUBLE_EQ(filled_hit_share(accesses, CachePolicy::presample, share, uses / vertices),
                     uses_of_seen / uses);
    EXPECT_EQ(hit_share(accesses, CachePolicy::optimal, share), 1);
  }
}

TEST(BiasedHitShare, MultipliesOdds) {
  EXPECT_DOUBLE_EQ(biased_hit_share(0.5, 3), 0.75);
  EXPECT_DOUBLE_EQ(biased_hit_share(0.2, 1), 0.2);
  EXPECT_DOUBLE_EQ(biased_hit_share(1, 7), 1);
}

/// Both kinds are 1,000 bytes.
constexpr CacheGains alike{.feature_bytes = 1000, .topology_bytes = 1000, .feature_s = 1, .topology_s = 1};

profiles::WorkloadProfile skewed(double features, double topology) {
  profiles::WorkloadProfile workload;
  workload.features.skew = features;
  workload.topology.skew = topology;
  return workload;
}

TEST(FillCache, HoldsEverythingThatFits) {
  const auto shares = fill_cache(skewed(0.5, 0.5), CachePolicy::value_weight, alike, 2000);
  EXPECT_EQ(shares.features, 1);
  EXPECT_EQ(shares.topology, 1);
}

TEST(FillCache, OthersHoldTheSameShareOfBoth) {
  const auto shares = fill_cache(skewed(0.9, 0.1), CachePolicy::presample, alike, 500);
  EXPECT_DOUBLE_EQ(shares.features, 0.25);
  EXPECT_DOUBLE_EQ(shares.topology, 0.25);
}

TEST(FillCache, ByValueAndWeightBothGainAlikeAtTheMargin) {
  // Hits x^(1-s) gain (1-s) x^-s a share: with s = 1/2 and twice the seconds for rows, x_f^-1/2 * 2 =
  // x_t^-1/2, x_f = 4 x_t. Of 500 bytes rows have 400. (Both by 0.95 of that and 0.05 of a constant.)
  CacheGains gains = alike;
  gains.feature_s = 2;
  const auto shares = fill_cache(skewed(0.5, 0.5), CachePolicy::value_weight, gains, 500);
  EXPECT_NEAR(shares.features, 0.4, 0.02);
  EXPECT_NEAR(shares.topology, 0.1, 0.02);
}

TEST(FillCache, ByValueAndWeightIsNoWorseThanAnyOtherSplit) {
  const auto workload = skewed(0.8, 0.4);
  CacheGains gains{.feature_bytes = 5000, .topology_bytes = 900, .feature_s = 3, .topology_s = 1};
  const auto saved = [&](double features, double topology) {
    return gains.feature_s * hit_share(workload.features, CachePolicy::value_weight, features) +
           gains.topology_s * hit_share(workload.topology, CachePolicy::value_weight, topology);
  };
  for (const double bytes : {100.0, 700.0, 2500.0}) {
    const auto shares = fill_cache(workload, CachePolicy::value_weight, gains, bytes);
    EXPECT_NEAR(shares.features * 5000 + shares.topology * 900, bytes, bytes / 200);
    for (double part = 0; part <= 1; part += 0.02) {
      const double topology = std::min(1.0, part * bytes / 900);
      const double features = std::min(1.0, (bytes - topology * 900) / 5000);
      EXPECT_GE(saved(shares.features, shares.topology), saved(features, topology) * 0.995);
    }
  }
}

}  // namespace
}  // namespace gnomon::sim
