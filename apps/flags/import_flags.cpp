#include "apps/flags/import_flags.h"

#include <iostream>

#include "apps/flags/size_flag.h"

namespace gnomon::apps {
namespace {

std::vector<FieldFlag> flags(const std::string& seed) {
  return {
      {"--name", "name", "Name of the graph (default: the file's name)"},
      {"--undirected", "content.edges.undirected", "Add the reverse of every edge"},
      {"--reverse", "content.edges.reverse",
       "Reverse every edge: neighbours are then sampled along out-edges (--undirected: along both)"},
      {"--edge-weights", "edge_weights",
       "Edge weights: \"given\" (by the source; edges: its third column), or a .npy file"},
      {"--self-loops", "content.edges.self_loops", "Self-loops: keep, remove or add (one at every vertex)"},
      {"--duplicates", "content.edges.duplicates",
       "Duplicate edges: remove, keep, or combine their weights by sum, max or first"},
      {"--features", "features", "edges, mtx, npz: features from this .npy file"},
      {"--labels", "labels",
       "edges, mtx, npz: labels from this .npy file, -1 for unknown; 0 or 1 for each vertex and class if "
       "vertices may have several classes"},
      {"--random-features", "random_features",
       "Generate this many random feature columns for data without features"},
      {"--random-classes", "random_classes",
       "Generate random labels of this many classes for data without labels"},
      {"--feature-type", "content.feature_type", "Store features as fp32, fp16 or bf16"},
      {"--feature-form", "content.feature_form",
       "Store features as a dense or sparse matrix, or automatic: the smaller one"},
      {"--normalise-features", "content.normalise_features", "Normalise each feature row: l1 or l2"},
      {"--largest-component", "content.largest_component", "Keep only the largest connected component"},
      {"--relabel", "relabel", "edges: relabel the ids that occur to 0, 1, 2, ..."},
      {"--header", "header", "edges: whether the first line names the columns: automatic, yes or no"},
      {"--ids", "ids", "edges: what the ids are: automatic, numbers or names (numbered as they occur)"},
      {"--vertices", "vertices",
       "edges: file with the ids or names of all vertices, one per line, in the order of\n"
       "the rows of features and labels"},
      {"--reorder", "order",
       "Renumber vertices for locality: none, degree (highest degree first) or rcm (reverse\n"
       "Cuthill-McKee); outputs keep the original ids"},
      {"--split", "content.split.method", "Split: automatic, given, per_class or ratio"},
      {"--train-ids", "train_ids",
       "edges, mtx, npz: file with the training vertices: one id per line, or a .npy of ids\n"
       "or of a mask"},
      {"--valid-ids", "valid_ids", "As --train-ids, for the validation vertices"},
      {"--test-ids", "test_ids", "As --train-ids, for the test vertices"},
      {"--train-per-class", "content.split.train_per_class", "per_class: training vertices of each class"},
      {"--valid-per-class", "content.split.valid_per_class", "per_class: validation vertices of each class"},
      {"--train-share", "content.split.train_share", "ratio: share to train on"},
      {"--valid-share", "content.split.valid_share", "ratio: share to validate on; the rest is the test set"},
      {seed, "content.split.seed", "Random seed of the split"},
      {"--mask", "mask", "npz with several splits: the split to use"},
      {"--ogb-split", "ogb_split", "ogb with several folders in split/: the folder to use"}};
}

/// Returns `app` with a heading for the options declared next.
CLI::App& under(CLI::App& app, const std::string& heading) {
  app.option_defaults()->group(heading);
  return app;
}

}  // namespace

ImportFlags::ImportFlags(CLI::App& app, const std::string& heading, const std::string& seed)
    : fields_(under(app, heading), base::write_value(graph::ImportOptions{}), flags(seed)) {
  add_size(app, "--host-memory", memory_bytes_, std::string(conversion_memory_help));
  under(app, "Options");
}

graph::ImportOptions ImportFlags::options() const {
  auto options = fields_.value<graph::ImportOptions>();
  options.named = fields_.named();
  options.content.resources.memory_bytes = memory_bytes_;
  return options;
}

std::string ImportFlags::first_named() const {
  const auto named = fields_.named();
  return named.empty() ? "" : named.begin()->second;
}

void print_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) {
    std::cerr << "note: " << note << "\n";
  }
}

}  // namespace gnomon::apps
