#include "apps/compute/run_flags.h"

#include <filesystem>

#include "base/document.h"
#include "base/error.h"
#include "graph/store/checked_store.h"

namespace gnomon::apps {
namespace {

/// The graph store that the run's report names.
std::string data_of(const tuner::RunFiles& files) {
  if (!std::filesystem::exists(files.report())) {
    throw base::InputError(files.directory.string(),
                           "has no report.json (the run has not ended); name the graph store: RUN DATA");
  }
  const auto where = files.report().string();
  const auto report = base::parse_json(base::read_file(files.report()), where);
  if (!report.contains("data") || !report["data"].is_string()) {
    throw base::InputError(where + ": data", "is missing; name the graph store: RUN DATA");
  }
  const auto data = report["data"].get<std::string>();
  if (!std::filesystem::exists(data)) {
    throw base::InputError(where + ": data", data + " does not exist here; name the graph store: RUN DATA");
  }
  return data;
}

}  // namespace

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("RUN", flags.run, "Directory of a run of gnomon train")->required();
  app.add_option("DATA", flags.data, "Graph store (default: the run's)");
  app.add_option("--weights", flags.weights,
                 "Weights in a .safetensors file, instead of those of the run's best epoch");
  add_device_flags(app, flags.device);
}

graph::Graph open_run_data(const RunFlags& flags) {
  if (!std::filesystem::is_directory(flags.run)) {
    throw base::InputError(flags.run, "is not a directory; name a run of gnomon train");
  }
  if (!flags.files().hold_run() && std::filesystem::exists(std::filesystem::path(flags.run) / "meta.json")) {
    throw base::InputError(flags.run, "is a graph store; name a run of gnomon train");
  }
  auto graph = graph::open_store(flags.data.empty() ? data_of(flags.files()) : flags.data);
  graph::validate_once(graph, false);
  return graph;
}

}  // namespace gnomon::apps
