#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/flags/import_flags.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/store_text.h"
#include "base/stop.h"
#include "graph/order/reorder.h"
#include "graph/store/store.h"

namespace gnomon::apps {
namespace {

struct ConvertFlags {
  std::string source;
  std::string destination;
  std::string order = "none";
  graph::Resources resources;
  bool json = false;
};

void convert(const ConvertFlags& options) {
  const auto order = base::value_of<graph::VertexOrder>("--reorder", options.order);
  const auto graph = graph::open_store(options.source);
  {
    ProgressBar bar;
    const auto progress = base::stoppable(bar.progress(), &stop_on_interrupt());
    graph::write_in_order(
        order, options.destination,
        [&](const std::filesystem::path& store) { graph::write_store(graph, store, progress); }, progress,
        options.resources);
  }
  const auto description = describe_store(options.destination);
  options.json ? print_json(store_document(description)) : void(std::cout << store_text(description));
}

}  // namespace

Action add_convert(CLI::App& app) {
  const auto options = std::make_shared<ConvertFlags>();
  app.add_option("SRC", options->source, "Graph store of any version")->required();
  app.add_option("DST", options->destination, "Graph store to create, a new directory")->required();
  app.add_option("--reorder", options->order,
                 "Renumber vertices for locality: none, degree or rcm, as in gnomon import");
  add_size(app, "--host-memory", options->resources.memory_bytes, std::string(conversion_memory_help));
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { convert(*options); };
}

}  // namespace gnomon::apps
