#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "plan/plan.h"
#include "profiles/catalog.h"
#include "reproduce/figures/drawings.h"
#include "reproduce/neutronorch_profile.h"
#include "reproduce/paper_profiles.h"
#include "sim/predict.h"

namespace gnomon::reproduce {
namespace {

ChartSeries epochs(std::string name, bool printed = false) { return {std::move(name), printed, {}}; }

/// What a worker, the copies and the GPU do in an epoch, in seconds.
struct EpochParts {
  double worker_s = 0;
  double copy_s = 0;
  double device_s = 0;
};

/// The profile of such an epoch on NeutronOrch's machine. Whether a batch fits in its memory is not known.
profiles::Profile profile_of(const EpochParts& epoch, double batches) {
  profiles::Profile profile;
  profile.machine = profiles::find_machine("neutronorch-single").machine;
  profile.machine.device.memory_bytes.reset();
  auto& workload = profile.workload;
  workload.batches = static_cast<std::int64_t>(batches);
  workload.cpu_batch = stage_time(epoch.worker_s / batches);
  workload.transfer = stage_time(epoch.copy_s / batches);
  workload.train = stage_time(epoch.device_s / batches);
  workload.device_batch = workload.cpu_batch;  // no plan here uses it
  return profile;
}

plan::Plan one_worker(plan::Schedule schedule) {
  plan::Plan plan;
  plan.name = "one worker";
  plan.schedule = schedule;
  plan.workers = 1;
  return plan;
}

/// The parts of Reddit's epoch by where it samples and gathers.
std::vector<std::pair<std::string, EpochParts>> placements_of(const DrawingContext& context) {
  const auto number = [&](const char* metric) {
    return context.paper.at({{"table", "table2"}, {"dataset", "Reddit"}, {"metric", metric}});
  };
  const auto sampling_s = [&](const char* config) {
    return context.paper.at({{"table", "table3"}, {"config", config}, {"metric", "sample_s"}});
  };
  const double sample_s = number("sample_s");
  const double collect_s = number("gather_collect_s");
  const double copy_s = number("gather_transfer_s");
  const double train_s = number("total_s") - sample_s - collect_s - copy_s;
  const double gpu_sample_s = sample_s * sampling_s("GPU-based sampling") / sampling_s("CPU-based sampling");
  return {{"both on the CPU", {sample_s + collect_s, copy_s, train_s}},
          {"gathering on the GPU", {sample_s, 0, copy_s + train_s}},
          {"sampling on the GPU", {collect_s, copy_s, gpu_sample_s + train_s}},
          {"both on the GPU", {0, 0, gpu_sample_s + copy_s + train_s}}};
}

/// Calls `each` with the x and the prediction of every placement, one step after another, and adds its name
/// to the categories.
template <class Each>
void predict_placements(const DrawingContext& context, Chart& chart, const Each& each) {
  const double batches = std::ceil(context.paper.dataset("Reddit")->number("train_vertices", 0) / 1024);
  for (const auto& [name, parts] : placements_of(context)) {
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(name);
    each(x,
         sim::predict(context.simulator, profile_of(parts, batches), one_worker(plan::Schedule::sequential)));
  }
}

constexpr std::array<const char*, 5> other_systems{"DGL", "PaGraph", "DGL-UVA", "GNNLab", "GAS"};
constexpr std::array<int, 3> depths{3, 4, 5};

std::string name_of_depth(int layers) { return std::to_string(layers) + " layers"; }

/// NeutronOrch's predicted epoch; none if no baseline's epoch gives the growth with depth.
std::optional<double> predicted_epoch_s(const DrawingContext& context, const NeutronorchSetting& setting) {
  if (!neutronorch_growth(context.paper, setting)) {
    return std::nullopt;
  }
  return sim::predict(context.simulator, neutronorch_profile(context.paper, setting),
                      plan::find_plan("neutronorch"))
      .epoch_s;
}

/// The mean of the other systems' epochs over NeutronOrch's; none if it or all of them have none.
std::optional<double> mean_speed_up(const DrawingContext& context, const NeutronorchSetting& setting) {
  const auto own = predicted_epoch_s(context, setting);
  double sum = 0;
  int count = 0;
  for (const char* system : other_systems) {
    if (const auto epoch_s = neutronorch_epoch_s(context.paper, setting, system); own && epoch_s) {
      sum += *epoch_s / *own;
      ++count;
    }
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace

Chart draw_neutronorch_pipelining(const DrawingContext& context) {
  Chart chart;
  auto predicted = epochs("epoch");
  auto printed = epochs("epoch", true);
  const double vertices = context.paper.dataset("Reddit")->number("train_vertices", 0);
  const double batches = std::ceil(vertices / 10000);
  for (const bool gpu : {false, true}) {
    const std::string config = gpu ? "GPU-based sampling" : "CPU-based sampling";
    const auto number = [&](const char* metric) {
      return context.paper.at({{"table", "table3"}, {"config", config}, {"metric", metric}});
    };
    const double sample_s = number("sample_s");
    const EpochParts parts = gpu ? EpochParts{number("gather_s"), 0, number("train_s") + sample_s}
                                 : EpochParts{sample_s, number("gather_s"), number("train_s")};
    const auto profile = profile_of(parts, batches);
    for (const bool pipelined : {false, true}) {
      const auto plan = one_worker(pipelined ? plan::Schedule::pipelined : plan::Schedule::sequential);
      const auto x = static_cast<double>(chart.categories.size());
      chart.categories.push_back(std::string(gpu ? "GPU samples" : "CPU samples") +
                                 (pipelined ? ", pipelined" : ""));
      predicted.points.push_back({x, sim::predict(context.simulator, profile, plan).epoch_s});
      printed.points.push_back({x, number(pipelined ? "pipelined_total_s" : "total_s")});
    }
  }
  chart.series = {predicted, printed};
  return chart;
}

Chart draw_neutronorch_placements(const DrawingContext& context) {
  Chart chart;
  chart.series = {epochs("GPU use"), epochs("CPU use")};
  predict_placements(context, chart, [&](double x, const sim::Prediction& prediction) {
    chart.series[0].points.push_back({x, 100 * prediction.device_utilisation});
    chart.series[1].points.push_back({x, 100 * prediction.cpu_utilisation});
  });
  return chart;
}

Chart draw_neutronorch_placement_epochs(const DrawingContext& context) {
  Chart chart;
  chart.series = {epochs("epoch")};
  predict_placements(context, chart, [&](double x, const sim::Prediction& prediction) {
    chart.series[0].points.push_back({x, prediction.epoch_s});
  });
  return chart;
}

Chart draw_neutronorch_depth(const DrawingContext& context, const std::string& dataset) {
  Chart chart;
  chart.series = {epochs("NeutronOrch"), epochs("NeutronOrch", true)};
  for (const char* system : other_systems) {
    chart.series.push_back(epochs(system, true));
  }
  for (const int layers : depths) {
    const NeutronorchSetting setting{.dataset = dataset, .layers = layers};
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(name_of_depth(layers));
    const auto add = [x](ChartSeries& series, const std::optional<double>& epoch_s) {
      if (epoch_s) {
        series.points.push_back({x, *epoch_s});
      }
    };
    const auto predicted = predicted_epoch_s(context, setting);
    if (!predicted) {
      chart.missing.push_back("NeutronOrch, " + name_of_depth(layers) + ": every baseline ran out of memory");
    }
    add(chart.series[0], predicted);
    for (std::size_t i = 1; i < chart.series.size(); ++i) {
      add(chart.series[i], neutronorch_epoch_s(context.paper, setting, chart.series[i].name.c_str()));
    }
  }
  std::erase_if(chart.series, [](const ChartSeries& series) { return series.points.empty(); });
  return chart;
}

Chart draw_neutronorch_depth_means(const DrawingContext& context) {
  Chart chart;
  chart.series = {epochs("Products"), epochs("Wikipedia"), epochs("mean of both graphs")};
  for (const int layers : depths) {
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(name_of_depth(layers));
    double sum = 0;
    int graphs = 0;
    for (const std::size_t i : {0, 1}) {
      if (const auto mean = mean_speed_up(context, {.dataset = chart.series[i].name, .layers = layers})) {
        chart.series[i].points.push_back({x, *mean});
        sum += *mean;
        ++graphs;
      }
    }
    chart.series[2].points.push_back({x, sum / graphs});
  }
  return chart;
}

}  // namespace gnomon::reproduce
