#include <algorithm>
#include <optional>
#include <utility>

#include "reproduce/figures/drawings.h"
#include "reproduce/morphgl.h"
#include "reproduce/morphgl_stages.h"
#include "reproduce/paper_profiles.h"
#include "sim/costs/memory.h"

namespace gnomon::reproduce {
namespace {

/// A chart of one number for each category, predicted and, where there is one, printed.
class Beside {
 public:
  explicit Beside(std::string name)
      : predicted_{std::move(name), false, {}}, printed_{predicted_.name, true, {}} {}

  void add(const std::string& category, double predicted, const std::optional<double>& printed) {
    const auto x = static_cast<double>(chart_.categories.size());
    chart_.categories.push_back(category);
    predicted_.points.push_back({x, predicted});
    if (printed) {
      printed_.points.push_back({x, *printed});
    }
  }

  Chart chart() && {
    chart_.series = {std::move(predicted_)};
    if (!printed_.points.empty()) {
      chart_.series.push_back(std::move(printed_));
    }
    return std::move(chart_);
  }

 private:
  Chart chart_;
  ChartSeries predicted_;
  ChartSeries printed_;
};

/// Calls `each` with every cell of Table 4 and the dispatcher's result.
template <class Each>
void dispatch_all(const DrawingContext& context, const Each& each) {
  const auto cells = morphgl_cells(context.paper);
  std::int64_t done = 0;
  for (const auto& cell : cells) {
    base::report(context.progress, "dispatching", done++, std::ssize(cells));
    const auto profile = morphgl_profile(context.paper, cell, fitted_contention);
    each(cell, profile, predict_morphgl(context.simulator, profile));
  }
}

std::string name_of(const MorphglCell& cell) { return cell.machine + " " + cell.name(); }

}  // namespace

Chart draw_morphgl_sizes(const DrawingContext& context) {
  Beside sizes("size");
  constexpr double id_bytes = 8;
  for (const auto& dataset : context.paper.values("dataset", {{"table", "table3"}})) {
    const auto number = [&](const char* metric) {
      return context.paper.at({{"table", "table3"}, {"dataset", dataset}, {"metric", metric}});
    };
    profiles::WorkloadProfile workload;
    workload.vertices = static_cast<std::int64_t>(number("nodes"));
    workload.feature_row_bytes = 2 * static_cast<std::int64_t>(number("feature_dim"));
    sizes.add(dataset + " topology", id_bytes * (number("edges") + number("nodes") + 1) / gib,
              number("topology_gb"));
    sizes.add(dataset + " features", sim::features_bytes(workload) / gib, number("feature_gb"));
  }
  return std::move(sizes).chart();
}

Chart draw_morphgl_rounds(const DrawingContext& context) {
  Beside rounds("rounds");
  dispatch_all(context, [&](const MorphglCell& cell, const profiles::Profile&,
                            const tuner::DispatcherResult& dispatched) {
    rounds.add(name_of(cell), dispatched.rounds, std::nullopt);
  });
  return std::move(rounds).chart();
}

Chart draw_morphgl_cpu_shares(const DrawingContext& context) {
  Beside shares("CPU's share");
  dispatch_all(context, [&](const MorphglCell& cell, const profiles::Profile& profile,
                            const tuner::DispatcherResult& dispatched) {
    if (cell.model == "GraphSAGE") {  // section 5.5 speaks of it alone
      shares.add(name_of(cell),
                 100 * static_cast<double>(dispatched.best.prediction.cpu_batches) /
                     static_cast<double>(profile.workload.batches),
                 std::nullopt);
    }
  });
  return std::move(shares).chart();
}

Chart draw_morphgl_device_memory(const DrawingContext& context) {
  // The rows have metrics of their own, so that Table 4's cells do not count them.
  Paper limited = context.paper;
  constexpr std::string_view prefix = "limited_";
  for (auto& fact : limited.facts) {
    if (fact.label("metric").starts_with(prefix)) {
      fact.labels["metric"] = fact.label("metric").substr(prefix.size());
    }
  }
  Chart chart;
  chart.series = {{"MorphGL", false, {}}, {"SALIENT", true, {}}, {"DUCATI", true, {}}};
  for (const auto& cell : morphgl_cells(limited)) {
    if (cell.device_memory_gb.empty()) {
      continue;
    }
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(cell.device_memory_gb + " GB");
    const auto profile = morphgl_profile(limited, cell, fitted_contention);
    chart.series[0].points.push_back(
        {x, predict_morphgl(context.simulator, profile).best.prediction.epoch_s});
    for (const std::size_t i : {1, 2}) {
      Labels labels = cell.labels();
      labels.insert({{"system", chart.series[i].name}, {"metric", "epoch_s"}});
      chart.series[i].points.push_back({x, limited.at(labels)});
    }
  }
  return chart;
}

Chart draw_morphgl_preprocessing(const DrawingContext& context) {
  Beside profiling("profiling");
  ChartSeries epochs{"MorphGL's epoch", false, {}};
  const double wanted = context.paper.at({{"claim", "profiled_batches"}});
  for (const auto& cell : morphgl_cells(context.paper)) {
    Labels labels = cell.labels();
    labels["metric"] = "preprocessing_s";
    if (const auto printed = context.paper.find(labels)) {
      const auto stages = infer_stages(context.paper, cell);
      const double batches = std::min(wanted, context.paper.dataset(cell.dataset)->number("batches", wanted));
      profiling.add(
          name_of(cell),
          batches * (stages.cpu_batch_s + stages.transfer_s + stages.device_batch_s + stages.train_s),
          printed);
      const auto profile = morphgl_profile(context.paper, cell, fitted_contention);
      epochs.points.push_back({static_cast<double>(epochs.points.size()),
                               predict_morphgl(context.simulator, profile).best.prediction.epoch_s});
    }
  }
  Chart chart = std::move(profiling).chart();
  chart.series.push_back(std::move(epochs));
  return chart;
}

Chart draw_morphgl_epochs(const DrawingContext& context, const std::string& machine) {
  Chart chart;
  chart.series = {{"MorphGL", false, {}}, {"MorphGL", true, {}}, {"SALIENT", true, {}}, {"DUCATI", true, {}}};
  for (const auto& cell : morphgl_cells(context.paper)) {
    if (cell.machine != machine) {
      continue;
    }
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(cell.name());
    const auto profile = morphgl_profile(context.paper, cell, fitted_contention);
    chart.series[0].points.push_back(
        {x, predict_morphgl(context.simulator, profile).best.prediction.epoch_s});
    for (const std::size_t i : {1, 2, 3}) {
      Labels labels = cell.labels();
      labels.insert({{"system", chart.series[i].name}, {"metric", "epoch_s"}});
      chart.series[i].points.push_back({x, context.paper.at(labels)});
    }
  }
  return chart;
}

Chart draw_morphgl_buffer(const DrawingContext& context) {
  Chart chart;
  chart.series = {{"buffer", false, {}}};
  for (const double batches : {1, 2, 5, 10, 20, 32, 64}) {
    chart.series[0].points.push_back({batches, batches * context.paper.at({{"claim", "batch_mb"}}) / 1e3});
  }
  return chart;
}

}  // namespace gnomon::reproduce
