#include "profiles/catalog.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/names.h"
#include "profiles/catalog_files.h"
#include "profiles/data_sheet.h"
#include "profiles/scale_times.h"

namespace gnomon::profiles {
namespace {

bool is_host(const MachineProfile& machine) { return machine.device.kind == DeviceKind::host; }

using Known = std::optional<double>;

Known device_bandwidth(const MachineProfile& machine) {
  return plan::runs_on_cores(machine.device.kind) ? machine.cpu.memory_bandwidth_bytes_per_s
                                                  : machine.device.memory_bandwidth_bytes_per_s;
}

/// 1 if either is unknown.
double ratio(const Known& over, const Known& under) { return over && under ? *over / *under : 1; }

/// Kernel launch time of machines that do not specify it.
constexpr double usual_launch_s = 5e-6;

void set_mean(StageTime& time, double mean_s) {
  if (time.mean_s > 0) {
    scale(time, mean_s / time.mean_s);
  } else {
    time.mean_s = mean_s;
  }
}

/// Time over the new machine's link for a copy that took `before_s` over the old machine's link, or for the
/// bytes of a batch.
double link_s(const Profile& old, const MachineProfile& machine, double before_s) {
  const Known bandwidth = machine.link.bandwidth_bytes_per_s;
  if (is_host(old.machine)) {
    const Known assumed = bandwidth ? bandwidth : old.machine.cpu.copy_bandwidth_bytes_per_s;
    return assumed ? old.workload.batch_bytes / *assumed : before_s;
  }
  return before_s * ratio(old.machine.link.bandwidth_bytes_per_s, bandwidth);
}

bool is_told(const Contention& contention) {
  return base::write_value(contention) != base::write_value(Contention{});
}

}  // namespace

LaunchesOfBatch launches_of_batch(plan::ModelKind model, int layers) {
  LaunchesOfBatch launches{.preparing = 6 + 6 * layers, .training = 6 + 9 * layers};
  if (model == plan::ModelKind::gcn) {
    launches.preparing += 1;  // for the degrees
  } else if (model == plan::ModelKind::gat) {
    launches.training = 13 + 7 * layers;
  }
  return launches;
}

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

CatalogMachine read_machine(const std::filesystem::path& path) {
  auto machine = base::read_document<CatalogMachine>(path);
  if (machine.speeds) {
    check(*machine.speeds, path.string() + ": speeds");
  }
  return machine;
}

CatalogMachine find_machine(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (auto& machine : catalog()) {
    if (machine.name == name) {
      return std::move(machine);
    }
    names.push_back(machine.name);
  }
  if (base::names_file(name)) {
    return read_machine(name);
  }
  throw base::InputError(where, base::unknown_name(name, names, "a machine file"));
}

namespace {

/// "933 to 600 GB/s".
std::string change_text(double before_per_s, double after_per_s) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g to %.4g GB/s", before_per_s / 1e9, after_per_s / 1e9);
  return text;
}

/// A text with the two bandwidths that scale a time, or with the one that is unknown. `what`: "link
/// bandwidth".
std::string reason_of(const char* what, const Known& before, const Known& after) {
  if (before && after) {
    return std::string(what) + " " + change_text(*before, *after);
  }
  return std::string(what) + " of the " +
         (before  ? "new"
          : after ? "measured"
                  : "measured and of the new") +
         " machine is unknown";
}

class Move {
 public:
  Move(const Profile& old, const MachineProfile& machine)
      : old_(old),
        machine_(machine),
        moved_{old, {}},
        computing_(ratio(bandwidth_of(old.machine), bandwidth())) {}

  MovedProfile run() {
    keep("cpu_batch", "no specification gives a core's speed");
    move_transfer();
    move_device_batch();
    move_train();
    forget_intervals();
    move_machine();
    keep_above_data_sheets();
    return std::move(moved_);
  }

 private:
  static Known bandwidth_of(const MachineProfile& machine) { return device_bandwidth(machine); }
  Known bandwidth() const { return device_bandwidth(machine_); }
  WorkloadProfile& workload() { return moved_.profile.workload; }

  void keep(const char* stage, std::string reason) {
    moved_.scalings.push_back({stage, std::nullopt, false, std::move(reason)});
  }
  void tell(const char* stage, double before_s, double after_s, std::string reason, bool is_scaled) {
    if (is_scaled && before_s > 0) {
      moved_.scalings.push_back({stage, after_s / before_s, false, std::move(reason)});
    } else if (is_scaled && after_s > 0) {
      moved_.scalings.push_back({stage, std::nullopt, true, std::move(reason)});
    } else {
      keep(stage, std::move(reason));
    }
  }

  bool computing_is_known() const { return bandwidth_of(old_.machine) && bandwidth(); }
  std::string computing_reason() const {
    return reason_of("device memory bandwidth", bandwidth_of(old_.machine), bandwidth());
  }

  const Known& old_link() const { return old_.machine.link.bandwidth_bytes_per_s; }
  const Known& new_link() const { return machine_.link.bandwidth_bytes_per_s; }
  /// Bandwidth of the link of the new machine if the profile was measured on a host device.
  Known first_link() const { return new_link() ? new_link() : old_.machine.cpu.copy_bandwidth_bytes_per_s; }
  bool link_is_known() const {
    return is_host(old_.machine) ? first_link().has_value() : old_link() && new_link();
  }
  std::string link_reason() const {
    if (!is_host(old_.machine)) {
      return reason_of("link bandwidth", old_link(), new_link());
    }
    if (!first_link()) {
      return "link bandwidth of the new machine is unknown, and so is one core's copy bandwidth";
    }
    char text[96];
    std::snprintf(text, sizeof text, "a batch's bytes over %s of %.4g GB/s",
                  new_link() ? "the new link" : "an unknown link, at one core's copy bandwidth",
                  *first_link() / 1e9);
    return text;
  }

  void move_transfer() {
    const double before_s = old_.workload.transfer.mean_s;
    if (is_host(machine_)) {
      workload().transfer = {};
      keep("transfer", "a host device copies nothing");
      return;
    }
    set_mean(workload().transfer, link_s(old_, machine_, before_s));
    tell("transfer", before_s, workload().transfer.mean_s, link_reason(), link_is_known());
  }

  /// Raises a time on the new device to at least the launch time of its kernels and notes this in `reason`,
  /// unless the measured GPU took less than that itself.
  void keep_above_launches(StageTime& time, const StageTime& before, std::int64_t launches,
                           std::string& reason) const {
    if (plan::runs_on_cores(machine_.device.kind) || before.mean_s == 0) {
      return;
    }
    const auto kernels = static_cast<double>(launches);
    const double launch_s = machine_.device.launch_s.value_or(usual_launch_s);
    const double min_s = plan::runs_on_cores(old_.machine.device.kind)
                             ? kernels * launch_s
                             : std::min(kernels * launch_s, before.mean_s);
    if (time.mean_s < min_s) {
      set_mean(time, min_s);
      char text[64];
      std::snprintf(text, sizeof text, "; not below %.0f kernel launches of %.3g us", kernels,
                    launch_s * 1e6);
      reason += text;
    }
  }

  void move_train() {
    const auto& before = old_.workload.train;
    auto& train = workload().train;
    scale(train, computing_);
    std::string reason = computing_reason();
    keep_above_launches(train, before,
                        launches_of_batch(old_.workload.job.model, old_.workload.job.layers()).training,
                        reason);
    tell("train", before.mean_s, train.mean_s, std::move(reason),
         computing_is_known() || train.mean_s != before.mean_s);
  }

  void move_device_batch() {
    const WorkloadProfile& before = old_.workload;
    auto& parts = workload().parts;
    const double computed_s = (before.device_batch.mean_s - before.device_batch_link_s) * computing_;
    if (is_host(machine_)) {
      workload().device_batch_link_s = 0;
      parts.device_sample_link_s = 0;
    } else {
      workload().device_batch_link_s = link_s(old_, machine_, before.device_batch_link_s);
      if (is_host(old_.machine)) {  // sampling had no share of a link
        parts.device_sample_link_s.reset();
      } else if (before.device_batch_link_s > 0) {
        scale(parts.device_sample_link_s, workload().device_batch_link_s / before.device_batch_link_s);
      }
    }
    set_mean(workload().device_batch, computed_s + workload().device_batch_link_s);
    const bool uses_link = before.device_batch_link_s > 0 || workload().device_batch_link_s > 0;
    const bool drops_link = before.device_batch_link_s > 0 && is_host(machine_);
    std::string reason = computing_reason();
    if (drops_link) {
      reason += "; a host device has no link";
    } else if (uses_link) {
      reason += "; " + link_reason();
    }
    keep_above_launches(workload().device_batch, before.device_batch,
                        launches_of_batch(old_.workload.job.model, old_.workload.job.layers()).preparing,
                        reason);
    const double device_batch_s = workload().device_batch.mean_s;
    if (before.device_batch.mean_s > 0) {
      scale(parts.device_sample_s, device_batch_s / before.device_batch.mean_s);
    }
    tell("device_batch", before.device_batch.mean_s, device_batch_s, std::move(reason),
         computing_is_known() || drops_link || (uses_link && link_is_known()) ||
             device_batch_s != before.device_batch.mean_s);
  }

  /// They say how precisely the stages were measured, not how well bandwidths tell another machine's times.
  void forget_intervals() {
    for (StageTime WorkloadProfile::*time : {&WorkloadProfile::cpu_batch, &WorkloadProfile::transfer,
                                             &WorkloadProfile::device_batch, &WorkloadProfile::train}) {
      (workload().*time).interval_s = 0;
      (workload().*time).converged = false;
    }
  }

  void move_machine() {
    Profile& profile = moved_.profile;
    profile.machine = machine_;
    profile.corrections.reset();
    profile.learned.reset();
    profile.prediction_error.reset();
    profile.machine_speeds.reset();
    if (profile.workload.evaluation) {
      profile.workload.evaluation->time_s.reset();  // it was not measured there
    }
    if (!machine_.cpu.copy_bandwidth_bytes_per_s) {
      profile.machine.cpu.copy_bandwidth_bytes_per_s = old_.machine.cpu.copy_bandwidth_bytes_per_s;
    }
    if (!is_told(machine_.contention)) {
      profile.machine.contention = old_.machine.contention;
    }
  }

  void keep_above_data_sheets() {
    const auto bounds = data_sheet_bounds(moved_.profile);
    if (bounds) {
      keep_above("transfer", workload().transfer, bounds->transfer_s);
      keep_above("device_batch", workload().device_batch, bounds->device_batch_s);
      keep_above("train", workload().train, bounds->train_s);
    }
  }

  /// Raises the time to the bound, and notes the bound beside the factor.
  void keep_above(const char* stage, StageTime& time, double bound_s) {
    for (StageScaling& scaling : moved_.scalings) {
      if (scaling.stage == stage && bound_s > 0 && time.mean_s > 0) {
        if (!scaling.is_new) {  // else it may be nothing but these bytes
          scaling.bound_s = bound_s;
        }
        if (time.mean_s < bound_s) {
          const double raise = bound_s / time.mean_s;
          set_mean(time, bound_s);
          scaling.factor = scaling.is_new ? std::nullopt : std::optional(scaling.factor.value_or(1) * raise);
        }
      }
    }
  }

  const Profile& old_;
  const MachineProfile& machine_;
  MovedProfile moved_;
  double computing_;
};

}  // namespace

MovedProfile move_to_machine(const Profile& profile, const MachineProfile& machine) {
  return Move(profile, machine).run();
}

Profile on_machine(const Profile& profile, const MachineProfile& machine) {
  return move_to_machine(profile, machine).profile;
}

MovedBy moved_by(std::span<const StageScaling> scalings) {
  bool by_speeds = false;
  bool by_bandwidths = false;
  for (const auto& scaling : scalings) {
    by_speeds = by_speeds || scaling.interval.has_value();
    by_bandwidths = by_bandwidths || (!scaling.interval && (scaling.factor || scaling.is_new));
  }
  return scalings.empty() ? MovedBy::nothing
         : !by_speeds     ? MovedBy::bandwidths
         : by_bandwidths  ? MovedBy::both
                          : MovedBy::speeds;
}

std::string text_of(const StageScaling& scaling) {
  char bound[64] = "";
  if (scaling.bound_s) {
    std::snprintf(bound, sizeof bound, "; at least %.3g ms by data sheets", 1e3 * *scaling.bound_s);
  }
  const auto reason = scaling.reason + bound + ")";
  if (!scaling.factor) {
    return scaling.stage + (scaling.is_new ? " added (" : " kept (") + reason;
  }
  char factor[64];
  if (scaling.interval) {
    std::snprintf(factor, sizeof factor, " x%.3g +-%.2g %% (", *scaling.factor, 100 * *scaling.interval);
  } else {
    std::snprintf(factor, sizeof factor, " x%.3g (", *scaling.factor);
  }
  return scaling.stage + factor + reason;
}

std::string text_of(std::span<const StageScaling> scalings) {
  std::string text;
  for (const auto& scaling : scalings) {
    text += (text.empty() ? "" : "; ") + text_of(scaling);
  }
  return text + (moved_by(scalings) == MovedBy::bandwidths ? " [by bandwidths, not by measured speeds]" : "");
}

}  // namespace gnomon::profiles
