#include "reproduce/ducati.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "profiles/catalog.h"
#include "reproduce/paper.h"
#include "reproduce/paper_profiles.h"
#include "sim/predict.h"

namespace gnomon::reproduce {
namespace {

/// Columns of the two feature widths that the table has.
constexpr double narrow = 128;
constexpr double wide = 256;

constexpr std::int64_t batches = 100;  ///< of a simulated epoch; an iteration is one of them

struct Setting {
  std::string dataset;
  std::string fanouts;
  std::string columns;

  std::string name() const { return dataset + "/" + fanouts + "+" + columns; }
};

Labels labels_of(const Setting& setting, const char* system) {
  return {{"dataset", setting.dataset},
          {"fanouts", setting.fanouts},
          {"feature_dim", setting.columns},
          {"system", system}};
}

std::optional<double> iteration_ms(const Paper& paper, const Setting& setting, const char* system) {
  return paper.find(labels_of(setting, system));
}

double baseline_ms(const Paper& paper, const Setting& setting, const char* system) {
  return baseline_at(paper, labels_of(setting, system), "ducati: " + setting.name());
}

std::vector<Setting> settings_of(const Paper& paper) {
  std::vector<Setting> settings;
  for (const auto& dataset : paper.values("dataset", {{"system", "DGL"}})) {
    for (const auto& fanouts : paper.values("fanouts", {{"dataset", dataset}})) {
      for (const char* columns : {"128", "256"}) {
        settings.push_back({dataset, fanouts, columns});
      }
    }
  }
  return settings;
}

/// DGL's line through both widths.
struct Line {
  double at_no_width_ms = 0;
  double ms_per_column = 0;
};

Line dgl_line(const Paper& paper, const Setting& setting) {
  const double at_narrow = baseline_ms(paper, {setting.dataset, setting.fanouts, "128"}, "DGL");
  const double at_wide = baseline_ms(paper, {setting.dataset, setting.fanouts, "256"}, "DGL");
  const double a_column = (at_wide - at_narrow) / (wide - narrow);
  return {at_narrow - narrow * a_column, a_column};
}

void set_graph(profiles::WorkloadProfile& workload, const Entry& dataset, const std::string& columns) {
  workload.graph = dataset.name;
  workload.vertices = static_cast<std::int64_t>(dataset.number("vertices", 0));
  workload.edges = edges_within(dataset.number("topology_gb", 0) * gib, workload.vertices);
  workload.feature_columns = std::stoll(columns);
  workload.feature_row_bytes = static_cast<std::int64_t>(
      dataset.number(("feature_gb_" + columns).c_str(), 0) * gib / static_cast<double>(workload.vertices));
  workload.batches = batches;
}

/// The row's profile, given the share of adjacency list reads in the time that no feature cache reduces.
profiles::Profile profile_of(const Paper& paper, const Setting& setting, double adjacency_share) {
  profiles::Profile profile;
  profile.machine = profiles::find_machine("ducati").machine;
  auto& workload = profile.workload;
  const auto feature_bytes = "feature_gb_" + setting.columns;
  set_graph(workload,
            dataset_with(paper, setting.dataset, {"vertices", "topology_gb", feature_bytes.c_str()}),
            setting.columns);

  const Line line = dgl_line(paper, setting);
  const double features_ms = line.ms_per_column * static_cast<double>(workload.feature_columns);
  const double sota_ms = baseline_ms(paper, setting, "SOTA");
  const double hits = std::clamp(1 - (sota_ms - line.at_no_width_ms) / features_ms, 0.0, 1.0);
  const double rest_ms = sota_ms - features_ms * (1 - hits);
  const double adjacency_s = adjacency_share * rest_ms / 1e3;
  workload.parts.device_sample_s = workload.parts.device_sample_link_s = adjacency_s;
  workload.device_batch = stage_time(adjacency_s + features_ms / 1e3);
  workload.device_batch_link_s = workload.device_batch.mean_s;
  workload.train = stage_time((1 - adjacency_share) * rest_ms / 1e3);
  workload.cpu_batch = workload.device_batch;  // no plan here uses it

  auto sota = plan::find_plan("sota");
  sota.cache.policy = plan::CachePolicy::none;
  const double room = profile.machine.device.memory_bytes.value() -
                      sim::memory_of(profile, sim::resolve_on(profile, sota), {}).device.total();
  workload.features.skew =
      skew_of(plan::CachePolicy::presample, std::min(1.0, room / sim::features_bytes(workload)), hits);
  workload.topology.skew =
      skew_of(plan::CachePolicy::presample,
              paper.at({{"claim", "adj_hot_gb"}}) / paper.at({{"claim", "adj_total_gb"}}),
              paper.at({{"claim", "adj_hot_access"}}) / 100);
  return profile;
}

double simulate_ms(sim::Simulator& simulator, const profiles::Profile& profile) {
  return sim::predict(simulator, profile, plan::find_plan("ducati")).epoch_s / batches * 1e3;
}

/// The share with which the simulated iteration takes the printed time.
double share_of_adjacency(sim::Simulator& simulator, const Paper& paper, const Setting& setting,
                          double printed_ms) {
  double least = 0.001;
  double most = 0.999;
  for (int i = 0; i < 20; ++i) {
    const double middle = (least + most) / 2;
    (simulate_ms(simulator, profile_of(paper, setting, middle)) > printed_ms ? least : most) = middle;
  }
  return (least + most) / 2;
}

/// Mean of the rows with the same fanouts on *other* data sets. Throws InputError if there is none.
double share_by_others(const std::map<std::string, double>& shares, const std::vector<Setting>& settings,
                       const Setting& setting) {
  double sum = 0;
  int count = 0;
  for (const auto& other : settings) {
    const auto share = shares.find(other.name());
    if (other.dataset != setting.dataset && other.fanouts == setting.fanouts && share != shares.end()) {
      sum += share->second;
      ++count;
    }
  }
  if (count == 0) {
    throw base::InputError("ducati: " + setting.name(),
                           "no other data set has the fanouts; use 2,2,2 or 15,10,5");
  }
  return sum / count;
}

/// Whether DGL, SOTA and DUCATI are in the printed order.
bool order_is_right(const Paper& paper, const Setting& setting, double predicted) {
  const double dgl = baseline_ms(paper, setting, "DGL");
  const double sota = baseline_ms(paper, setting, "SOTA");
  const double printed = iteration_ms(paper, setting, "DUCATI").value();
  return (sota > predicted) == (sota > printed) && (dgl > predicted) == (dgl > printed);
}

}  // namespace

profiles::Profile ducati_profile(const Paper& paper, const std::string& dataset, const std::string& fanouts,
                                 const std::string& columns) {
  constexpr double any_share = 0.5;
  return profile_of(paper, {dataset, fanouts, columns}, any_share);
}

Report reproduce_ducati(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                        const base::Progress& progress) {
  const Paper own = find_paper("ducati");
  const Paper paper = baselines ? with(*baselines, own) : own;
  Report report{paper.name, paper.source, baselines ? given_table : "tableVIII", {}, {}, {}};
  const auto settings = settings_of(own);
  std::map<std::string, double> shares;
  for (const auto& setting : settings) {
    base::report(progress, "simulating", static_cast<std::int64_t>(shares.size()),
                 static_cast<std::int64_t>(settings.size()));
    if (const auto printed = iteration_ms(own, setting, "DUCATI")) {
      shares[setting.name()] = share_of_adjacency(simulator, own, setting, *printed);
    }
  }
  int right = 0;
  double printed_gains = 0;
  double gains = 0;
  for (const auto& setting : baselines ? settings_of(*baselines) : settings) {
    const double share = share_by_others(shares, settings, setting);
    const double predicted = simulate_ms(simulator, profile_of(paper, setting, share));
    const auto printed = iteration_ms(paper, setting, "DUCATI");
    report.rows.push_back({report.main_table, "ducati_machine", setting.name() + " DUCATI", "ms", printed,
                           predicted, Measure::relative});
    if (printed) {
      const double sota_ms = baseline_ms(paper, setting, "SOTA");
      printed_gains += sota_ms / *printed / static_cast<double>(shares.size());
      gains += sota_ms / predicted / static_cast<double>(shares.size());
      right += order_is_right(paper, setting, predicted) ? 1 : 0;
    }
  }
  if (baselines) {
    return report;
  }
  report.rows.push_back({"tableVIII, mean of its rows", "ducati_machine", "speed-up over SOTA", "x",
                         printed_gains, gains, Measure::relative});
  report.findings = {{"tableVIII: rows with DGL, SOTA and DUCATI in the printed order",
                      "90 % of " + std::to_string(shares.size()), static_cast<double>(right), "rows",
                      right * 10 >= std::ssize(shares) * 9},
                     {"tableVIII: mean speed-up over SOTA", "within 10 % of the printed rows'", gains, "x",
                      std::abs(gains / printed_gains - 1) <= 0.1}};
  report.not_predicted = {{"tableVIII", "DGL, SOTA", "inputs: the baselines' columns"},
                          {"tableVII", "all", "sizes of data sets, not times"}};
  return report;
}

}  // namespace gnomon::reproduce
