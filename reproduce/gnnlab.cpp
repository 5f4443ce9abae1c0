#include "reproduce/gnnlab.h"

#include <algorithm>
#include <cmath>

#include "profiles/catalog.h"
#include "reproduce/paper.h"
#include "reproduce/paper_profiles.h"
#include "sim/predict.h"

namespace gnomon::reproduce {
namespace {

constexpr const char* inferred_table = "tableVI, from T_SOTA's column";

/// Times of an epoch's stages.
struct EpochStages {
  double sample_s = 0;
  double extract_s = 0;
  double train_s = 0;

  double sum() const { return sample_s + extract_s + train_s; }
  double longest() const { return std::max({sample_s, extract_s, train_s}); }
};

/// A row of the table: a model on a data set.
struct Setting {
  std::string model;
  std::string dataset;

  std::string name() const { return model + "/" + dataset; }
};

std::optional<double> number(const Paper& paper, const Setting& setting, const char* system,
                             const char* metric) {
  return paper.find(
      {{"model", setting.model}, {"dataset", setting.dataset}, {"system", system}, {"metric", metric}});
}

/// None if the system ran out of memory.
std::optional<EpochStages> stages_of(const Paper& paper, const Setting& setting, const char* system) {
  const auto sample_s = number(paper, setting, system, "sample_s");
  const auto extract_s = number(paper, setting, system, "extract_s");
  const auto train_s = number(paper, setting, system, "train_s");
  if (!sample_s || !extract_s || !train_s) {
    return std::nullopt;
  }
  return EpochStages{*sample_s, *extract_s, *train_s};
}

/// The skew by T_SOTA's cache on the data set, if it holds a part of the rows; else the mean of the model's
/// other data sets.
double skew_of_features(const Paper& paper, const Setting& setting) {
  double sum = 0;
  int count = 0;
  for (const auto& dataset : paper.values("dataset", {{"model", setting.model}})) {
    const Setting other{setting.model, dataset};
    const double share = number(paper, other, "T_SOTA", "cache_ratio_pct").value_or(0) / 100;
    const double hits = number(paper, other, "T_SOTA", "cache_hit_pct").value_or(0) / 100;
    if (share <= 0 || share >= 1) {
      continue;
    }
    const double skew = skew_of(plan::CachePolicy::out_degree, share, hits);
    if (dataset == setting.dataset) {
      return skew;
    }
    sum += skew;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// The graph, with as many edges as its printed topology holds.
void set_graph(profiles::WorkloadProfile& workload, const Entry& dataset) {
  workload.graph = dataset.name;
  workload.vertices = static_cast<std::int64_t>(dataset.number("vertices", 0));
  workload.edges = edges_within(dataset.number("topology_gb", 0) * gib, workload.vertices);
  workload.feature_columns = static_cast<std::int64_t>(dataset.number("feature_dim", 0));
  workload.feature_row_bytes = 4 * workload.feature_columns;
  workload.train_vertices = static_cast<std::int64_t>(dataset.number("train_vertices", 0));
  workload.batches = static_cast<std::int64_t>(dataset.number("batches", 100));
}

/// Sets sampling and training as given; extraction reads over the link the rows that are not cached.
void set_times(profiles::WorkloadProfile& workload, const EpochStages& stages, double hits) {
  const auto n = static_cast<double>(workload.batches);
  workload.parts.device_sample_s = stages.sample_s / n;
  workload.parts.device_sample_link_s = 0;  // the topology is in device memory
  const double extract_s = (hits < 1 ? stages.extract_s / (1 - hits) : stages.extract_s) / n;
  workload.device_batch = stage_time(stages.sample_s / n + extract_s);
  workload.device_batch_link_s = hits < 1 ? extract_s : 0;
  workload.train = stage_time(stages.train_s / n);
  workload.cpu_batch = workload.device_batch;  // no plan here uses it
}

/// The machine's devices with as much memory beside the topology as `share` of the features takes.
profiles::Profile profile_of(const Paper& paper, const Setting& setting, const EpochStages& stages,
                             double share, double hits) {
  profiles::Profile profile;
  profile.machine = profiles::find_machine("gnnlab").machine;
  profile.machine.device.count = 2;
  set_graph(profile.workload,
            dataset_with(paper, setting.dataset,
                         {"vertices", "feature_dim", "topology_gb", "train_vertices", "batches"}));
  set_times(profile.workload, stages, hits);
  auto alone = plan::find_plan("t_sota");
  alone.cache.policy = plan::CachePolicy::none;
  profile.machine.device.memory_bytes.reset();
  const auto memory = sim::memory_of(profile, sim::resolve_on(profile, alone), {});
  profile.machine.device.memory_bytes = memory.device.total() + share * sim::features_bytes(profile.workload);
  return profile;
}

/// GNNLab's profile from T_SOTA's column; none if T_SOTA ran out of memory.
std::optional<profiles::Profile> from_t_sota(const Paper& paper, const Setting& setting) {
  const auto stages = stages_of(paper, setting, "T_SOTA");
  const auto share = number(paper, setting, "T_SOTA", "cache_ratio_pct");
  const auto hits = number(paper, setting, "T_SOTA", "cache_hit_pct");
  if (!stages || !share || !hits) {
    return std::nullopt;
  }
  auto profile = profile_of(paper, setting, *stages, *share / 100, *hits / 100);
  profile.workload.features.skew = skew_of_features(paper, setting);
  return profile;
}

plan::Plan one_device(plan::Plan plan) {
  plan.devices = 1;
  return plan;
}

/// One sampler and one trainer, which keep their roles (Table VI).
plan::Plan factored_plan() {
  auto plan = plan::find_plan("gnnlab");
  plan.devices = 2;
  plan.samplers = 1;
  plan.switch_roles = false;
  return plan;
}

plan::Plan without_cache(plan::Plan plan) {
  plan.cache.policy = plan::CachePolicy::none;
  return plan;
}

double epoch_from_own_stages(sim::Simulator& simulator, const Paper& paper, const Setting& setting) {
  const auto profile = profile_of(paper, setting, stages_of(paper, setting, "GNNLab").value(), 0, 0);
  return sim::predict(simulator, profile, without_cache(factored_plan())).epoch_s;
}

/// The simulated epoch of one device that runs the stages one after another.
double epoch_in_turns(sim::Simulator& simulator, const Paper& paper, const Setting& setting,
                      const EpochStages& stages) {
  const auto profile = profile_of(paper, setting, stages, 0, 0);
  return sim::predict(simulator, profile, one_device(without_cache(plan::find_plan("t_sota")))).epoch_s;
}

std::vector<Setting> settings_of(const Paper& paper) {
  std::vector<Setting> settings;
  for (const auto& model : paper.values("model", {})) {
    for (const auto& dataset : paper.values("dataset", {{"model", model}})) {
      settings.push_back({model, dataset});
    }
  }
  return settings;
}

/// Whether DGL, T_SOTA and GNNLab are in the printed order, as far as they ran.
bool orders_agree(sim::Simulator& simulator, const Paper& paper, const Setting& setting) {
  std::vector<double> printed;
  std::vector<double> predicted;
  for (const char* system : {"DGL", "T_SOTA"}) {
    if (const auto stages = stages_of(paper, setting, system)) {
      printed.push_back(stages->sum());
      predicted.push_back(epoch_in_turns(simulator, paper, setting, *stages));
    }
  }
  printed.push_back(stages_of(paper, setting, "GNNLab")->longest());
  const auto inferred = from_t_sota(paper, setting);
  predicted.push_back(inferred ? sim::predict(simulator, *inferred, factored_plan()).epoch_s
                               : epoch_from_own_stages(simulator, paper, setting));
  for (std::size_t i = 1; i < printed.size(); ++i) {
    if ((printed[i - 1] > printed[i]) != (predicted[i - 1] > predicted[i])) {
      return false;
    }
  }
  return true;
}

/// Adds the rows that follow for GNNLab from T_SOTA's column and the models of memory and cache.
void add_inferred(Report& report, sim::Simulator& simulator, const Paper& paper, const Setting& setting) {
  const auto profile = from_t_sota(paper, setting);
  if (!profile) {
    report.not_predicted.push_back(
        {"tableVI", setting.name() + " from T_SOTA's column",
         "T_SOTA has no stages or cache there; in the paper it ran out of memory"});
    return;
  }
  const auto prediction = sim::predict(simulator, *profile, factored_plan());
  const double share = prediction.memory.cached.features;
  const auto own = stages_of(paper, setting, "GNNLab");
  report.rows.push_back({inferred_table, "gnnlab_server", setting.name() + " epoch", "s",
                         own ? std::optional(own->longest()) : std::nullopt, prediction.epoch_s,
                         Measure::relative});
  report.rows.push_back({"tableVI, cache ratio", "gnnlab_server", setting.name(), "%",
                         number(paper, setting, "GNNLab", "cache_ratio_pct"), 100 * share,
                         Measure::absolute});
  report.rows.push_back(
      {"tableVI, cache hits", "gnnlab_server", setting.name(), "%",
       number(paper, setting, "GNNLab", "cache_hit_pct"),
       100 * sim::hit_share(profile->workload.features, factored_plan().cache.policy, share),
       Measure::absolute});
}

}  // namespace

Report reproduce_gnnlab(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                        const base::Progress&) {
  Paper paper = find_paper("gnnlab");
  Report report{paper.name, paper.source, "tableVI", {}, {}, {}};
  if (baselines) {
    paper = with(*baselines, std::move(paper));
    report.main_table = inferred_table;
    for (const auto& setting : settings_of(*baselines)) {
      add_inferred(report, simulator, paper, setting);
    }
    return report;
  }
  const auto settings = settings_of(paper);
  int right = 0;
  double worst = 0;
  for (const auto& setting : settings) {
    report.rows.push_back({"tableVI", "gnnlab_server", setting.name() + " GNNLab epoch from its own stages",
                           "s", stages_of(paper, setting, "GNNLab")->longest(),
                           epoch_from_own_stages(simulator, paper, setting), Measure::relative});
    worst = std::max(worst, std::abs(report.rows.back().error().value()));
  }
  for (const auto& setting : settings) {
    add_inferred(report, simulator, paper, setting);
    right += orders_agree(simulator, paper, setting) ? 1 : 0;
  }
  const auto all = static_cast<double>(settings.size());
  report.findings = {
      {"tableVI: worst factored epoch from its own stages against the longest of them (no epoch is printed)",
       "at most 10", worst * 100, "%", worst <= 0.1},
      {"tableVI: rows with DGL, T_SOTA and GNNLab in the printed order",
       "all " + std::to_string(settings.size()), static_cast<double>(right), "rows", right == all}};
  int shorter_halved = 0;
  for (const auto& setting : settings) {
    const auto t_sota = stages_of(paper, setting, "T_SOTA");
    shorter_halved += t_sota && t_sota->sum() / 2 < stages_of(paper, setting, "GNNLab")->longest() ? 1 : 0;
  }
  report.not_predicted.push_back(
      {"tableVI", "whose time the columns are",
       "the table is of two GPUs; if DGL's and T_SOTA's columns add up both, their epochs are half the sums, "
       "and T_SOTA's is shorter than GNNLab's longest stage in " +
           std::to_string(shorter_halved) + " rows"});
  report.not_predicted.push_back(
      {"tableVI", "DGL, T_SOTA", "inputs; where they ran out of memory is taken from the table"});
  report.not_predicted.push_back(
      {"tables I to V", "all", "properties of machines, data sets and samples, not times"});
  return report;
}

}  // namespace gnomon::reproduce
