#pragma once

#include <filesystem>
#include <string>

#include "base/document.h"
#include "graph/graph.h"
#include "graph/order/reorder.h"

namespace gnomon::apps {

/// The description of a graph store.
struct StoreDescription {
  std::string path;
  graph::Graph graph;
  graph::VertexOrder order = graph::VertexOrder::none;
  int version = 0;     ///< of the format
  bool named = false;  ///< whether the data name the vertices (graph/store/names.h)
  base::Json provenance;
  std::int64_t least_degree = 0, median_degree = 0, most_degree = 0;
  std::int64_t isolated = 0;  ///< vertices without in-neighbours
};

/// Opens a store and counts its degrees; reads only indptr. Throws InputError.
StoreDescription describe_store(const std::filesystem::path& directory);

/// The description as aligned lines, and as the document "gnomon.store_info/1".
std::string store_text(const StoreDescription& description);
base::Json store_document(const StoreDescription& description);

}  // namespace gnomon::apps
