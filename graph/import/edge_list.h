#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/import/import.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// An edge list as a source, and notes for the user.
struct EdgeList {
  GraphSource source;
  std::vector<std::string> notes;  ///< how the file is read, one sentence each
  /// By vertex, whether it has an edge: complete once source.edges has run. Null unless ids are used
  /// unchanged and the number of vertices is inferred from the edges.
  std::shared_ptr<const std::vector<bool>> has_edge;
};

/// Opens an edge list; see Format. Reads the file once. Throws InputError, also for a file without edges.
EdgeList open_edge_list(const ImportOptions& options, const base::Progress& progress);

}  // namespace gnomon::graph
