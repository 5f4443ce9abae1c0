#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/import/import.h"
#include "graph/import/source.h"
#include "graph/store/npy_stream.h"

/// One function a format, and what they share; inside graph/ only.
namespace gnomon::graph {

GraphSource open_npz(const ImportOptions& options);
GraphSource open_ogb(const ImportOptions& options);
GraphSource open_matrix_market(const ImportOptions& options);
GraphSource open_edge_list(const ImportOptions& options, const base::Progress& progress);

/// Opens an array anew, from its beginning.
using OpenArray = std::function<NpyStream()>;

/// Edges from an array n×2 or 2×n; what 2×2 means must be said.
enum class Square : std::uint8_t { pairs, two_rows };
EdgeStream edges_of(const OpenArray& open, Square square);

/// Gives the source the rows of a dense array (n × columns) as features.
void add_features(GraphSource& source, const OpenArray& open);

/// Labels from an array (n) or (n × 1) of integers, or of floats that are whole or NaN (not known).
std::vector<std::int32_t> labels_of(NpyStream stream, std::int64_t num_vertices);

/// Gives the source's edges the weights of an array, one an edge in their order.
void add_weights(GraphSource& source, const OpenArray& open);

/// Reads the .npy files of the options into the source, whose num_vertices must be settled.
void add_given_arrays(GraphSource& source, const ImportOptions& options);

/// Collects edges into blocks for a visitor; flush() hands on what is left.
class EdgeBlocks {
 public:
  explicit EdgeBlocks(const EdgeVisitor& visit) : visit_(visit) { block_.reserve(capacity); }
  void push(const Edge& edge) {
    block_.push_back(edge);
    if (block_.size() == capacity) {
      flush();
    }
  }
  void flush() {
    visit_(block_);
    block_.clear();
  }

 private:
  static constexpr std::size_t capacity = std::size_t{1} << 16;
  const EdgeVisitor& visit_;
  std::vector<Edge> block_;
};

}  // namespace gnomon::graph
