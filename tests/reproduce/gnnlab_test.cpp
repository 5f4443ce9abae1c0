#include "reproduce/gnnlab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reproduce/paper.h"
#include "reproduce/paper_profiles.h"
#include "sim/costs/cache.h"

namespace gnomon::reproduce {
namespace {

double number(const Paper& paper, const std::string& model, const char* system, const char* metric) {
  return paper.at({{"model", model}, {"dataset", "TW"}, {"system", system}, {"metric", metric}}) / 100;
}

// On Twitter, Table VI prints hits of a presampled cache (GNNLab) and of one by out-degree (T_SOTA). The
// first give the skew, so the second tell how near a cache by degrees comes to the best one, from 0 for a
// random choice to 1.
TEST(CacheModel, DegreesAreAsGoodAsGnnlabsTableSays) {
  const Paper paper = find_paper("gnnlab");
  double min = 1;
  double max = 0;
  for (const auto& model : paper.values("model", {})) {
    const double skew =
        skew_of(plan::CachePolicy::presample, number(paper, model, "GNNLab", "cache_ratio_pct"),
                number(paper, model, "GNNLab", "cache_hit_pct"));
    const double share = number(paper, model, "T_SOTA", "cache_ratio_pct");
    const double best = std::pow(share, 1 - skew);
    const double knowledge = (number(paper, model, "T_SOTA", "cache_hit_pct") - share) / (best - share);
    min = std::min(min, knowledge);
    max = std::max(max, knowledge);
  }
  const double share = 0.1;
  const double best = sim::hit_share({.skew = 0.9, .curves = {}}, plan::CachePolicy::optimal, share);
  const double degrees = sim::hit_share({.skew = 0.9, .curves = {}}, plan::CachePolicy::out_degree, share);
  const double knowledge = (degrees - share) / (best - share);
  EXPECT_GT(knowledge, min);
  EXPECT_LT(knowledge, max);
}

}  // namespace
}  // namespace gnomon::reproduce
