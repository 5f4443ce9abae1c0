#include "reproduce/morphgl_stages.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "profiles/catalog.h"
#include "reproduce/paper_profiles.h"

namespace gnomon::reproduce {
namespace {

using base::InputError;

/// Mini-batches of an epoch of a data set without a description; the epoch's time is nearly proportional to
/// them.
constexpr double unknown_batches = 1000;
/// Cores of a machine without a description: the median ratio of cores to GPUs in clouds (Table 2).
constexpr double unknown_cores = 8;

double batches_of(const Paper& paper, const std::string& dataset) {
  const Entry* entry = paper.dataset(dataset);
  return entry == nullptr ? unknown_batches : std::max(1.0, entry->number("batches", unknown_batches));
}

/// A system's epoch in a cell, divided by its batches.
double seconds_per_batch(const Paper& paper, const MorphglCell& cell, const char* system) {
  Labels labels = cell.labels();
  labels.insert({{"system", system}, {"metric", "epoch_s"}});
  const double epoch_s = paper.at(labels);
  if (!(epoch_s > 0)) {
    throw InputError(cell.machine + " " + cell.name(), std::string(system) + "'s epoch must be above 0");
  }
  return epoch_s / batches_of(paper, cell.dataset);
}

/// GPU batching from a printed time or ratio; none where nothing is printed.
std::optional<double> printed_device_batch_s(const Paper& paper, const MorphglCell& cell) {
  Labels labels = cell.labels();
  labels["metric"] = "gpu_batching_ms_per_minibatch";
  if (const auto printed_ms = paper.find(labels)) {
    return *printed_ms / 1e3;
  }
  const Fact* ratio =
      paper.find_fact({{"metric", "initial_x"}, {"machine", cell.machine}, {"dataset", cell.dataset}});
  if (ratio == nullptr) {
    return std::nullopt;
  }
  MorphglCell printed = cell;
  printed.model = ratio->label("model");
  const double cpu_batch_s = seconds_per_batch(paper, printed, "SALIENT");
  const double both_s = seconds_per_batch(paper, printed, "DUCATI");
  return both_s - (cpu_batch_s - ratio->value * both_s);
}

/// The mean over cells for which `wanted` holds; none when it holds for no cell with a value.
std::optional<double> mean_over(const std::vector<MorphglCell>& cells,
                                const std::function<bool(const MorphglCell&)>& wanted,
                                const std::function<std::optional<double>(const MorphglCell&)>& value) {
  double sum = 0;
  int count = 0;
  for (const auto& cell : cells) {
    const auto here = wanted(cell) ? value(cell) : std::nullopt;
    sum += here.value_or(0);
    count += here ? 1 : 0;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// The part of DUCATI's time that is batching, in cells like this one.
double usual_device_share(const Paper& paper, const MorphglCell& cell) {
  const auto cells = morphgl_cells(paper);
  const auto share = [&](const MorphglCell& other) -> std::optional<double> {
    const auto device_batch_s = printed_device_batch_s(paper, other);
    return device_batch_s ? std::optional(*device_batch_s / seconds_per_batch(paper, other, "DUCATI"))
                          : std::nullopt;
  };
  const auto alike = [&](const MorphglCell& other) {
    return other.dataset == cell.dataset && other.model == cell.model;
  };
  const auto same_data = [&](const MorphglCell& other) { return other.dataset == cell.dataset; };
  const auto any = [](const MorphglCell&) { return true; };
  if (const auto mean = mean_over(cells, alike, share)) {
    return *mean;
  }
  if (const auto mean = mean_over(cells, same_data, share)) {
    return *mean;
  }
  return mean_over(cells, any, share).value_or(0.5);
}

double device_batch_s(const Paper& paper, const MorphglCell& cell, double both_s) {
  const auto printed = printed_device_batch_s(paper, cell);
  const double seconds = printed ? *printed : usual_device_share(paper, cell) * both_s;
  if (!(seconds > 0 && seconds < both_s)) {
    throw InputError(cell.machine + " " + cell.name(),
                     "the columns leave GPU batching " + std::to_string(seconds * 1e3) + " ms of DUCATI's " +
                         std::to_string(both_s * 1e3) +
                         " ms a batch; give epochs and first ratios of one and the same machine");
  }
  return seconds;
}

/// Speed of a machine's link relative to PCIe 3: each generation doubles it.
double link_speed(const Paper& paper, const std::string& machine) {
  const Entry* entry = paper.machine(machine);
  const auto pcie = entry == nullptr ? base::Json() : entry->facts.value("pcie", base::Json());
  const std::string text = pcie.is_string() ? pcie.get<std::string>() : "3";
  const int generation = text.empty() ? 3 : text.front() - '0';
  return generation >= 1 && generation <= 7 ? std::exp2(generation - 3) : 1;
}

/// Time for which a baseline keeps the link busy in each batch of a data set, if Table 5 prints it.
struct LinkUse {
  double seconds = 0;
  MorphglCell cell;  ///< where it was measured
};

std::optional<LinkUse> link_use(const Paper& paper, const std::string& dataset, const char* system) {
  const Fact* fact = paper.find_fact({{"metric", "pcie_util_pct"}, {"system", system}, {"dataset", dataset}});
  if (fact == nullptr) {
    return std::nullopt;
  }
  MorphglCell cell;
  cell.machine = fact->label("machine");
  cell.model = fact->label("model");
  cell.dataset = dataset;
  return LinkUse{fact->value / 100 * seconds_per_batch(paper, cell, system), cell};
}

/// The value for the data set or, if it has none, the mean over all data sets.
double for_dataset(const Paper& paper, const std::string& dataset,
                   const std::function<std::optional<double>(const std::string&)>& value) {
  if (const auto own = value(dataset)) {
    return *own;
  }
  double sum = 0;
  int count = 0;
  for (const auto& other : paper.values("dataset", {{"metric", "pcie_util_pct"}})) {
    const auto here = value(other);
    sum += here.value_or(0);
    count += here ? 1 : 0;
  }
  return count > 0 ? sum / count : 0;
}

double transfer_s(const Paper& paper, const MorphglCell& cell) {
  const auto seconds = [&](const std::string& dataset) -> std::optional<double> {
    const auto use = link_use(paper, dataset, "SALIENT");
    if (!use) {
      return std::nullopt;
    }
    return use->seconds * link_speed(paper, use->cell.machine) / link_speed(paper, cell.machine);
  };
  return for_dataset(paper, cell.dataset, seconds);
}

/// The part of GPU batching in which it reads over the link.
double link_share(const Paper& paper, const MorphglCell& cell) {
  const auto share = [&](const std::string& dataset) -> std::optional<double> {
    const auto use = link_use(paper, dataset, "DUCATI");
    if (!use) {
      return std::nullopt;
    }
    const double both_s = seconds_per_batch(paper, use->cell, "DUCATI");
    return std::min(1.0, use->seconds / device_batch_s(paper, use->cell, both_s));
  };
  return for_dataset(paper, cell.dataset, share);
}

/// The catalog's entry of a machine of the paper. A user's machine is unknown, even under a name of the
/// paper's.
profiles::MachineProfile machine_of(const Paper& paper, const std::string& name) {
  static const Paper own = find_paper("morphgl");
  const Entry* entry = paper.machine(name);
  const Entry* printed = own.machine(name);
  if (entry != nullptr && printed != nullptr && entry->facts == printed->facts) {
    return profiles::find_machine("morphgl-" + name).machine;
  }
  profiles::MachineProfile machine;
  machine.name = name;
  machine.device.kind = profiles::DeviceKind::cuda;
  return machine;
}

}  // namespace

std::string MorphglCell::name() const {
  return model + "/" + dataset + (device_memory_gb.empty() ? "" : "/" + device_memory_gb + " GB");
}

Labels MorphglCell::labels() const {
  Labels labels{{"machine", machine}, {"model", model}, {"dataset", dataset}};
  if (!device_memory_gb.empty()) {
    labels["device_memory_gb"] = device_memory_gb;
  }
  return labels;
}

std::vector<MorphglCell> morphgl_cells(const Paper& paper) {
  std::vector<MorphglCell> cells;
  for (const Fact& fact : paper.facts) {
    if (fact.label("system") != "DUCATI" || fact.label("metric") != "epoch_s") {
      continue;
    }
    const MorphglCell cell{fact.label("table"), fact.label("machine"), fact.label("model"),
                           fact.label("dataset"), fact.label("device_memory_gb")};
    Labels other = cell.labels();
    other.insert({{"system", "SALIENT"}, {"metric", "epoch_s"}});
    const bool known = std::any_of(cells.begin(), cells.end(), [&](const MorphglCell& earlier) {
      return earlier.labels() == cell.labels();
    });
    if (!known && paper.find_fact(other) != nullptr) {
      cells.push_back(cell);
    }
  }
  return cells;
}

MorphglStages infer_stages(const Paper& paper, const MorphglCell& cell) {
  MorphglStages stages;
  const double both_s = seconds_per_batch(paper, cell, "DUCATI");
  stages.cpu_batch_s = seconds_per_batch(paper, cell, "SALIENT");
  stages.device_batch_s = device_batch_s(paper, cell, both_s);
  stages.train_s = both_s - stages.device_batch_s;
  stages.transfer_s = transfer_s(paper, cell);
  stages.device_batch_link_s =
      std::min(stages.device_batch_s, stages.device_batch_s * link_share(paper, cell));
  return stages;
}

profiles::Profile morphgl_profile(const Paper& paper, const MorphglCell& cell,
                                  const HostContention& contention) {
  const MorphglStages stages = infer_stages(paper, cell);
  const Entry* machine = paper.machine(cell.machine);
  const Entry* dataset = paper.dataset(cell.dataset);
  const double deviation = dataset == nullptr ? 0 : dataset->number("batch_deviation_pct", 0) / 100;
  profiles::Profile profile;
  profile.machine = machine_of(paper, cell.machine);
  profile.machine.cpu.cores = std::max(
      2, static_cast<int>(machine == nullptr ? unknown_cores : machine->number("cpu_cores", unknown_cores)));
  profile.machine.contention.cpu_batch_beside_device_batch = contention.cpu_batch_beside_device_batch;
  profile.machine.contention.device_batch_beside_cpu_batch = contention.device_batch_beside_cpu_batch;
  // One core is reserved for the main process (section 5.1).
  const int workers = profile.machine.cpu.cores - 1;
  profile.workload.graph = cell.dataset;
  profile.workload.batches = static_cast<std::int64_t>(batches_of(paper, cell.dataset));
  profile.workload.cpu_batch = stage_time(stages.cpu_batch_s * workers, deviation);
  profile.workload.transfer = stage_time(stages.transfer_s, deviation);
  profile.workload.device_batch = stage_time(stages.device_batch_s, deviation);
  profile.workload.device_batch_link_s = stages.device_batch_link_s;
  profile.workload.train = stage_time(stages.train_s, deviation);
  return profile;
}

}  // namespace gnomon::reproduce
