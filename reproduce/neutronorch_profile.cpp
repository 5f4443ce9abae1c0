#include "reproduce/neutronorch_profile.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "profiles/catalog.h"
#include "reproduce/paper_profiles.h"

namespace gnomon::reproduce {
namespace {

/// What Tables 2 and 4 are of (section 5.1).
constexpr int usual_layers = 3;
constexpr int usual_batch_size = 1024;

/// Of one data set's epoch by DGL (Table 2), in seconds.
struct DglEpoch {
  double sample_s = 0;
  double collect_s = 0;
  double transfer_s = 0;
  double train_s = 0;
};

DglEpoch dgl_epoch(const Paper& paper, const std::string& dataset) {
  const auto number = [&](const char* metric) {
    return baseline_at(paper, {{"system", "DGL"}, {"dataset", dataset}, {"metric", metric}},
                       "neutronorch: " + dataset);
  };
  DglEpoch dgl{number("sample_s"), number("gather_collect_s"), number("gather_transfer_s"), 0};
  dgl.train_s = number("total_s") - dgl.sample_s - dgl.collect_s - dgl.transfer_s;
  return dgl;
}

double mean_skew() {
  const Paper paper = find_paper("gnnlab");
  double sum = 0;
  int count = 0;
  for (const Fact& fact : paper.facts) {
    if (fact.label("system") == "GNNLab" && fact.label("metric") == "cache_ratio_pct" && fact.value < 100) {
      Labels labels = fact.labels;
      labels["metric"] = "cache_hit_pct";
      sum += skew_of(plan::CachePolicy::presample, fact.value / 100, paper.at(labels) / 100);
      ++count;
    }
  }
  return sum / count;
}

void set_job(plan::Job& job, const NeutronorchSetting& setting, int hidden) {
  job.model = plan::ModelKind::gcn;
  job.fanouts = {25, 10, 5};
  job.fanouts.resize(static_cast<std::size_t>(setting.layers), 5);
  job.batch_size = setting.batch_size;
  job.hidden = hidden;
}

/// Batches, and the vertices and edges of one, in which all vertices are as likely.
void set_size(profiles::WorkloadProfile& workload) {
  const std::int64_t seeds = workload.job.batch_size;
  workload.batches = (workload.train_vertices + seeds - 1) / seeds;
  auto frontier = static_cast<double>(seeds);
  double visits = frontier;
  for (const int fanout : workload.job.fanouts) {
    frontier *= fanout;
    visits += frontier;
    workload.batch_edges += frontier;
  }
  const auto vertices = static_cast<double>(workload.vertices);
  workload.batch_vertices = vertices * -std::expm1(-visits / vertices);
}

/// No more rows than the link can carry in the time of a printed transfer.
void limit_size(profiles::WorkloadProfile& workload, double transfer_s) {
  const double bandwidth =
      profiles::find_machine("neutronorch-multi").machine.link.bandwidth_bytes_per_s.value();
  const auto row_bytes = static_cast<double>(workload.feature_row_bytes);
  workload.batch_vertices = std::min(workload.batch_vertices, transfer_s * bandwidth / row_bytes);
  workload.batch_bytes = workload.batch_vertices * row_bytes;
}

void set_graph(profiles::WorkloadProfile& workload, const Entry& dataset) {
  const auto integer = [&](const char* key) { return static_cast<std::int64_t>(dataset.number(key, 0)); };
  workload.graph = dataset.name;
  workload.vertices = integer("vertices");
  workload.edges = integer("edges");
  workload.feature_columns = integer("feature_dim");
  workload.feature_row_bytes = 4 * workload.feature_columns;
  workload.train_vertices = integer("train_vertices");
}

void set_times(profiles::WorkloadProfile& workload, const DglEpoch& dgl, double bottom_share,
               double gpu_sampling, int workers) {
  workload.cpu_batch = stage_time((dgl.sample_s + dgl.collect_s) * workers);
  workload.parts.cpu_sample_s = dgl.sample_s * workers;
  workload.parts.refresh_s = (bottom_share * dgl.sample_s + dgl.collect_s) * workers;
  workload.transfer = stage_time(dgl.transfer_s);
  const double device_sample_s = dgl.sample_s / gpu_sampling;
  workload.parts.device_sample_s = device_sample_s;
  workload.device_batch = stage_time(device_sample_s + dgl.transfer_s);
  workload.device_batch_link_s = dgl.transfer_s;
  workload.parts.device_sample_link_s = 0;  // the GPU samples in its own memory
  workload.train = stage_time(dgl.train_s);
}

}  // namespace

std::optional<double> neutronorch_epoch_s(const Paper& paper, const NeutronorchSetting& setting,
                                          const char* system) {
  Labels labels{{"dataset", setting.dataset}, {"system", system}, {"metric", "epoch_s"}};
  if (setting.batch_size == usual_batch_size) {
    labels.insert({{"table", "table6"}, {"layers", std::to_string(setting.layers)}});
  } else {
    labels.insert({{"table", "table7"}, {"batch_size", std::to_string(setting.batch_size)}});
  }
  return paper.find(labels);
}

std::optional<double> neutronorch_growth(const Paper& paper, const NeutronorchSetting& setting) {
  if (setting.layers == usual_layers && setting.batch_size == usual_batch_size) {
    return 1;
  }
  for (const char* system : {"DGL", "DGL-UVA"}) {
    const auto usual = neutronorch_epoch_s(paper, {.dataset = setting.dataset}, system);
    const auto here = neutronorch_epoch_s(paper, setting, system);
    if (usual && here) {
      return *here / *usual;
    }
  }
  return std::nullopt;
}

profiles::Profile neutronorch_profile(const Paper& paper, const NeutronorchSetting& setting) {
  const Entry& entry = dataset_with(paper, setting.dataset,
                                    {"vertices", "edges", "feature_dim", "hidden_dim", "train_vertices"});
  const auto growth = neutronorch_growth(paper, setting);
  if (!growth) {
    throw base::InputError("neutronorch: " + setting.dataset,
                           "no baseline ran it with " + std::to_string(setting.layers) +
                               " layers and batches of " + std::to_string(setting.batch_size));
  }
  profiles::Profile profile;
  profile.machine = profiles::find_machine("neutronorch-single").machine;
  profile.machine.device.memory_bytes.reset();  // whether a batch fits is unknown without its true size
  auto& workload = profile.workload;
  set_graph(workload, entry);
  set_job(workload.job, setting, static_cast<int>(entry.number("hidden_dim", 0)));
  set_size(workload);
  workload.features.skew = workload.topology.skew = mean_skew();

  const double a_batch = *growth / static_cast<double>(workload.batches);
  DglEpoch dgl = dgl_epoch(paper, setting.dataset);
  for (double DglEpoch::*part :
       {&DglEpoch::sample_s, &DglEpoch::collect_s, &DglEpoch::transfer_s, &DglEpoch::train_s}) {
    dgl.*part *= a_batch;
  }
  limit_size(workload, dgl.transfer_s);
  const auto sampling_s = [&](const char* config) {
    return paper.at({{"table", "table3"}, {"config", config}, {"metric", "sample_s"}});
  };
  const auto claim = "bottom_share_" + std::to_string(setting.layers) + "l";
  set_times(workload, dgl, paper.at({{"claim", claim}}) / 100,
            sampling_s("CPU-based sampling") / sampling_s("GPU-based sampling"),
            profile.machine.cpu.cores - 1);
  return profile;
}

}  // namespace gnomon::reproduce
