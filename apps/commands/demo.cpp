#include <filesystem>
#include <memory>

#include "apps/commands/autotune_run.h"
#include "apps/commands/commands.h"
#include "apps/compute/open_data.h"
#include "apps/flags/import_flags.h"
#include "apps/flags/job_flags.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "base/error.h"
#include "base/stop.h"
#include "graph/generate/generate.h"
#include "graph/import/import.h"
#include "graph/import/option_rules.h"

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;

/// Chosen so that everything is done in under three minutes on two cores.
plan::Job demo_job() {
  plan::Job job;
  job.fanouts = {10, 10};
  job.hidden = 128;
  job.epochs = 5;
  return job;
}

struct DemoFlags {
  explicit DemoFlags(CLI::App& app)
      : import(app, "Import options for FILE", "--split-seed"), job(app, demo_job()) {}
  std::string file;
  std::string run;
  MeasureFlags measure;
  bool overwrite = false;
  bool json = false;
  ImportFlags import;
  JobFlags job;
};

bool is_store(const std::string& data) { return fs::exists(fs::path(data) / "meta.json"); }

/// Throws InputError for options of an import if nothing is imported, and for those without effect on the
/// file's format.
void check_import(const DemoFlags& options) {
  const auto option = options.import.first_named();
  if (!option.empty() && (options.file.empty() || is_store(options.file))) {
    throw base::InputError(
        option, "applies to a graph file that is imported, and " +
                    (options.file.empty() ? "no FILE is given" : options.file + " is a graph store") +
                    "; leave it out");
  }
  if (!options.file.empty() && !is_store(options.file)) {
    auto request = options.import.options();
    request.format = graph::detect_format(options.file);
    graph::check_options(request);
  }
}

/// The store itself, or the graph file imported into the run's directory.
fs::path imported_graph(const DemoFlags& options, const tuner::RunFiles& files) {
  if (is_store(options.file)) {
    return options.file;
  }
  const auto store = files.directory / "graph";
  if (options.overwrite && is_store(store.string())) {
    fs::remove_all(store);
  }
  auto request = options.import.options();
  request.source = options.file;
  std::vector<std::string> notes;
  {
    ProgressBar bar;
    notes = graph::import_graph(request, store, base::stoppable(bar.progress(), &stop_on_interrupt()));
  }
  print_notes(notes);
  return store;
}

/// The demo's graph, made once: 200,000 vertices, 4 million edges, 16 classes.
fs::path generated_graph() {
  const fs::path store = "runs/demo-graph";
  if (!fs::exists(store)) {
    ProgressBar bar;
    graph::PlantedPartition options;
    options.name = "demo";
    graph::generate(options, store, base::stoppable(bar.progress(), &stop_on_interrupt()));
  }
  return store;
}

}  // namespace

Action add_demo(CLI::App& app) {
  auto options = std::make_shared<DemoFlags>(app);
  app.add_option("FILE", options->file,
                 "Graph file in any format that import reads, or graph store (default: a generated graph)");
  app.add_option("--run", options->run,
                 "Directory for all documents (default: runs/demo-1, runs/demo-2, ...)");
  app.add_flag("--overwrite", options->overwrite,
               "Replace the run in --run; other files in the directory are kept");
  add_measure_flags(app, options->measure);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] {
    auto job = options->job.job();
    check_import(*options);
    const auto files = tuner::make_run_directory(
        options->run, options->file.empty() ? "demo" : options->file,
        options->overwrite ? tuner::ExistingRun::overwrite : tuner::ExistingRun::refuse);
    const auto store = options->file.empty() ? generated_graph() : imported_graph(*options, files);
    const auto graph = open_training_data(store.string(), job);
    options->job.fit_to(graph, job);
    autotune_and_print(graph, {.data = store.string(),
                               .files = files,
                               .job = job,
                               .measure = options->measure,
                               .json = options->json});
  };
}

}  // namespace gnomon::apps
