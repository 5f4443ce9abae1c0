#include "graph/import/import.h"

#include <iostream>
#include <map>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/flags/import_flags.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/store_text.h"
#include "base/stop.h"

namespace gnomon::apps {
namespace {

struct ImportRequest {
  explicit ImportRequest(CLI::App& app) : flags(app, "Options", "--seed") {}
  std::string format;
  std::string source;
  std::string destination;
  bool json = false;
  ImportFlags flags;
};

graph::Format format_of(const std::string& name) {
  const std::map<std::string, graph::Format> formats{
      {"auto", graph::Format::automatic},  {"npz", graph::Format::npz},
      {"ogb", graph::Format::ogb},         {"mtx", graph::Format::matrix_market},
      {"edges", graph::Format::edge_list}, {"graphsaint", graph::Format::graphsaint}};
  const auto found = formats.find(name);
  if (found == formats.end()) {
    throw base::InputError("FORMAT",
                           "\"" + name + "\" is not known; use auto, npz, ogb, graphsaint, mtx or edges");
  }
  return found->second;
}

void import_and_describe(const ImportRequest& options) {
  auto request = options.flags.options();
  request.source = options.source;
  request.format = format_of(options.format);
  std::vector<std::string> notes;
  {
    ProgressBar bar;
    notes = graph::import_graph(request, options.destination,
                                base::stoppable(bar.progress(), &stop_on_interrupt()));
  }
  print_notes(notes);
  const auto description = describe_store(options.destination);
  if (!options.json) {
    std::cout << store_text(description);
    return;
  }
  auto document = store_document(description);
  document["notes"] = notes;
  print_json(document);
}

}  // namespace

Action add_import(CLI::App& app) {
  const auto options = std::make_shared<ImportRequest>(app);
  app.add_option(
         "FORMAT", options->format,
         "auto (detect), npz (shchur/gnn-benchmark, arrays named as in PyG, or SciPy's save_npz),\n"
         "ogb or graphsaint (a data set's folder), mtx (Matrix Market) or edges (edge list or CSV, plain or "
         "gzip)")
      ->required();
  app.add_option("SRC", options->source, "Source file, or folder for ogb and graphsaint")->required();
  app.add_option("DST", options->destination, "Graph store to create, a new directory")->required();
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { import_and_describe(*options); };
}

}  // namespace gnomon::apps
