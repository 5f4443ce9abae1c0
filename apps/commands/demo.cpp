#include <filesystem>
#include <memory>

#include "apps/commands/autotune_run.h"
#include "apps/commands/commands.h"
#include "apps/flags/job_flags.h"
#include "apps/interrupt.h"
#include "apps/open_data.h"
#include "apps/progress_bar.h"
#include "base/stop.h"
#include "graph/generate/generate.h"
#include "graph/import/import.h"

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

struct Options {
  explicit Options(CLI::App& app) : job(app, demo_job()) {}
  std::string file;
  std::string run;
  MeasureFlags measure;
  bool json = false;
  JobFlags job;
};

/// The store itself, or the graph file imported into the run's directory.
fs::path imported_graph(const std::string& source, const tuner::RunFiles& files) {
  if (fs::exists(fs::path(source) / "meta.json")) {
    return source;
  }
  const auto store = files.directory / "graph";
  ProgressBar bar;
  graph::ImportOptions options;
  options.source = source;
  graph::import_graph(options, store, base::stoppable(bar.progress(), &stop_on_interrupt()));
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
  auto options = std::make_shared<Options>(app);
  app.add_option("FILE", options->file,
                 "Graph file in any format that import reads, or graph store (default: a generated graph)");
  app.add_option("--run", options->run,
                 "Directory for all documents (default: runs/demo-1, runs/demo-2, ...)");
  add_measure_flags(app, options->measure);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] {
    const auto job = options->job.job();
    const auto files =
        tuner::make_run_directory(options->run, options->file.empty() ? "demo" : options->file);
    const auto store = options->file.empty() ? generated_graph() : imported_graph(options->file, files);
    const auto graph = open_training_data(store.string(), job);
    autotune_and_print(graph, {store.string(), files, job, options->measure, options->json});
  };
}

}  // namespace gnomon::apps
