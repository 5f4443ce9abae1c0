#include "graph/import/import.h"

#include <iostream>
#include <map>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/flags/field_flags.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/store_text.h"
#include "base/stop.h"

namespace gnomon::apps {
namespace {

const std::vector<FieldFlag> flags{
    {"--name", "name", "Name of the graph (default: the file's name)"},
    {"--undirected", "content.edges.undirected", "Add the reverse of every edge"},
    {"--reverse", "content.edges.reverse",
     "Reverse every edge, so that sampling follows out-edges (--undirected: both)"},
    {"--edge-weights", "edge_weights",
     "Edge weights: \"given\" for those of the source (edges: third column), or a .npy file"},
    {"--self-loops", "content.edges.self_loops", "Self-loops: keep, remove or add (one at every vertex)"},
    {"--duplicates", "content.edges.duplicates", "Duplicate edges: remove or keep"},
    {"--features", "features", "edges, mtx: features from this .npy file"},
    {"--labels", "labels", "edges, mtx: labels from this .npy file, -1 for unknown"},
    {"--random-features", "random_features",
     "Generate this many random feature columns if there are no features"},
    {"--random-classes", "random_classes",
     "Generate random labels of this many classes if there are no labels"},
    {"--feature-type", "content.feature_type", "Store features as fp32 or fp16"},
    {"--normalise-features", "content.normalise_features",
     "Divide each feature row by its l1 or l2 norm: l1 or l2"},
    {"--largest-component", "content.largest_component", "Keep only the largest connected component"},
    {"--relabel", "relabel", "edges: relabel the ids that occur to 0, 1, 2, ..."},
    {"--reorder", "order",
     "Renumber vertices for locality: none, degree (highest degree first) or rcm (reverse\n"
     "Cuthill-McKee); outputs keep the original ids"},
    {"--split", "content.split.method", "Split: automatic, given, per_class or ratio"},
    {"--train-per-class", "content.split.train_per_class", "per_class: training vertices of each class"},
    {"--valid-per-class", "content.split.valid_per_class", "per_class: validation vertices of each class"},
    {"--train-share", "content.split.train_share", "ratio: share to train on"},
    {"--valid-share", "content.split.valid_share", "ratio: share to validate on; the rest is the test set"},
    {"--seed", "content.split.seed", "Random seed of the split"},
    {"--mask", "mask", "npz with several splits: the split to use"},
    {"--ogb-split", "ogb_split", "ogb with several folders in split/: the folder to use"}};

struct Options {
  explicit Options(CLI::App& app) : fields(app, base::write_value(graph::ImportOptions{}), flags) {}
  std::string format;
  std::string source;
  std::string destination;
  bool json = false;
  FieldFlags fields;
};

graph::Format format_of(const std::string& name) {
  const std::map<std::string, graph::Format> formats{{"auto", graph::Format::automatic},
                                                     {"npz", graph::Format::npz},
                                                     {"ogb", graph::Format::ogb},
                                                     {"mtx", graph::Format::matrix_market},
                                                     {"edges", graph::Format::edge_list}};
  const auto found = formats.find(name);
  if (found == formats.end()) {
    throw base::InputError("FORMAT", "\"" + name + "\" is not known; use auto, npz, ogb, mtx or edges");
  }
  return found->second;
}

void import_and_describe(const Options& options) {
  auto request = options.fields.value<graph::ImportOptions>();
  request.source = options.source;
  request.format = format_of(options.format);
  {
    ProgressBar bar;
    graph::import_graph(request, options.destination, base::stoppable(bar.progress(), &stop_on_interrupt()));
  }
  const auto description = describe_store(options.destination);
  options.json ? print_json(store_document(description)) : void(std::cout << store_text(description));
}

}  // namespace

Action add_import(CLI::App& app) {
  const auto options = std::make_shared<Options>(app);
  app.add_option("FORMAT", options->format,
                 "auto (detect), npz (shchur/gnn-benchmark, or plain arrays), ogb (a data set's folder),\n"
                 "mtx (Matrix Market) or edges (edge list, plain or gzip, any separator)")
      ->required();
  app.add_option("SRC", options->source, "Source file, or folder for ogb")->required();
  app.add_option("DST", options->destination, "Graph store to create, a new directory")->required();
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { import_and_describe(*options); };
}

}  // namespace gnomon::apps
