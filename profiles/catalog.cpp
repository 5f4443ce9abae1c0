#include "profiles/catalog.h"

#include <algorithm>

#include "base/error.h"
#include "profiles/catalog_files.h"

namespace gnomon::profiles {
namespace {

bool is_host(const MachineProfile& machine) { return machine.device.kind == DeviceKind::host; }

double device_bandwidth(const MachineProfile& machine) {
  return is_host(machine) ? machine.cpu.memory_bandwidth_bytes_per_s
                          : machine.device.memory_bandwidth_bytes_per_s;
}

/// 1 where either is not known.
double ratio(double over, double under) { return over > 0 && under > 0 ? over / under : 1; }

void scale(StageTime& time, double factor) {
  for (double StageTime::*part : {&StageTime::mean_s, &StageTime::deviation_s, &StageTime::p5_s,
                                  &StageTime::p50_s, &StageTime::p95_s, &StageTime::interval_s}) {
    time.*part *= factor;
  }
}

void set_mean(StageTime& time, double mean_s) {
  if (time.mean_s > 0) {
    scale(time, mean_s / time.mean_s);
  } else {
    time.mean_s = mean_s;
  }
}

/// Seconds over the link of the new machine for what took `before_s` over that of the old one, or for the
/// bytes of a batch.
double link_s(const Profile& old, const MachineProfile& machine, double before_s) {
  const double bandwidth = machine.link.bandwidth_bytes_per_s;
  if (is_host(old.machine)) {
    const double assumed = bandwidth > 0 ? bandwidth : old.machine.cpu.copy_bandwidth_bytes_per_s;
    return assumed > 0 ? old.workload.batch_bytes / assumed : before_s;
  }
  return before_s * ratio(old.machine.link.bandwidth_bytes_per_s, bandwidth);
}

bool is_told(const Contention& contention) {
  return base::write_value(contention) != base::write_value(Contention{});
}

}  // namespace

std::vector<CatalogMachine> catalog() {
  std::vector<CatalogMachine> machines;
  for (const auto& [file, text] : catalog_files()) {
    const std::string where = "profiles/catalog/" + std::string(file);
    machines.push_back(base::from_document<CatalogMachine>(base::parse_json(text, where), where));
  }
  std::sort(machines.begin(), machines.end(),
            [](const CatalogMachine& a, const CatalogMachine& b) { return a.name < b.name; });
  return machines;
}

CatalogMachine find_machine(const std::string& name) {
  if (name.ends_with(".json")) {
    return base::read_document<CatalogMachine>(name);
  }
  std::string names;
  for (auto& machine : catalog()) {
    if (machine.name == name) {
      return std::move(machine);
    }
    names += (names.empty() ? "" : ", ") + machine.name;
  }
  throw base::InputError("--machine", "\"" + name + "\" is not known; use a .json file or one of " + names);
}

Profile on_machine(Profile profile, const MachineProfile& machine) {
  const Profile old = profile;
  auto& workload = profile.workload;
  const double computing = ratio(device_bandwidth(old.machine), device_bandwidth(machine));
  const double computed_s = (old.workload.device_batch.mean_s - old.workload.device_batch_link_s) * computing;
  scale(workload.train, computing);
  if (is_host(machine)) {
    workload.device_batch_link_s = 0;
    workload.transfer = {};
  } else {
    workload.device_batch_link_s = link_s(old, machine, old.workload.device_batch_link_s);
    workload.parts.device_sample_link_s *=
        ratio(workload.device_batch_link_s, old.workload.device_batch_link_s);
    set_mean(workload.transfer, link_s(old, machine, old.workload.transfer.mean_s));
  }
  workload.parts.device_sample_s *=
      ratio(computed_s + workload.device_batch_link_s, old.workload.device_batch.mean_s);
  set_mean(workload.device_batch, computed_s + workload.device_batch_link_s);
  profile.machine = machine;
  profile.corrections.reset();
  if (machine.cpu.copy_bandwidth_bytes_per_s == 0) {
    profile.machine.cpu.copy_bandwidth_bytes_per_s = old.machine.cpu.copy_bandwidth_bytes_per_s;
  }
  if (!is_told(machine.contention)) {
    profile.machine.contention = old.machine.contention;
  }
  return profile;
}

}  // namespace gnomon::profiles
