#include "reproduce/neutronorch.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reproduce/neutronorch_profile.h"
#include "reproduce/paper.h"
#include "reproduce/paper_profiles.h"
#include "sim/costs/costs.h"
#include "sim/predict.h"

namespace gnomon::reproduce {
namespace {

/// The printed epoch of a setting in a user's rows: of those with as many layers and batches as large; a row
/// that does not say has the usual ones.
std::optional<double> given_epoch_s(const Paper& given, const NeutronorchSetting& setting) {
  const auto agrees = [](const Fact& fact, const char* label, int wanted) {
    const std::string text = fact.label(label);
    return text.empty() || text == std::to_string(wanted);
  };
  for (const Fact& fact : given.facts) {
    if (fact.label("system") == "NeutronOrch" && fact.label("dataset") == setting.dataset &&
        fact.label("metric") == "epoch_s" && agrees(fact, "layers", setting.layers) &&
        agrees(fact, "batch_size", setting.batch_size)) {
      return fact.value;
    }
  }
  return std::nullopt;
}

plan::Plan neutronorch_plan() { return plan::find_plan("neutronorch"); }

/// The epoch if all stages of the plan ran one after another.
double one_after_another_s(const profiles::Profile& profile, const plan::Plan& plan) {
  const auto resolved = sim::resolve_on(profile, plan);
  const auto costs = sim::costs_of_plan(profile, resolved).costs;
  const auto batches = static_cast<double>(profile.workload.batches);
  return batches * (costs.device_batch_s + costs.train_s) +
         std::ceil(batches / plan.super_batch) *
             (costs.group_prepare_s / resolved.workers + costs.group_transfer_s);
}

/// The plan whose CPU computes the bottom layer of all vertices of each batch.
plan::Plan with_layers_split(plan::Plan plan) {
  plan.embeddings.hot_ratio = 1;
  plan.super_batch = 1;
  return plan;
}

/// Mean speed-ups of L over DGL, of H over L and of S over H over the data sets of Table 2.
std::array<double, 3> effects(sim::Simulator& simulator, const Paper& paper, const plan::Plan& plan) {
  std::array<double, 3> sums{};
  const auto datasets = paper.values("dataset", {{"table", "table2"}});
  for (const auto& dataset : datasets) {
    const auto profile = neutronorch_profile(paper, {.dataset = dataset});
    plan::Plan baseline;
    baseline.name = "one after another";
    baseline.workers = 1;
    auto dgl = profile;  // what Table 2 adds up: the CPU as a whole prepares one batch at a time
    dgl.workload.cpu_batch = stage_time(profile.workload.cpu_batch.mean_s / (profile.machine.cpu.cores - 1));
    dgl.workload.parts.cpu_sample_s.reset();
    const double dgl_s = sim::predict(simulator, dgl, baseline).epoch_s;
    const double split_s = one_after_another_s(profile, with_layers_split(plan));
    const double reuse_s = one_after_another_s(profile, plan);
    sums[0] += dgl_s / split_s;
    sums[1] += split_s / reuse_s;
    sums[2] += reuse_s / sim::predict(simulator, profile, plan).epoch_s;
  }
  for (double& sum : sums) {
    sum /= static_cast<double>(datasets.size());
  }
  return sums;
}

struct Effect {
  const char* claim;
  const char* cell;
};
constexpr std::array<Effect, 3> known_effects{{{"gain_L", "layer split over DGL"},
                                               {"gain_H", "hot embeddings over that"},
                                               {"gain_S", "super-batches over that"}}};

/// Adds the rows of the effects and returns the worst error.
double add_effects(Report& report, sim::Simulator& simulator, const Paper& paper, const plan::Plan& plan,
                   const std::string& table) {
  const auto gains = effects(simulator, paper, plan);
  double worst = 0;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    report.rows.push_back({table, "aliyun_single", known_effects[i].cell, "x",
                           paper.at({{"claim", known_effects[i].claim}}), gains[i], Measure::relative});
    worst = std::max(worst, std::abs(report.rows.back().error().value()));
  }
  return worst;
}

/// Whether NeutronOrch is faster than the systems than which it was printed to be faster, and slower than the
/// rest.
bool order_is_right(const Paper& paper, const NeutronorchSetting& setting, double printed, double predicted) {
  for (const char* system : {"DGL", "PaGraph", "DGL-UVA", "GNNLab", "GAS"}) {
    const auto other = neutronorch_epoch_s(paper, setting, system);
    if (other && (*other > printed) != (*other > predicted)) {
      return false;
    }
  }
  return true;
}

/// Adds a table's rows of one data set, from the shortest epoch to the longest, and counts those that are
/// longer than the one before and in the printed order.
class Rising {
 public:
  Rising(Report& report, sim::Simulator& simulator, const Paper& paper, std::string table)
      : report_(report), simulator_(simulator), paper_(paper), table_(std::move(table)) {}

  void add(const NeutronorchSetting& setting, const std::string& cell) {
    if (!neutronorch_growth(paper_, setting)) {
      report_.not_predicted.push_back({table_, cell, "every baseline ran out of memory"});
      return;
    }
    const auto printed = neutronorch_epoch_s(paper_, setting, "NeutronOrch");
    const double predicted =
        sim::predict(simulator_, neutronorch_profile(paper_, setting), neutronorch_plan()).epoch_s;
    report_.rows.push_back(
        {table_, "aliyun_single", cell + " NeutronOrch", "s", printed, predicted, Measure::relative});
    if (printed) {
      const bool rises = setting.dataset != last_dataset_ || predicted > last_s_;
      right_ += rises && order_is_right(paper_, setting, *printed, predicted) ? 1 : 0;
      ++rows_;
    }
    last_dataset_ = setting.dataset;
    last_s_ = predicted;
  }

  Finding finding(const std::string& what) const {
    return {table_ + ": " + what, "all " + std::to_string(rows_), static_cast<double>(right_), "rows",
            right_ == rows_};
  }

 private:
  Report& report_;
  sim::Simulator& simulator_;
  const Paper& paper_;
  std::string table_;
  std::string last_dataset_;
  double last_s_ = 0;
  int right_ = 0;
  int rows_ = 0;
};

void add_depths(Report& report, sim::Simulator& simulator, const Paper& paper) {
  Rising rising(report, simulator, paper, "table6");
  for (const auto& dataset : paper.values("dataset", {{"table", "table6"}})) {
    for (const int layers : {3, 4, 5}) {
      rising.add({.dataset = dataset, .layers = layers}, dataset + ", " + std::to_string(layers) + " layers");
    }
  }
  report.findings.push_back(
      rising.finding("rows that grow with depth and have the printed order of systems"));
}

void add_batch_sizes(Report& report, sim::Simulator& simulator, const Paper& paper) {
  Rising rising(report, simulator, paper, "table7");
  for (const auto& dataset : paper.values("dataset", {{"table", "table7"}})) {
    for (const int size : {10000, 4096, 256}) {
      rising.add({.dataset = dataset, .batch_size = size}, dataset + ", batches of " + std::to_string(size));
    }
  }
  report.findings.push_back(
      rising.finding("rows that grow with smaller batches and have the printed order of systems"));
}

}  // namespace

Report reproduce_neutronorch(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                             const base::Progress&) {
  Paper paper = find_paper("neutronorch");
  Report report{paper.name, paper.source, "table6", {}, {}, {}};
  if (baselines) {
    paper = with(*baselines, std::move(paper));
    report.main_table = given_table;
    for (const auto& dataset : baselines->values("dataset", {{"system", "DGL"}})) {
      const auto predicted =
          sim::predict(simulator, neutronorch_profile(paper, {.dataset = dataset}), neutronorch_plan());
      report.rows.push_back({given_table, "aliyun_single", dataset + " NeutronOrch", "s",
                             given_epoch_s(*baselines, {.dataset = dataset}), predicted.epoch_s,
                             Measure::relative});
    }
    return report;
  }
  const double worst = add_effects(report, simulator, paper, neutronorch_plan(), "figure13");
  report.findings.push_back(
      {"figure13: worst of the three mean effects, with super-batches of 16, which are fitted to them",
       "at most 15", worst * 100, "%", worst <= 0.15});
  auto shorter = neutronorch_plan();
  shorter.super_batch = 4;
  const double worst_shorter = add_effects(report, simulator, paper, shorter, "figure13, super-batches of 4");
  report.findings.push_back(
      {"figure13: worst of the three mean effects, with super-batches of 4 (the paper prints "
       "no length)",
       "at most 15", worst_shorter * 100, "%", worst_shorter <= 0.15});
  add_depths(report, simulator, paper);
  add_batch_sizes(report, simulator, paper);
  report.not_predicted.insert(
      report.not_predicted.end(),
      {{"table6, table7", "DGL, PaGraph, DGL-UVA, GNNLab, GAS", "inputs: the baselines' columns"},
       {"table7", "batches of 1,024", "table6's rows of three layers"},
       {"figures 12, 14 to 17", "several GPUs, memory, utilisation, accuracy",
        "no baseline's stage times are printed for them"}});
  return report;
}

}  // namespace gnomon::reproduce
