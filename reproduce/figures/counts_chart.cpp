#include "reproduce/figures/counts_chart.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sim/costs/cache.h"
#include "sim/costs/memory.h"

namespace gnomon::reproduce {
namespace {

/// The survey's names of the policies.
constexpr std::array<std::pair<std::string_view, plan::CachePolicy>, 3> policies{
    {{"Degree", plan::CachePolicy::out_degree},
     {"PreSC", plan::CachePolicy::presample},
     {"Optimal", plan::CachePolicy::optimal}}};

using profiles::WorkloadProfile;

/// Calls `hits` for each policy that was measured, and for a cache of random rows, whose hits are its share.
template <class Hits>
std::vector<ChartSeries> series_of(const WorkloadProfile& workload, const std::vector<double>& places,
                                   const Hits& hits) {
  std::vector<ChartSeries> all{{"Random", false, {}}};
  for (const double x : places) {
    all.front().points.push_back({x, hits(x, [](double share) { return share; })});
  }
  for (const auto& [name, policy] : policies) {
    const auto& curves = workload.features.curves;
    if (std::none_of(curves.begin(), curves.end(),
                     [wanted = policy](const auto& curve) { return curve.policy == wanted; })) {
      continue;
    }
    auto& series = all.emplace_back(ChartSeries{std::string(name), false, {}});
    for (const double x : places) {
      series.points.push_back({x, hits(x, [&, wanted = policy](double share) {
                                 return sim::hit_share(workload.features, wanted, share);
                               })});
    }
  }
  if (all.size() == 1) {
    throw base::InputError("workload.features.curves",
                           "has no hit curves; write the profile with gnomon profile");
  }
  return all;
}

Chart hit_curves(const WorkloadProfile& workload) {
  Chart chart;
  chart.series = series_of(workload, {1, 2, 3, 5, 7, 10, 15, 20, 25, 30},
                           [](double percent, const auto& hits) { return 100 * hits(percent / 100); });
  return chart;
}

Chart hits_of_a_tenth(const WorkloadProfile& workload) {
  Chart chart;
  chart.categories = {workload.graph};
  chart.series = series_of(workload, {0}, [](double, const auto& hits) { return 100 * hits(0.1); });
  return chart;
}

Chart missed_bytes(const WorkloadProfile& workload) {
  constexpr double cached_share = 0.1;  // of the rows, with 100 columns
  constexpr double table_columns = 100;
  Chart chart;
  chart.series = series_of(workload, {100, 300, 500, 700, 900}, [&](double columns, const auto& hits) {
    const double batch_bytes = workload.batch_vertices * columns * sim::value_bytes;
    return batch_bytes * (1 - hits(cached_share * table_columns / columns)) / 1e6;
  });
  return chart;
}

Chart overlap(const WorkloadProfile& workload) {
  if (!workload.features.overlap) {
    throw base::InputError("workload.features.overlap", "is missing; write the profile with gnomon profile");
  }
  Chart chart;
  chart.categories = {workload.graph};
  chart.series = {{"all vertices", false, {{0, 100 * workload.features.overlap->all}}},
                  {"the most used tenth", false, {{0, 100 * workload.features.overlap->tenth}}}};
  return chart;
}

using DrawCounts = Chart (*)(const WorkloadProfile&);
constexpr std::array<std::pair<std::string_view, DrawCounts>, 4> count_charts{
    {{"hit_curves", hit_curves},
     {"hits_of_a_tenth", hits_of_a_tenth},
     {"missed_bytes", missed_bytes},
     {"overlap", overlap}}};

}  // namespace

std::optional<Chart> counts_chart(std::string_view measure, const WorkloadProfile& workload) {
  for (const auto& [name, draw] : count_charts) {
    if (name == measure) {
      return draw(workload);
    }
  }
  return std::nullopt;
}

}  // namespace gnomon::reproduce
