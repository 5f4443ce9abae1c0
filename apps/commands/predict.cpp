#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/console.h"
#include "apps/flags/run_flags.h"
#include "apps/interrupt.h"
#include "base/error.h"
#include "runtime/training/evaluation.h"
#include "tuner/run/training.h"

namespace gnomon::apps {
namespace {

struct Options {
  RunFlags run;
  std::string output;
  std::string logits;
  std::string embeddings;
};

/// A file can be written at `path`, as far as that can be known before.
void check_output(const char* flag, const std::filesystem::path& path) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!path.empty() && (!std::filesystem::is_directory(directory) || std::filesystem::is_directory(path))) {
    throw base::InputError(flag, path.string() + " is not a file in an existing directory");
  }
}

void predict(const Options& options) {
  if (options.output.empty() && options.logits.empty() && options.embeddings.empty()) {
    throw base::InputError("nothing to write; give -o FILE, --logits FILE or --embeddings FILE");
  }
  check_output("--output", options.output);
  check_output("--logits", options.logits);
  check_output("--embeddings", options.embeddings);
  runtime::EvaluationOptions evaluation;
  evaluation.checkpoint = options.run.files().checkpoint();
  evaluation.weights = options.run.weights;
  evaluation.logits = options.logits;
  evaluation.embeddings = options.embeddings;
  evaluation.device = device_of(options.run.device);
  evaluation.stop = &stop_on_interrupt();
  const auto graph = open_run_data(options.run);
  Console console(false);
  evaluation.progress = console.progress();
  const auto result = runtime::evaluate(graph, evaluation);
  console.wipe();
  if (!options.output.empty()) {
    tuner::write_predictions(options.output, graph, result.predictions);
  }
  for (const auto& file : {options.output, options.logits, options.embeddings}) {
    std::cout << (file.empty() ? "" : "written to " + file + "\n");
  }
}

}  // namespace

Action add_predict(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_run_flags(app, options->run);
  app.add_option("-o,--output", options->output,
                 "Write the predicted class of each vertex to this CSV file, by original vertex id");
  app.add_option("--logits", options->logits,
                 "Write the logits to this .npy file (vertices by original id, classes)");
  app.add_option("--embeddings", options->embeddings,
                 "Write the inputs of the last layer to this .npy file (vertices by original id, hidden)");
  return [options] { predict(*options); };
}

}  // namespace gnomon::apps
