#include "profiles/catalog.h"
#include "reproduce/ducati.h"
#include "reproduce/figures/drawings.h"
#include "reproduce/hanoi.h"
#include "reproduce/paper_profiles.h"
#include "sim/costs/memory.h"
#include "sim/costs/zero_copy.h"
#include "sim/predict.h"

namespace gnomon::reproduce {
namespace {

ChartSeries series(std::string name, bool printed = false) { return {std::move(name), printed, {}}; }

}  // namespace

Chart draw_hanoi_sizes(const DrawingContext& context) {
  Chart chart;
  auto predicted = series("size");
  auto printed = series("size", true);
  for (const auto& dataset : context.paper.values("dataset", {{"table", "table4.4"}})) {
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(dataset);
    const auto size = [&](const char* metric) {
      return context.paper.find({{"table", "table4.4"}, {"dataset", dataset}, {"metric", metric}});
    };
    predicted.points.push_back({x, hanoi_dataset_bytes(context.paper, dataset) / 1e9});
    printed.points.push_back({x, size("size_gb") ? *size("size_gb") : size("size_mb").value() / 1e3});
  }
  chart.series = {predicted, printed};
  return chart;
}

Chart draw_hanoi_degrees(const DrawingContext& context) {
  Chart chart;
  auto predicted = series("edges of a vertex");
  auto printed = series("edges of a vertex", true);
  for (const auto& dataset : context.paper.values("dataset", {{"table", "table4.3"}})) {
    const auto degree = [&](const char* parts) {
      return context.paper.at({{"table", "table4.3"}, {"dataset", dataset}, {"parts", parts}});
    };
    for (const char* parts : {"8", "16"}) {
      const auto x = static_cast<double>(chart.categories.size());
      chart.categories.push_back(dataset + ", 1/" + parts);
      predicted.points.push_back({x, degree("1") / std::stod(parts)});
      printed.points.push_back({x, degree(parts)});
    }
  }
  chart.series = {predicted, printed};
  return chart;
}

Chart draw_zero_copy(const DrawingContext& context) {
  const auto link = profiles::find_machine("pytorch-direct").machine.link;
  const double whole_lines = 1024;  // a row of whole lines is read at the printed share
  const double printed_pct = context.paper.at({{"claim", "zero_copy_whole_lines_pct"}});
  const double scale = printed_pct / sim::zero_copy_bandwidth(whole_lines, true, link);
  Chart chart;
  chart.series = {series("shifted"), series("naive")};
  for (double row_bytes = whole_lines; row_bytes <= 1044; row_bytes += 4) {
    chart.series[0].points.push_back({row_bytes, scale * sim::zero_copy_bandwidth(row_bytes, true, link)});
    chart.series[1].points.push_back({row_bytes, scale * sim::zero_copy_bandwidth(row_bytes, false, link)});
  }
  return chart;
}

Chart draw_gnnlab_memory(const DrawingContext& context) {
  const Entry* papers = context.paper.dataset("PA");
  const Labels cell{{"model", "GCN"}, {"dataset", "PA"}, {"system", "T_SOTA"}, {"metric", "cache_ratio_pct"}};
  const double memory_gb = context.paper.machine("gnnlab_server")->number("gpu_memory_gb", 0);
  const auto share = [&](double gb) { return ChartPoint{0, 100 * gb / memory_gb}; };
  Chart chart;
  chart.categories = {"PA"};
  chart.series = {series("topology"), series("cached features"), series("both")};
  const double topology_gb = papers->number("topology_gb", 0);
  const double cached_gb = context.paper.at(cell) / 100 * papers->number("feature_gb", 0);
  chart.series[0].points = {share(topology_gb)};
  chart.series[1].points = {share(cached_gb)};
  chart.series[2].points = {share(topology_gb + cached_gb)};
  return chart;
}

Chart draw_ducati_shares(const DrawingContext&) {
  const Paper paper = find_paper("ducati");
  Chart chart;
  chart.series = {series("sampling and training"), series("rows of 128 columns")};
  for (const char* dataset : {"PA", "TW"}) {
    for (const char* fanouts : {"2,2,2", "15,10,5"}) {
      const auto x = static_cast<double>(chart.categories.size());
      chart.categories.push_back(std::string(dataset) + " " + fanouts);
      const auto ms = [&](const char* columns) {
        return paper.at(
            {{"dataset", dataset}, {"fanouts", fanouts}, {"feature_dim", columns}, {"system", "DGL"}});
      };
      const double rows_ms = ms("256") - ms("128");  // of 128 columns more
      chart.series[0].points.push_back({x, ms("128") - rows_ms});
      chart.series[1].points.push_back({x, rows_ms});
    }
  }
  return chart;
}

Chart draw_ducati_feature_cache(const DrawingContext& context) {
  const auto profile = ducati_profile(context.paper, "PA", "15,10,5", "128");
  auto plan = plan::find_plan("sota");
  const double room = sim::predict(context.simulator, profile, plan).memory.cached.features *
                      sim::features_bytes(profile.workload);
  Chart chart;
  chart.series = {series("iteration")};
  for (double bytes = 0; bytes <= room; bytes += 0.25e9) {
    plan.cache.budget = bytes / room;
    const auto prediction = sim::predict(context.simulator, profile, plan);
    chart.series[0].points.push_back(
        {bytes / 1e9, 1e3 * prediction.epoch_s / static_cast<double>(profile.workload.batches)});
  }
  return chart;
}

}  // namespace gnomon::reproduce
