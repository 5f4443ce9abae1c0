#include <iostream>
#include <memory>
#include <string>

#include "apps/commands/commands.h"
#include "apps/compute/run_flags.h"
#include "apps/console.h"
#include "apps/flags/output_flag.h"
#include "apps/interrupt.h"
#include "base/error.h"
#include "base/output_file.h"
#include "runtime/training/evaluation.h"
#include "tuner/run/training.h"

namespace gnomon::apps {
namespace {

struct PredictFlags {
  RunFlags run;
  std::string output;
  std::string logits;
  std::string embeddings;
};

void predict(const PredictFlags& options) {
  tuner::check_is_csv("--output", options.output);
  if (options.output.empty() && options.logits.empty() && options.embeddings.empty()) {
    throw base::InputError("nothing to write; give -o FILE, --logits FILE or --embeddings FILE");
  }
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
    base::write_output(options.output,
                       [&](const auto& file) { tuner::write_predictions(file, graph, result.predictions); });
  }
  for (const auto& file : {options.output, options.logits, options.embeddings}) {
    std::cout << (file.empty() ? "" : "written to " + file + "\n");
  }
}

}  // namespace

Action add_predict(CLI::App& app) {
  auto options = std::make_shared<PredictFlags>();
  add_run_flags(app, options->run);
  add_output(app, "-o,--output", options->output,
             "Write the predicted class of each vertex (on multi-label graphs: classes) to this CSV file, by "
             "original "
             "vertex id");
  add_output(app, "--logits", options->logits,
             "Write the logits to this .npy file (vertices by original id, classes)");
  add_output(app, "--embeddings", options->embeddings,
             "Write the inputs of the last layer to this .npy file (vertices by original id, hidden)");
  return [options] { predict(*options); };
}

}  // namespace gnomon::apps
