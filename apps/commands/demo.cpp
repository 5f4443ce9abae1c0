#include <filesystem>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/compute/autotuning.h"
#include "apps/interrupt.h"
#include "apps/job_flags.h"
#include "apps/open_data.h"
#include "apps/progress_bar.h"
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

/// A store is taken as it is; anything else is imported into the run's directory.
fs::path imported_graph(const std::string& source, const RunFiles& files) {
  if (fs::exists(fs::path(source) / "meta.json")) {
    return source;
  }
  const auto store = files.directory / "graph";
  ProgressBar bar;
  graph::ImportOptions options;
  options.source = source;
  graph::import_graph(options, store, interruptible(bar.progress(), stop_on_interrupt()));
  return store;
}

/// The demo's graph, made once: 200,000 vertices, 4 million edges, 16 classes.
fs::path generated_graph() {
  const fs::path store = "runs/demo-graph";
  if (!fs::exists(store)) {
    ProgressBar bar;
    graph::PlantedPartition options;
    options.name = "demo";
    graph::generate(options, store, interruptible(bar.progress(), stop_on_interrupt()));
  }
  return store;
}

}  // namespace

Action add_demo(CLI::App& app) {
  auto options = std::make_shared<Options>(app);
  app.add_option("FILE", options->file,
                 "A graph of your own, in any format that import reads, or a graph store");
  app.add_option("--run", options->run, "Directory for all documents; runs/demo-1, -2, ... when not given");
  add_measure_flags(app, options->measure);
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] {
    const auto job = options->job.job();
    const auto files = make_run_directory(options->run, options->file.empty() ? "demo" : options->file);
    const auto store = options->file.empty() ? generated_graph() : imported_graph(options->file, files);
    const auto graph = open_training_data(store.string(), job);
    autotune(graph, {store.string(), files, job, options->measure, options->json});
  };
}

}  // namespace gnomon::apps
