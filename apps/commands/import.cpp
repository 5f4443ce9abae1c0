#include "graph/import/import.h"

#include <iostream>
#include <map>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/field_flags.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"
#include "apps/store_text.h"

namespace gnomon::apps {
namespace {

const std::vector<FieldFlag> flags{
    {"--name", "name", "What the graph is called; the file's name when not given"},
    {"--undirected", "content.edges.undirected", "Add the reverse of every edge"},
    {"--reverse", "content.edges.reverse",
     "Turn every edge round: batches then follow out-edges (--undirected: both)"},
    {"--edge-weights", "edge_weights",
     "\"given\": take the source's edge weights (edges: third column); or a .npy file, one an edge"},
    {"--self-loops", "content.edges.self_loops", "keep, remove or add (one at every vertex)"},
    {"--duplicates", "content.edges.duplicates", "Edges given more than once: remove all but one, or keep"},
    {"--features", "features", "edges, mtx: features from this .npy file"},
    {"--labels", "labels", "edges, mtx: labels from this .npy file, -1 where not known"},
    {"--random-features", "random_features", "Make so many random feature columns where there are none"},
    {"--random-classes", "random_classes", "Make random labels of so many classes where there are none"},
    {"--feature-type", "content.feature_type", "Store features as fp32 or fp16"},
    {"--normalise-features", "content.normalise_features",
     "l1 or l2: divide each row by the sum of its absolute values, or by its length"},
    {"--largest-component", "content.largest_component", "Keep only the largest connected component"},
    {"--relabel", "relabel", "edges: number the ids that occur from 0"},
    {"--reorder", "order",
     "none, degree (most used vertices first) or rcm (reverse Cuthill-McKee): ids that lie near each\n"
     "other in memory; outputs keep the data's own ids"},
    {"--split", "content.split.method", "automatic, given, per_class or ratio"},
    {"--train-per-class", "content.split.train_per_class", "per_class: training vertices of each class"},
    {"--valid-per-class", "content.split.valid_per_class", "per_class: validation vertices of each class"},
    {"--train-share", "content.split.train_share", "ratio: share to train on"},
    {"--valid-share", "content.split.valid_share", "ratio: share to validate on; the rest is the test set"},
    {"--seed", "content.split.seed", "Seed of a drawn split"},
    {"--mask", "mask", "npz with several splits: which one"},
    {"--ogb-split", "ogb_split", "ogb: which folder of split/, when there are several"}};

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
    graph::import_graph(request, options.destination, interruptible(bar.progress(), stop_on_interrupt()));
  }
  const auto description = describe_store(options.destination);
  options.json ? print_json(store_document(description)) : void(std::cout << store_text(description));
}

}  // namespace

Action add_import(CLI::App& app) {
  const auto options = std::make_shared<Options>(app);
  app.add_option(
         "FORMAT", options->format,
         "auto (told by the content), npz (shchur/gnn-benchmark, or plain arrays), ogb (a data set's\n"
         "folder), mtx (Matrix Market) or edges (a list, plain or gzip, any separator)")
      ->required();
  app.add_option("SRC", options->source, "The file, or the folder of ogb")->required();
  app.add_option("DST", options->destination, "The store to make, a directory that does not exist")
      ->required();
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { import_and_describe(*options); };
}

}  // namespace gnomon::apps
