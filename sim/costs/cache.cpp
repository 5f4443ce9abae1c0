#include "sim/costs/cache.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gnomon::sim {
namespace {

using plan::CachePolicy;
using profiles::Accesses;

/// The quality of a policy's ranking if no curve was measured: its hit rate lies at this fraction between
/// that of a random choice and the optimum. 0.6 for degrees is inside the range that T_SOTA's hits on Twitter
/// give in GNNLab's Table VI (tests/reproduce/gnnlab_test.cpp); degrees depend on the graph. Presampled
/// counts and DUCATI's are near the optimum (GNNLab, EuroSys 2022, section 7.4), which profiles of generated
/// graphs confirm (tests/profiles/accesses_test.cpp).
double knowledge_of(CachePolicy policy) {
  switch (policy) {
    case CachePolicy::none:
    case CachePolicy::random:
    case CachePolicy::recent:
      return 0;
    case CachePolicy::out_degree:
      return 0.6;
    case CachePolicy::presample:
    case CachePolicy::value_weight:
      return 0.95;
    case CachePolicy::optimal:
      break;
  }
  return 1;
}

/// Least recently used, for vertices of rank x in (0, 1] used at rates (1-s) x^-s: an entry is still cached
/// with probability 1 - exp(-rate T), where T is the time that fills the cache (Che et al. 2002). Integrals
/// by the midpoint rule on x = y^4, which spreads the steep beginning.
class Recent {
 public:
  explicit Recent(double skew) {
    for (int i = 0; i < steps; ++i) {
      const double y = (i + 0.5) / steps;
      const double rank = std::pow(y, 4);
      rates_[static_cast<std::size_t>(i)] = (1 - skew) * std::pow(rank, -skew);
      cubes_[static_cast<std::size_t>(i)] = std::pow(y, 3);
    }
  }

  double hits_of(double share) const {
    double low = 0;
    double high = 1;
    while (held(high) < share && high < 1e12) {
      high *= 2;
    }
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (held(middle) < share ? low : high) = middle;
    }
    return hits(high);
  }

 private:
  static constexpr int steps = 200;

  template <class Weight>
  double integral(Weight weight) const {
    double sum = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      sum += weight(rates_[i]) * 4 * cubes_[i] / steps;
    }
    return sum;
  }
  double held(double time) const {
    return integral([time](double rate) { return -std::expm1(-rate * time); });
  }
  double hits(double time) const {
    return integral([time](double rate) { return rate * -std::expm1(-rate * time); }) /
           integral([](double rate) { return rate; });
  }

  std::array<double, steps> rates_{};
  std::array<double, steps> cubes_{};
};

/// The curve measured for this policy, if there is one.
const std::vector<profiles::HitPoint>* curve_of(const Accesses& accesses, CachePolicy policy) {
  const auto found = std::ranges::find(accesses.curves, policy, &profiles::HitCurve::policy);
  return found == accesses.curves.end() ? nullptr : &found->points;
}

/// A cache that holds all items of the first epoch's counts, and more: those of the second epoch, too, as
/// presampling counts two (runtime/cache/presampling.h). What both epochs' items answer is what a cache that
/// has seen both answers next.
std::vector<profiles::HitPoint> with_second_epoch(std::vector<profiles::HitPoint> points,
                                                  const Accesses& accesses) {
  const auto* both = curve_of(accesses, CachePolicy::recent);
  if (both != nullptr && !both->empty() && !points.empty() && both->back().share > points.back().share &&
      both->back().hits > points.back().hits) {
    points.push_back(both->back());
  }
  return points;
}

bool counts_visits(CachePolicy policy) {
  return policy == CachePolicy::presample || policy == CachePolicy::value_weight;
}

/// The share of an epoch's accesses that are the first to their item, given that the previous epoch accessed
/// a share `seen` of all items, and that at its end a share `missed` of accesses went to new ones. The number
/// of distinct items grows as a power of the accesses (Heaps' law).
double first_reads(double missed, double seen, double uses) {
  const double power = seen > 0 ? std::min(1.0, missed * uses / seen) : 1;
  return power > 0 ? missed * (std::exp2(power) - 1) / power : 0;
}

}  // namespace

double on_curve(const std::vector<profiles::HitPoint>& points, double share) {
  profiles::HitPoint below;
  for (const auto& point : points) {
    if (point.share >= share) {
      const double gap = point.share - below.share;
      return gap > 0 ? below.hits + (point.hits - below.hits) * (share - below.share) / gap : point.hits;
    }
    below = point;
  }
  const double gap = 1 - below.share;
  return gap > 0 ? below.hits + (1 - below.hits) * (share - below.share) / gap : below.hits;
}

double hit_share(const Accesses& accesses, CachePolicy policy, double share) {
  share = std::clamp(share, 0.0, 1.0);
  if (policy == CachePolicy::none || share == 0 || share == 1) {
    return policy == CachePolicy::none ? 0 : share;
  }
  if (const auto* points = curve_of(accesses, policy)) {
    return on_curve(counts_visits(policy) ? with_second_epoch(*points, accesses) : *points, share);
  }
  if (policy == CachePolicy::recent) {
    return Recent(accesses.skew).hits_of(share);
  }
  const double best = std::pow(share, 1 - accesses.skew);
  const double knowledge = knowledge_of(policy);
  return knowledge * best + (1 - knowledge) * share;
}

double filled_hit_share(const Accesses& accesses, CachePolicy policy, double share, double uses) {
  const double hits = hit_share(accesses, policy, share);
  const bool keeps_reads = policy == CachePolicy::recent || policy == CachePolicy::optimal;
  const auto* visited = keeps_reads ? curve_of(accesses, CachePolicy::presample) : nullptr;
  if (visited == nullptr || visited->empty()) {
    return hits;
  }
  const auto& [seen, hits_of_seen] = visited->back();
  return std::min(hits, 1 - first_reads(1 - hits_of_seen, seen, uses));
}

double biased_hit_share(double hits, double bias) { return bias * hits / (bias * hits + 1 - hits); }

CacheShares fill_cache(const profiles::WorkloadProfile& workload, CachePolicy policy, const CacheGains& gains,
                       double bytes) {
  const double all = gains.feature_bytes + gains.topology_bytes;
  if (all <= 0 || bytes >= all) {
    return {gains.feature_bytes > 0 ? 1.0 : 0.0, gains.topology_bytes > 0 ? 1.0 : 0.0};
  }
  if (policy != CachePolicy::value_weight) {
    return {gains.feature_bytes > 0 ? bytes / all : 0, gains.topology_bytes > 0 ? bytes / all : 0};
  }
  // Steps of equal bytes go to the kind that saves more with the next one.
  constexpr int steps = 256;
  CacheShares shares;
  const double step = bytes / steps;
  const auto gain = [&](const Accesses& accesses, double share, double of_bytes, double seconds) {
    if (of_bytes <= 0 || share >= 1) {
      return -1.0;
    }
    return seconds *
           (hit_share(accesses, policy, share + step / of_bytes) - hit_share(accesses, policy, share));
  };
  const auto by_features = [&] {
    return gain(workload.features, shares.features, gains.feature_bytes, gains.feature_s);
  };
  const auto by_topology = [&] {
    return gain(workload.topology, shares.topology, gains.topology_bytes, gains.topology_s);
  };
  double feature_gain = by_features();
  double topology_gain = by_topology();
  for (int i = 0; i < steps; ++i) {
    if (feature_gain >= topology_gain) {
      shares.features = std::min(1.0, shares.features + step / gains.feature_bytes);
      feature_gain = by_features();
    } else {
      shares.topology = std::min(1.0, shares.topology + step / gains.topology_bytes);
      topology_gain = by_topology();
    }
  }
  return shares;
}

}  // namespace gnomon::sim
