#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/compute/run_flags.h"
#include "apps/console.h"
#include "apps/interrupt.h"
#include "apps/text/evaluation_text.h"
#include "apps/text/output.h"
#include "base/error.h"
#include "runtime/training/evaluation.h"

namespace gnomon::apps {
namespace {

struct EvaluateFlags {
  RunFlags run;
  std::vector<std::string> metrics;
  bool json = false;
};

void evaluate_run(const EvaluateFlags& options) {
  runtime::EvaluationOptions evaluation;
  evaluation.checkpoint = options.run.files().checkpoint();
  evaluation.weights = options.run.weights;
  evaluation.device = device_of(options.run.device);
  evaluation.stop = &stop_on_interrupt();
  for (const auto& metric : options.metrics) {
    evaluation.metrics.push_back(base::value_of<plan::Metric>("--metrics", metric));
  }
  const auto graph = open_run_data(options.run);
  if (graph.labels.empty()) {
    throw base::InputError(graph.name, "has no labels to evaluate against; use gnomon predict");
  }
  Console console(options.json);
  evaluation.progress = console.progress();
  const auto result = runtime::evaluate(graph, evaluation);
  if (options.json) {
    print_json(to_document(result, options.run.run, graph.directory.string()));
    return;
  }
  console.say(text_of(result));
  const auto weights =
      options.run.weights.empty() ? "epoch " + std::to_string(result.best_epoch + 1) : options.run.weights;
  std::cout << "weights of " << weights << ", on " << graph.directory.string() << "\n";
}

}  // namespace

Action add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateFlags>();
  add_run_flags(app, options->run);
  app.add_option("--metrics", options->metrics,
                 "Metrics to report: accuracy, roc_auc, f1_micro, f1_macro (default: the run's)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { evaluate_run(*options); };
}

}  // namespace gnomon::apps
