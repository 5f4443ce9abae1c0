#include <algorithm>
#include <array>

#include "base/error.h"
#include "reproduce/figures/drawings.h"
#include "sim/costs/cache.h"
#include "sim/costs/memory.h"

/// What a profile of the user's graph shows.
namespace gnomon::reproduce {
namespace {

/// The survey's names of the policies.
constexpr std::array<std::pair<std::string_view, plan::CachePolicy>, 3> policies{
    {{"Degree", plan::CachePolicy::out_degree},
     {"PreSC", plan::CachePolicy::presample},
     {"Optimal", plan::CachePolicy::optimal}}};

const profiles::WorkloadProfile& workload_of(const DrawingContext& context) {
  if (context.measured == nullptr) {
    throw base::InputError("--profile", "is missing; give a profile that gnomon profile wrote");
  }
  return context.measured->workload;
}

/// Calls `hits` for each policy that was measured, and for a cache of random rows, whose hits are its share.
template <class Hits>
std::vector<ChartSeries> series_of(const profiles::WorkloadProfile& workload,
                                   const std::vector<double>& places, const Hits& hits) {
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
    throw base::InputError("--profile", "has no hit curves; write it with gnomon profile");
  }
  return all;
}

}  // namespace

Chart draw_hit_curves(const DrawingContext& context) {
  Chart chart;
  chart.series = series_of(workload_of(context), {1, 2, 3, 5, 7, 10, 15, 20, 25, 30},
                           [](double percent, const auto& hits) { return 100 * hits(percent / 100); });
  return chart;
}

Chart draw_hits_of_a_tenth(const DrawingContext& context) {
  Chart chart;
  const auto& workload = workload_of(context);
  chart.categories = {workload.graph};
  chart.series = series_of(workload, {0}, [](double, const auto& hits) { return 100 * hits(0.1); });
  return chart;
}

Chart draw_missed_bytes(const DrawingContext& context) {
  const auto& workload = workload_of(context);
  constexpr double cached_share = 0.1;  // of the rows, with 100 columns
  constexpr double narrow = 100;
  Chart chart;
  chart.series = series_of(workload, {100, 300, 500, 700, 900}, [&](double columns, const auto& hits) {
    const double batch_bytes = workload.batch_vertices * columns * sim::value_bytes;
    return batch_bytes * (1 - hits(cached_share * narrow / columns)) / 1e6;
  });
  return chart;
}

}  // namespace gnomon::reproduce
