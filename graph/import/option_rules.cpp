#include "graph/import/option_rules.h"

#include <algorithm>

#include "base/error.h"

namespace gnomon::graph {
namespace {

constexpr std::string_view numbered = "whose vertices are numbered from 0 already; leave it out";
constexpr std::string_view no_text = "which has no lines of ids; leave it out";
constexpr std::string_view use_lists =
    "which has no splits; give one with --train-ids, --valid-ids and --test-ids";

constexpr std::string_view ogb_splits = "whose splits are directories in split/; choose one with --ogb-split";
constexpr std::string_view roles = "whose split is in role.json; leave it out";

// In the order of Format: npz, ogb, matrix_market, edge_list, graphsaint.
constexpr std::array rules{
    OptionRule{"relabel", "--relabel", {numbered, numbered, numbered, "", numbered}},
    OptionRule{"header",
               "--header",
               {no_text, "whose files have no header; leave it out",
                "whose header is a part of the format; leave it out", "", no_text}},
    OptionRule{"ids", "--ids", {no_text, numbered, numbered, "", numbered}},
    OptionRule{"vertices", "--vertices", {numbered, numbered, numbered, "", numbered}},
    OptionRule{"features",
               "--features",
               {"", "whose features are in raw/node-feat.csv.gz or node_feat; leave it out", "", "",
                "whose features are in feats.npy; leave it out"}},
    OptionRule{"labels",
               "--labels",
               {"", "whose labels are in raw/node-label.csv.gz or .npz; leave it out", "", "",
                "whose labels are in class_map.json; leave it out"}},
    OptionRule{"train_ids", "--train-ids", {"", ogb_splits, "", "", roles}},
    OptionRule{"valid_ids", "--valid-ids", {"", ogb_splits, "", "", roles}},
    OptionRule{"test_ids", "--test-ids", {"", ogb_splits, "", "", roles}},
    OptionRule{"mask", "--mask", {"", ogb_splits, use_lists, use_lists, roles}},
    OptionRule{"ogb_split",
               "--ogb-split",
               {"whose splits are masks; choose one with --mask", "", use_lists, use_lists, roles}}};

/// The options that apply to every format, but not beside every other option or to all contents.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> other_options{
    {{"random_features", "--random-features"},
     {"random_classes", "--random-classes"},
     {"content.edges.duplicates", "--duplicates"},
     {"content.edges.reverse", "--reverse"},
     {"content.feature_type", "--feature-type"},
     {"content.feature_form", "--feature-form"},
     {"content.normalise_features", "--normalise-features"},
     {"content.split.method", "--split"},
     {"content.split.train_per_class", "--train-per-class"},
     {"content.split.valid_per_class", "--valid-per-class"},
     {"content.split.train_share", "--train-share"},
     {"content.split.valid_share", "--valid-share"}}};

std::string option_of(const ImportOptions& options, std::string_view field) {
  if (const auto named = options.named.find(std::string(field)); named != options.named.end()) {
    return named->second;
  }
  for (const auto& rule : rules) {
    if (rule.field == field) {
      return std::string(rule.option);
    }
  }
  for (const auto& [other, option] : other_options) {
    if (other == field) {
      return std::string(option);
    }
  }
  return field == "content.split.seed" ? "--seed" : std::string(field);
}

/// Whether the user named the field or gave it another value than the default.
bool is_given(const ImportOptions& options, std::string_view field) {
  if (options.named.contains(std::string(field))) {
    return true;
  }
  std::string pointer = "/" + std::string(field);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const base::Json::json_pointer path(pointer);
  return base::write_value(options).at(path) != base::write_value(ImportOptions{}).at(path);
}

std::string name_of_format(Format format) {
  switch (format) {
    case Format::npz:
      return "npz";
    case Format::ogb:
      return "ogb";
    case Format::matrix_market:
      return "mtx (Matrix Market)";
    case Format::graphsaint:
      return "graphsaint";
    default:
      return "edges (an edge list)";
  }
}

void check_format(const ImportOptions& options) {
  const auto format = static_cast<std::size_t>(options.format) - 1;  // behind automatic
  for (const auto& rule : rules) {
    if (const auto why = rule.refused.at(format); !why.empty() && is_given(options, rule.field)) {
      throw base::InputError(option_of(options, rule.field),
                             "does not apply to " + name_of_format(options.format) + ", " + std::string(why));
    }
  }
}

void check_vertex_options(const ImportOptions& options) {
  if (!options.vertices.empty()) {
    refuse_if_given(options, "relabel", "--vertices numbers the vertices");
  }
  for (const char* const field : {"valid_ids", "test_ids"}) {
    if (options.train_ids.empty() && is_given(options, field)) {
      throw base::InputError(option_of(options, field), "needs --train-ids beside it");
    }
  }
}

void check_edge_options(const ImportOptions& options) {
  const auto& edges = options.content.edges;
  if (edges.undirected) {
    refuse_if_given(options, "content.edges.reverse", "--undirected adds the reverse of every edge");
  }
  const bool of_weights = edges.duplicates != Duplicates::remove && edges.duplicates != Duplicates::keep;
  if (of_weights && options.edge_weights.empty()) {
    throw base::InputError("--duplicates " + std::string(base::name_of(edges.duplicates)),
                           "needs edge weights; add --edge-weights, or use remove");
  }
}

/// Throws for options of a split that is not the one asked for.
void check_split_options(const ImportOptions& options) {
  const SplitMethod method = options.content.split.method;
  for (const char* const field : {"content.split.train_per_class", "content.split.valid_per_class"}) {
    if (method != SplitMethod::per_class && is_given(options, field)) {
      throw base::InputError(option_of(options, field), "applies to --split per_class only; add that");
    }
  }
  for (const char* const field : {"content.split.train_share", "content.split.valid_share"}) {
    if ((method == SplitMethod::per_class || method == SplitMethod::given) && is_given(options, field)) {
      throw base::InputError(option_of(options, field), "applies to --split ratio only; leave it out");
    }
  }
  if (method == SplitMethod::per_class || method == SplitMethod::ratio) {
    for (const char* const field : {"train_ids", "valid_ids", "test_ids", "mask", "ogb_split"}) {
      refuse_if_given(options, field,
                      "--split " + std::string(base::name_of(method)) + " draws another split");
    }
  }
}

/// Throws for options that need features, or a graph without.
void check_feature_options(const ImportOptions& options, const GraphSource& source) {
  if (source.feature_columns > 0) {
    refuse_if_given(options, "random_features",
                    source.where + " has " + std::to_string(source.feature_columns) + " feature columns");
  } else if (options.random_features == 0) {
    for (const char* const field :
         {"content.feature_type", "content.feature_form", "content.normalise_features"}) {
      if (is_given(options, field)) {
        throw base::InputError(option_of(options, field), "needs features, and " + source.where +
                                                              " has none; add --features FILE.npy or "
                                                              "--random-features N");
      }
    }
  }
  if (!source.labels.empty()) {
    refuse_if_given(options, "random_classes", source.where + " has labels");
  }
}

/// Throws for options of a drawn split if none is drawn.
void check_drawing(const ImportOptions& options, const GraphSource& source) {
  const auto& split = options.content.split;
  const bool labelled = !source.labels.empty() || options.random_classes > 0;
  const bool draws = split.method == SplitMethod::per_class || split.method == SplitMethod::ratio ||
                     (split.method == SplitMethod::automatic && source.split.empty());
  const bool asked = split.method != SplitMethod::automatic;
  for (const char* const field : {"content.split.train_share", "content.split.valid_share"}) {
    if (!draws && is_given(options, field)) {
      throw base::InputError(
          option_of(options, field),
          "has no effect: the data's own split is used; leave it out, or add --split ratio");
    }
  }
  for (const char* const field :
       {"content.split.method", "content.split.train_share", "content.split.valid_share"}) {
    if (draws && !labelled && is_given(options, field) &&
        (asked || field != std::string("content.split.method"))) {
      throw base::InputError(option_of(options, field),
                             "needs labels to draw a split, and " + source.where +
                                 " has none; add --labels FILE.npy or --random-classes N");
    }
  }
  const bool draws_anything =
      (draws && labelled) || options.random_features > 0 || options.random_classes > 0;
  if (!draws_anything) {
    refuse_if_given(options, "content.split.seed", "nothing is drawn at random");
  }
}

}  // namespace

std::span<const OptionRule> option_rules() { return rules; }

void refuse_if_given(const ImportOptions& options, std::string_view field, const std::string& why) {
  if (is_given(options, field)) {
    throw base::InputError(option_of(options, field), "has no effect: " + why + "; leave it out");
  }
}

void check_options(const ImportOptions& options) {
  check_format(options);
  check_vertex_options(options);
  check_edge_options(options);
  check_split_options(options);
}

void check_effects(const ImportOptions& options, const GraphSource& source) {
  check_feature_options(options, source);
  check_drawing(options, source);
}

}  // namespace gnomon::graph
