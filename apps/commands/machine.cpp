#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/machine_text.h"
#include "apps/text/output.h"
#include "base/error.h"
#include "base/output_file.h"
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

void measure_and_print(const MachineFlags& flags) {
  auto machine = measure_with_bar(flags);
  if (!flags.name.empty()) {
    machine.name = machine.machine.name = flags.name;
  }
  machine.machine.running.price_per_hour = flags.price_per_hour;
  if (!flags.out.empty()) {
    base::write_output(flags.out, [&](const auto& file) { base::write_document(file, machine); });
  }
  if (flags.json) {
    print_json(base::to_document(machine));
    return;
  }
  std::cout << machine_text(machine);
  if (!flags.out.empty()) {
    std::cout << "written to " << flags.out << "\n";
  }
}

}  // namespace

Action add_machine(CLI::App& app) {
  auto flags = std::make_shared<MachineFlags>();
  add_output(app, "-o,--out", flags->out, "Write the machine file to this path");
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
  app.add_flag("--json", flags->json, "Print the machine file");
  return [flags] { measure_and_print(*flags); };
}

}  // namespace gnomon::apps
