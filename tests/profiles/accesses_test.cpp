#include "profiles/measure/accesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <random>

#include "graph/generate/generate.h"
#include "tests/random_seed.h"

namespace gnomon::profiles {
namespace {

TEST(HitPoints, ByHand) {
  // Of ten vertices 7, 2 and 5 are held first; uses are 6, 3 and 1 of ten: shares 0.1, 0.2, 0.3.
  Counts uses(10);
  uses[7] = 6;
  uses[2] = 3;
  uses[5] = 1;
  const std::vector<graph::VertexId> order{7, 2, 5};
  const auto points = hit_points(order, uses, {});
  ASSERT_EQ(points.size(), 3U);
  EXPECT_DOUBLE_EQ(points[0].share, 0.1);
  EXPECT_DOUBLE_EQ(points[0].hits, 0.6);
  EXPECT_DOUBLE_EQ(points[1].share, 0.2);
  EXPECT_DOUBLE_EQ(points[1].hits, 0.9);
  EXPECT_DOUBLE_EQ(points[2].hits, 1);
  // 7 weighs 30 of 100 bytes, 2 has 10, 5 has 10.
  std::vector<double> weights(10, 50.0 / 7);
  weights[7] = 30;
  weights[2] = weights[5] = 10;
  const auto weighed = hit_points(order, uses, weights);
  ASSERT_EQ(weighed.size(), 2U);  // nothing new between 0.3 and 0.5
  EXPECT_DOUBLE_EQ(weighed[0].share, 0.3);
  EXPECT_DOUBLE_EQ(weighed[0].hits, 0.6);
  EXPECT_DOUBLE_EQ(weighed[1].share, 0.5);
  EXPECT_TRUE(hit_points(order, Counts(10), {}).empty());
}

/// Hits among the accesses after the first third of a cache of the last used items.
double simulated_hits(const std::vector<std::int32_t>& accesses, std::size_t room) {
  std::list<std::int32_t> held;  // last used first
  std::map<std::int32_t, std::list<std::int32_t>::iterator> places;
  double hits = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const auto place = places.find(accesses[i]);
    const bool is_hit = place != places.end();
    hits += is_hit && i >= accesses.size() / 3 ? 1 : 0;
    if (is_hit) {
      held.erase(place->second);
    } else if (held.size() == room) {
      places.erase(held.back());
      held.pop_back();
    }
    held.push_front(accesses[i]);
    places[accesses[i]] = held.begin();
  }
  return hits / static_cast<double>(accesses.size() - accesses.size() / 3);
}

// Two popularities, which no power of the rank describes: a tenth of the items takes half of the accesses.
TEST(RecentPoints, AreThoseOfASimulatedCache) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  constexpr std::int32_t items = 5000;
  std::vector<std::int32_t> accesses(60000);
  Counts uses(items);
  for (auto& item : accesses) {
    item = static_cast<std::int32_t>(random() % (random() % 2 == 0 ? items / 10 : items));
    ++uses[static_cast<std::size_t>(item)];
  }
  const auto points = recent_points(uses);
  ASSERT_GT(points.size(), 8U);
  for (const auto& point : points) {
    const auto room = static_cast<std::size_t>(point.share * items);
    if (room > 0 && room < items * 9 / 10) {
      EXPECT_NEAR(point.hits, simulated_hits(accesses, room), 0.02) << point.share;
    }
  }
  EXPECT_TRUE(recent_points(Counts(10)).empty());
}

// Of four accesses to ten items, two were to the same: 3 items are used, and half of the accesses are to
// items used once.
TEST(RecentPoints, EndWithAllThatWasUsed) {
  Counts uses(10);
  uses[1] = 2;
  uses[4] = uses[6] = 1;
  const auto points = recent_points(uses);
  EXPECT_DOUBLE_EQ(points.back().share, 0.3);
  EXPECT_DOUBLE_EQ(points.back().hits, 0.5);
}

TEST(FittedSkew, IsThatOfACurve) {
  // 0.1^(1 - 0.6)
  EXPECT_NEAR(fitted_skew({{0.01, 0.2}, {0.1, std::pow(0.1, 0.4)}, {0.5, 0.9}}), 0.6, 1e-12);
  EXPECT_EQ(fitted_skew({}), 0);
}

// The first epoch accessed vertex 7 six times, 2 three times and 5 once; the second 7 four times and 2 five
// times. A tenth of ten vertices is one vertex.
TEST(Overlap, ByHand) {
  Counts first(10);
  first[7] = 6;
  first[2] = 3;
  first[5] = 1;
  Counts second(10);
  second[7] = 4;
  second[2] = 5;
  const auto overlap = overlap_of(first, second);
  EXPECT_DOUBLE_EQ(overlap.all, (4 + 3) / 10.0);
  EXPECT_DOUBLE_EQ(overlap.tenth, 4 / 6.0);
  EXPECT_EQ(overlap_of(Counts(10), second).all, 0);
}

TEST(Accesses, BetterKnowledgeAnswersMore) {
  graph::Rmat options;
  options.scale = 12;
  const auto graph = graph::generate_in_memory(options);
  plan::Job job;
  job.fanouts = {5, 5};
  job.batch_size = 64;
  WorkloadProfile workload;
  workload.cpu_batch.mean_s = workload.device_batch.mean_s = 10;
  measure_accesses(graph, job, {.time_limit_s = 1000}, workload);
  EXPECT_GT(workload.parts.cpu_sample_s.value(), 0);
  EXPECT_DOUBLE_EQ(workload.parts.device_sample_s.value(), workload.parts.cpu_sample_s.value());
  ASSERT_EQ(workload.hops.size(), 2U);
  EXPECT_GT(workload.hops[1].destinations, workload.hops[0].destinations);
  EXPECT_LE(workload.hops[1].edges, 5 * workload.hops[1].destinations);
  EXPECT_EQ(workload.hops[0].destinations_deviation, 0.0) << "full mini-batches have as many seeds";
  EXPECT_GT(workload.hops[1].destinations_deviation.value(), 0);
  EXPECT_LT(workload.hops[1].destinations_deviation.value(), 0.2 * workload.hops[1].destinations);
  EXPECT_GT(workload.features.overlap.value().tenth, workload.features.overlap->all);
  ASSERT_TRUE(workload.hot);
  for (const auto* curve : {&workload.hot->destinations, &workload.hot->edges}) {
    const auto tenth =
        std::find_if(curve->begin(), curve->end(), [](const auto& p) { return p.share >= 0.1; });
    ASSERT_NE(tenth, curve->end());
    EXPECT_GT(tenth->hits, 0.2) << "twice as much as any choice";
    EXPECT_NEAR(curve->back().hits, 1, 1e-9);
  }
  for (const Accesses* accesses : {&workload.features, &workload.topology}) {
    EXPECT_GT(accesses->skew, 0);
    const auto hits = [&](plan::CachePolicy policy) {
      for (const auto& curve : accesses->curves) {
        if (curve.policy == policy) {
          for (const auto& point : curve.points) {
            if (point.share >= 0.1) {
              return point.hits;
            }
          }
        }
      }
      return -1.0;
    };
    EXPECT_GE(hits(plan::CachePolicy::optimal), hits(plan::CachePolicy::value_weight));
    EXPECT_GE(hits(plan::CachePolicy::optimal), hits(plan::CachePolicy::out_degree));
    EXPECT_GT(hits(plan::CachePolicy::value_weight), 0.8 * hits(plan::CachePolicy::optimal));
    EXPECT_GT(hits(plan::CachePolicy::value_weight), 0.1);  // which any choice answers
    if (accesses == &workload.features) {                   // sim/costs/cache.cpp, for graphs without curves
      EXPECT_GT((hits(plan::CachePolicy::presample) - 0.1) / (hits(plan::CachePolicy::optimal) - 0.1), 0.9);
    }
  }
}

}  // namespace
}  // namespace gnomon::profiles
