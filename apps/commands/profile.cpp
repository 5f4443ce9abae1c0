#include "profiles/profile.h"

#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/compute/autotuning.h"
#include "apps/compute/profile_text.h"
#include "apps/job_flags.h"
#include "apps/open_data.h"
#include "apps/output.h"

namespace gnomon::apps {
namespace {

struct Options {
  explicit Options(CLI::App& app) : job(app, plan::Job{}) {}
  std::string data;
  std::string out;
  MeasureFlags measure;
  bool json = false;
  JobFlags job;
};

void profile(const Options& options) {
  const auto job = options.job.job();
  const auto graph = open_training_data(options.data, job);
  const auto profile = measure_with_bar(graph, job, options.measure);
  if (!options.out.empty()) {
    base::write_document(options.out, profile);
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
  auto options = std::make_shared<Options>(app);
  app.add_option("DATA", options->data, "Graph store")->required();
  app.add_option("-o,--out", options->out, "Write the profile to this file");
  add_measure_flags(app, options->measure);
  app.add_flag("--json", options->json, "Print the profile document");
  return [options] { profile(*options); };
}

}  // namespace gnomon::apps
