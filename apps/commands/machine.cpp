#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/commands/stored_machines.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/machine_text.h"
#include "apps/text/output.h"
#include "base/error.h"
#include "base/output_file.h"
#include "profiles/machine_store.h"
#include "profiles/measure/known_machine.h"
#include "profiles/measure/speeds.h"
#include "runtime/device_options.h"

namespace gnomon::apps {
namespace {

struct MachineFlags {
  std::string out;
  std::string name;
  std::string disk;
  std::string device = "auto";
  double interval = 0.02;
  double time_limit_s = 40;
  std::optional<double> price_per_hour;
  bool stored = false;
  std::string forget;
  std::string share;
  bool json = false;
};

/// The GPU, or the host if "auto" finds none.
runtime::DeviceOptions device_of(const std::string& name) {
  const runtime::DeviceOptions gpu{.kind = plan::DeviceKind::cuda};
  const auto why = name == "cpu" ? std::string() : runtime::why_no_device(gpu);
  if (name == "gpu" && !why.empty()) {
    throw base::InputError("--device", why);
  }
  return name == "cpu" || !why.empty() ? runtime::DeviceOptions{} : gpu;
}

/// The directory whose disk is measured: that of the output, unless the user names one.
std::filesystem::path disk_of(const MachineFlags& flags) {
  if (!flags.disk.empty()) {
    if (!std::filesystem::is_directory(flags.disk)) {
      throw base::InputError("--disk", "\"" + flags.disk + "\" is not a directory");
    }
    return flags.disk;
  }
  const auto parent = std::filesystem::path(flags.out).parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

profiles::CatalogMachine measure_with_bar(const MachineFlags& flags) {
  ProgressBar bar;
  return profiles::measure_whole_machine({.asked_interval = flags.interval,
                                          .time_limit_s = flags.time_limit_s,
                                          .disk = disk_of(flags),
                                          .device = device_of(flags.device),
                                          .stop = &stop_on_interrupt(),
                                          .progress = bar.progress()});
}

/// Where the machine was stored, or why it was not; empty if the user turned the store off.
std::string store(const profiles::CatalogMachine& machine) {
  const profiles::MachineStore machines;
  const auto why_not = profiles::store_measured(machine, machines);
  if (machines.is_off()) {
    return "";
  }
  return why_not.empty() ? "stored in " + machines.file_of(*machine.key).string() + "\n"
                         : "not stored: " + why_not + "\n";
}

void measure_and_print(const MachineFlags& flags) {
  auto machine = measure_with_bar(flags);
  if (!flags.name.empty()) {
    machine.name = machine.machine.name = flags.name;
  }
  machine.machine.running.price_per_hour = flags.price_per_hour;
  machine.key = profiles::machine_key(device_of(flags.device).kind == plan::DeviceKind::cuda);
  if (!flags.out.empty()) {
    base::write_output(flags.out, [&](const auto& file) { base::write_document(file, machine); });
  }
  const auto stored = store(machine);
  if (flags.json) {
    print_json(base::to_document(machine));
    return;
  }
  std::cout << machine_text(machine) << stored;
  if (!flags.out.empty()) {
    std::cout << "written to " << flags.out << "\n";
  }
}

void run_machine(const MachineFlags& flags) {
  if (flags.stored) {
    print_stored_machines(flags.json);
  } else if (!flags.forget.empty()) {
    forget_machines(flags.forget);
  } else if (!flags.share.empty()) {
    share_machine(flags.share, device_of(flags.device).kind == plan::DeviceKind::cuda);
  } else {
    measure_and_print(flags);
  }
}

}  // namespace

Action add_machine(CLI::App& app) {
  auto flags = std::make_shared<MachineFlags>();
  auto* out = add_output(app, "-o,--out", flags->out, "Write the machine file to this path");
  app.add_option("--name", flags->name, "Name of the machine in the file (default: the host's)");
  app.add_option("--interval", flags->interval,
                 "Measure until 95 % confidence intervals are within this share of the rate")
      ->check(in_range(1e-6, 1.0));
  app.add_option("--time-limit", flags->time_limit_s, "Stop measuring after about this many seconds")
      ->check(in_range(0.1, 1e6));
  app.add_option(
      "--disk", flags->disk,
      "Measure the disk of this directory, with a temporary file of 64 MiB (default: the output's)");
  app.add_option("--device", flags->device, "Also measure this device: cpu (none), gpu, or auto")
      ->check(CLI::IsMember({"cpu", "gpu", "auto"}));
  app.add_option("--price-per-hour", flags->price_per_hour, "Price of the machine per hour, in any currency")
      ->check(non_negative());
  auto* stored = app.add_flag("--stored", flags->stored,
                              "List the stored machines and what they are keyed by; measure nothing");
  auto* forget = app.add_option("--forget", flags->forget,
                                "Remove this machine from the store, or every one (all); measure nothing")
                     ->expected(0, 1)
                     ->default_str("this")
                     ->check(CLI::IsMember({"this", "all"}));
  auto* share = add_output(app, "--share", flags->share,
                           "Write the stored machine file of this machine to this path; measure nothing");
  stored->excludes(out, forget, share);
  forget->excludes(out, share);
  share->excludes(out);
  app.add_flag("--json", flags->json, "Print the machine file, or with --stored the list, as a document");
  return [flags] { run_machine(*flags); };
}

}  // namespace gnomon::apps
