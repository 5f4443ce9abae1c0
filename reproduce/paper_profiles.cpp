#include "reproduce/paper_profiles.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "kernels/cpu/sample/topology.h"
#include "profiles/catalog.h"
#include "reproduce/morphgl_stages.h"
#include "reproduce/neutronorch_profile.h"
#include "sim/costs/cache.h"
#include "sim/costs/memory.h"

namespace gnomon::reproduce {
namespace {

constexpr std::string_view morphgl_prefix = "morphgl/";
constexpr std::string_view neutronorch_prefix = "neutronorch/";

std::vector<std::string> neutronorch_datasets(const Paper& paper) {
  return paper.values("dataset", {{"table", "table2"}});
}

std::string name_of(const MorphglCell& cell) {
  return std::string(morphgl_prefix) + cell.machine + "/" + cell.model + "/" + cell.dataset;
}

/// Those of Table 4: others limit the device's memory.
std::vector<MorphglCell> whole_cells(const Paper& paper) {
  auto cells = morphgl_cells(paper);
  std::erase_if(cells, [](const MorphglCell& cell) { return !cell.device_memory_gb.empty(); });
  return cells;
}

}  // namespace

profiles::StageTime stage_time(double mean_s, double deviation) {
  profiles::StageTime time;
  time.mean_s = mean_s;
  time.deviation_s = mean_s * deviation;
  return time;
}

std::int64_t edges_within(double topology_bytes, std::int64_t vertices) {
  profiles::WorkloadProfile workload;
  workload.vertices = vertices;
  const double left = topology_bytes - sim::topology_bytes(workload);  // row pointers
  return static_cast<std::int64_t>(
      std::max(0.0, left / static_cast<double>(kernels::cpu::index_bytes(vertices))));
}

const Entry& dataset_with(const Paper& paper, const std::string& name,
                          std::initializer_list<const char*> keys) {
  const Entry* entry = paper.dataset(name);
  for (const char* key : keys) {
    if (entry == nullptr || entry->number(key, 0) <= 0) {
      throw base::InputError("datasets: \"" + name + "\"", std::string("has no ") + key + " above 0");
    }
  }
  return *entry;
}

double baseline_at(const Paper& paper, const Labels& wanted, const std::string& what) {
  if (const auto value = paper.find(wanted)) {
    return *value;
  }
  std::string labels;
  for (const auto& [name, value] : wanted) {
    labels += (labels.empty() ? "" : ", ") + name + " " + value;
  }
  throw base::InputError(what, "needs a row with " + labels);
}

double skew_of(plan::CachePolicy policy, double share, double hits) {
  double least = 0;
  double most = 0.999;
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (sim::hit_share({.skew = middle, .curves = {}}, policy, share) < hits ? least : most) = middle;
  }
  return (least + most) / 2;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& cell : whole_cells(find_paper("morphgl"))) {
    names.push_back(name_of(cell));
  }
  for (const auto& dataset : neutronorch_datasets(find_paper("neutronorch"))) {
    names.push_back(std::string(neutronorch_prefix) + dataset);
  }
  return names;
}

profiles::Profile find_profile(const std::string& name) {
  if (std::filesystem::exists(std::filesystem::path(name) / "meta.json")) {
    throw base::InputError("PROFILE", "\"" + name +
                                          "\" is a graph store; profile it first (gnomon profile), or let "
                                          "tune measure it (tune --device cpu)");
  }
  if (name.starts_with(morphgl_prefix)) {
    const Paper paper = find_paper("morphgl");
    for (const auto& cell : whole_cells(paper)) {
      if (name_of(cell) == name) {
        return morphgl_profile(paper, cell, fitted_contention);
      }
    }
  }
  if (name.starts_with(neutronorch_prefix)) {
    const Paper paper = find_paper("neutronorch");
    for (const auto& dataset : neutronorch_datasets(paper)) {
      if (neutronorch_prefix.size() + dataset.size() == name.size() && name.ends_with(dataset)) {
        return neutronorch_profile(paper, {.dataset = dataset});
      }
    }
  }
  if (base::names_file(name)) {
    return profiles::read_profile(name);
  }
  throw base::InputError("PROFILE", base::unknown_name(name, profile_names(), "a profile file"));
}

}  // namespace gnomon::reproduce
