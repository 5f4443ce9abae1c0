#include "apps/text/store_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/text/format.h"
#include "base/error.h"
#include "graph/store/names.h"
#include "graph/store/store.h"

namespace gnomon::apps {
namespace {

std::vector<std::int64_t> sorted_degrees(const graph::Graph& graph) {
  std::vector<std::int64_t> degrees(static_cast<std::size_t>(graph.num_vertices()));
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    degrees[v] = graph.degree(static_cast<graph::VertexId>(v));
  }
  std::sort(degrees.begin(), degrees.end());
  return degrees;
}

std::string features_text(const graph::Features& features) {
  if (!features.any()) {
    return "none";
  }
  const auto text =
      fmt::format("{}, {}, {}", format_counted(features.columns, "column", "columns"),
                  base::name_of(features.type), format_bytes(static_cast<double>(features.bytes())));
  if (!features.is_sparse()) {
    return text;
  }
  const double entries = static_cast<double>(features.num_entries());
  return fmt::format("{}; sparse, {} entries a row{}", text,
                     format_number(entries / static_cast<double>(std::max<std::int64_t>(1, features.rows))),
                     features.data == nullptr ? ", all 1" : "");
}

std::string order_text(const StoreDescription& description) {
  const std::string renamed = description.graph.original_ids.empty() ? "" : "; original_ids.npy names them";
  switch (description.order) {
    case graph::VertexOrder::degree:
      return "degree (the most used vertices first)" + renamed;
    case graph::VertexOrder::rcm:
      return "rcm (reverse Cuthill-McKee)" + renamed;
    case graph::VertexOrder::none:
      break;
  }
  return "the data's" + renamed;
}

}  // namespace

StoreDescription describe_store(const std::filesystem::path& directory) {
  StoreDescription description;
  description.path = directory.string();
  description.graph = graph::open_store(directory);
  const auto meta = graph::read_store_meta(directory);
  description.order = meta.order;
  description.version = meta.version;
  description.provenance = base::write_value(meta.provenance);
  description.named = graph::VertexNames(directory).any();
  const auto degrees = sorted_degrees(description.graph);
  if (!degrees.empty()) {
    description.least_degree = degrees.front();
    description.median_degree = degrees[degrees.size() / 2];
    description.most_degree = degrees.back();
    description.isolated = std::upper_bound(degrees.begin(), degrees.end(), 0) - degrees.begin();
  }
  return description;
}

std::string store_text(const StoreDescription& description) {
  const auto& graph = description.graph;
  const double mean = graph.num_vertices() == 0 ? 0
                                                : static_cast<double>(graph.num_edges()) /
                                                      static_cast<double>(graph.num_vertices());
  const auto size = [](const auto& span) { return format_count(static_cast<std::int64_t>(span.size())); };
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, value);
  };
  line("graph", graph.name);
  line("vertices", format_count(graph.num_vertices()));
  line("edges", format_count(graph.num_edges()));
  line("degrees",
       fmt::format("{} to {}, median {}, mean {}; {} none", format_count(description.least_degree),
                   format_count(description.most_degree), format_count(description.median_degree),
                   format_number(mean), format_counted(description.isolated, "vertex has", "vertices have")));
  if (!graph.edge_weights.empty()) {
    line("weights", "of every edge");
  }
  line("features", features_text(graph.features));
  line("classes", graph.labels.empty() ? "no labels"
                                       : format_count(graph.num_classes) +
                                             (graph.is_multilabel() ? ", several per vertex" : ""));
  line("splits",
       fmt::format("{} train, {} valid, {} test", size(graph.train), size(graph.valid), size(graph.test)));
  line("order", order_text(description));
  if (description.named) {
    line("names", "original vertex names in names.txt");
  }
  if (description.version == 1) {
    line("version", "1; gnomon convert writes the current one, which takes less space");
  }
  line("made by", description.provenance.value("made_by", ""));
  return text;
}

base::Json store_document(const StoreDescription& description) {
  const auto& graph = description.graph;
  return {{"schema", "gnomon.store_info/1"},
          {"path", description.path},
          {"name", graph.name},
          {"version", description.version},
          {"vertices", graph.num_vertices()},
          {"edges", graph.num_edges()},
          {"edge_weights", !graph.edge_weights.empty()},
          {"degrees",
           {{"least", description.least_degree},
            {"median", description.median_degree},
            {"most", description.most_degree},
            {"isolated", description.isolated}}},
          {"feature_columns", graph.features.any() ? graph.features.columns : 0},
          {"feature_type", std::string(base::name_of(graph.features.type))},
          {"feature_form", graph.features.is_sparse() ? "sparse" : "dense"},
          {"feature_bytes", graph.features.bytes()},
          {"classes", graph.num_classes},
          {"multilabel", graph.is_multilabel()},
          {"order", std::string(base::name_of(description.order))},
          {"renamed", !graph.original_ids.empty()},
          {"named", description.named},
          {"train", graph.train.size()},
          {"valid", graph.valid.size()},
          {"test", graph.test.size()},
          {"provenance", description.provenance}};
}

}  // namespace gnomon::apps
