#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "apps/commands/commands.h"
#include "apps/flags/import_flags.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/store_text.h"
#include "base/error.h"
#include "base/stop.h"
#include "graph/order/reorder.h"
#include "graph/store/store.h"

namespace gnomon::apps {
namespace {

struct ConvertFlags {
  std::string source;
  std::string destination;
  std::string order = "none";
  std::string feature_type;
  graph::Resources resources;
  bool json = false;
};

/// The type that is asked for, if any. Throws InputError.
std::optional<graph::FeatureType> feature_type_of(const ConvertFlags& options, const graph::Graph& graph) {
  if (options.feature_type.empty()) {
    return std::nullopt;
  }
  if (!graph.features.any()) {
    throw base::InputError("--feature-type", "has no effect: " + options.source + " has no features");
  }
  return base::value_of<graph::FeatureType>("--feature-type", options.feature_type);
}

void convert(const ConvertFlags& options) {
  const auto order = base::value_of<graph::VertexOrder>("--reorder", options.order);
  const auto graph = graph::open_store(options.source);
  const auto feature_type = feature_type_of(options, graph);
  {
    ProgressBar bar;
    const auto progress = base::stoppable(bar.progress(), &stop_on_interrupt());
    graph::write_in_order(
        order, options.destination,
        [&](const std::filesystem::path& store) { graph::write_store(graph, store, progress, feature_type); },
        progress, options.resources);
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
  app.add_option("--feature-type", options->feature_type,
                 "Convert features to fp32, fp16 or bf16 (default: unchanged)");
  add_size(app, "--host-memory", options->resources.memory_bytes, std::string(conversion_memory_help));
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { convert(*options); };
}

}  // namespace gnomon::apps
