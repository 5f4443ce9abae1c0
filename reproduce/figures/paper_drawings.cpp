#include <algorithm>
#include <cmath>

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

}  // namespace

Chart draw_neutronorch_pipelining(const DrawingContext& context) {
  Chart chart;
  auto predicted = series("epoch");
  auto printed = series("epoch", true);
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
  const std::vector<std::pair<std::string, EpochParts>> placements{
      {"both on the CPU", {sample_s + collect_s, copy_s, train_s}},
      {"gathering on the GPU", {sample_s, 0, copy_s + train_s}},
      {"sampling on the GPU", {collect_s, copy_s, gpu_sample_s + train_s}},
      {"both on the GPU", {0, 0, gpu_sample_s + copy_s + train_s}}};
  const double batches = std::ceil(context.paper.dataset("Reddit")->number("train_vertices", 0) / 1024);
  Chart chart;
  chart.series = {series("GPU use, %"), series("CPU use, %"), series("epoch, s")};
  for (const auto& [name, parts] : placements) {
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(name);
    const auto prediction =
        sim::predict(context.simulator, profile_of(parts, batches), one_worker(plan::Schedule::sequential));
    chart.series[0].points.push_back({x, 100 * prediction.device_utilisation});
    chart.series[1].points.push_back({x, 100 * prediction.cpu_utilisation});
    chart.series[2].points.push_back({x, prediction.epoch_s});
  }
  return chart;
}

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
