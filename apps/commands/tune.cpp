#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/output.h"
#include "apps/tuning.h"

namespace gnomon::apps {
namespace {

struct Options {
  std::string profile;
  std::string out;
  bool json = false;
};

void tune(const Options& options) {
  const auto profile = profiles::read_profile(options.profile);
  sim::Simulator simulator;
  const auto result = tune_with_bar(profile, simulator);
  if (!options.out.empty()) {
    base::write_document(options.out, result.best.plan);
  }
  if (options.json) {
    print_json(tuning_document(result));
    return;
  }
  std::cout << tuning_text(result);
  if (!options.out.empty()) {
    std::cout << "written to " << options.out << "\n";
  }
}

}  // namespace

Action add_tune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PROFILE", options->profile, "What gnomon profile wrote")->required();
  app.add_option("-o,--out", options->out, "Write the best plan to this file");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { tune(*options); };
}

}  // namespace gnomon::apps
