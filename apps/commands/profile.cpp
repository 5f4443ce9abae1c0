#include "profiles/profile.h"

#include <iostream>
#include <memory>
#include <optional>

#include "apps/commands/commands.h"
#include "apps/compute/measure_flags.h"
#include "apps/compute/open_data.h"
#include "apps/flags/job_flags.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/profile_text.h"
#include "base/output_file.h"
#include "base/usable.h"
#include "profiles/catalog.h"
#include "profiles/measure/machine.h"
#include "tuner/run/measure_for_choice.h"

namespace gnomon::apps {
namespace {

struct ProfileFlags {
  explicit ProfileFlags(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string out;
  MeasureFlags measure;
  bool all = false;
  bool json = false;
  JobFlags job;
  std::string machine;
  std::optional<double> idle_w, core_w, device_w, price_per_hour;
};

/// The speeds in the document that the user names as this machine's; none without one.
std::optional<profiles::MachineSpeeds> speeds_of(const std::string& document,
                                                 const profiles::MachineProfile& measured) {
  if (document.empty()) {
    return std::nullopt;
  }
  return profiles::speeds_of(profiles::find_machine(document), measured, "--machine: " + document);
}

/// What is known of this machine before it is measured.
profiles::MachineProfile machine_here() {
  profiles::MachineProfile machine;
  machine.cpu.name = profiles::cpu_name();
  machine.cpu.cores = base::usable_cores();
  return machine;
}

/// The user's numbers replace measured ones.
void tell_running(const ProfileFlags& options, profiles::Running& running) {
  const auto tell = [](const std::optional<double>& given, std::optional<double>& known) {
    known = given ? given : known;
  };
  tell(options.idle_w, running.idle_w);
  tell(options.core_w, running.core_w);
  tell(options.device_w, running.device_w);
  tell(options.price_per_hour, running.price_per_hour);
}

profiles::Profile measure_with_bar(const graph::Graph& graph, const plan::Job& job, const MeasureFlags& flags,
                                   bool all) {
  ProgressBar bar;
  profiles::MeasureOptions options;
  options.asked_interval = flags.interval;
  options.time_limit_s = flags.time_limit_s;
  options.progress = bar.progress();
  options.stop = &stop_on_interrupt();
  options.device = device_of(flags.device);
  options.all = all;
  return tuner::measure_for_choice(graph, job, options, {}).profile;
}

void profile(const ProfileFlags& options) {
  speeds_of(options.machine, machine_here());  // says now what is wrong with it
  auto job = options.job.job();
  const auto graph = open_training_data(options.data, job);
  options.job.fit_to(graph, job);
  auto profile = measure_with_bar(graph, job, options.measure, options.all);
  tell_running(options, profile.machine.running);
  profile.machine_speeds = speeds_of(options.machine, profile.machine);
  if (!options.out.empty()) {
    base::write_output(options.out, [&](const auto& file) { base::write_document(file, profile); });
  }
  if (options.json) {
    print_json(base::to_document(profile));
    return;
  }
  std::cout << text_of(profile);
  if (!options.out.empty()) {
    std::cout << "written to " << options.out << "\n";
  }
}

}  // namespace

Action add_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileFlags>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  add_output(app, "-o,--out", options->out, "Write the profile to this file");
  add_measure_flags(app, options->measure);
  app.add_flag("--all", options->all,
               "Also measure what only plans depend on that change the training (reused embeddings,\n"
               "macro-batches, biased sampling), for predictions of all published systems");
  app.add_option("--machine", options->machine,
                 "Document of this machine (gnomon machine): its speeds are kept in the profile, so that\n"
                 "explore and tune predict the job on other machines without --from");
  const auto add = [&](const char* name, std::optional<double>& value, const char* what) {
    app.add_option(name, value, what)->check(non_negative());
  };
  add("--idle-watts", options->idle_w, "Power of the idle machine (default: measured if possible)");
  add("--core-watts", options->core_w, "Additional power of a busy core (default: measured if possible)");
  add("--device-watts", options->device_w, "Additional power of a busy GPU");
  add("--price-per-hour", options->price_per_hour, "Price of the machine per hour, in any currency");
  app.add_flag("--json", options->json, "Print the profile document");
  return [options] { profile(*options); };
}

}  // namespace gnomon::apps
