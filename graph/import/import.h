#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "base/document.h"
#include "base/progress.h"
#include "graph/import/source.h"
#include "graph/order/reorder.h"

namespace gnomon::graph {

/// The formats that can be imported.
///
/// npz: an archive in one of two layouts. The sparse layout of shchur/gnn-benchmark has adj_data,
/// adj_indices, adj_indptr and adj_shape (an entry in row i and column j is an edge from i to j of weight
/// adj_data), attr_* in the same form or a dense attr_matrix, labels, and train_mask, val_mask, test_mask.
/// The plain layout has edges (n×2 or 2×n), edge_weights, node_features, node_labels, and train_masks,
/// val_masks, test_masks with one row per split.
///
/// ogb: a directory of the Open Graph Benchmark's node property data: raw/edge.csv.gz,
/// raw/num-node-list.csv.gz, raw/node-feat.csv.gz and raw/node-label.csv.gz, or raw/data.npz with edge_index,
/// node_feat and num_nodes_list beside raw/node-label.npz; split/NAME/{train,valid,test}.csv.gz; weights in
/// raw/edge_weight.csv.gz or in the array edge_weight.
///
/// matrix_market: coordinate format; pattern, integer or real; general or symmetric; plain or gzip. An entry
/// in row i and column j is an edge from i to j, and also from j to i if the matrix is symmetric. Its value
/// is the weight.
///
/// edge_list: lines "source destination …", plain or gzip, separated by blanks, tabs, commas or semicolons.
/// Lines that begin with # or % are comments. The number behind the two ids is the weight if weights are
/// imported and ignored otherwise.
///
/// automatic: detected from the content.
enum class Format : std::uint8_t { automatic, npz, ogb, matrix_market, edge_list };

struct ImportOptions {
  std::string source;  ///< a file, or a directory for ogb
  Format format = Format::automatic;
  std::string name;         ///< of the graph; defaults to the file's name
  SourceOptions content{};  ///< edges, features, component and split
  std::int64_t mask = 0;    ///< npz, plain layout: the row of the masks that is the split
  std::string ogb_split;    ///< ogb: the directory in split/; may be empty if there is only one
  /// edge_list: renumber the ids that occur from 0, in ascending order; otherwise ids are used unchanged.
  bool relabel = false;
  /// edge_list, matrix_market: .npy files of features (vertices, columns) of any real type and of labels
  /// (vertices), -1 for unknown; empty for none.
  std::string features;
  std::string labels;
  /// "given" for the weights in the source, or a .npy file with one weight per edge in the source's order;
  /// empty for none.
  std::string edge_weights;
  /// Number of random feature columns and of random classes to add to a graph that has none, for measuring
  /// speed; 0 adds nothing. They are drawn with content.split.seed.
  std::int64_t random_features = 0;
  std::int32_t random_classes = 0;
  VertexOrder order = VertexOrder::none;  ///< of the store's vertices; applied after a split is drawn

  bool takes_given_weights() const { return edge_weights == "given"; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("source", self.source);
    f("format", self.format);
    f("name", self.name);
    f("content", self.content);
    f("mask", self.mask, base::non_negative);
    f("ogb_split", self.ogb_split);
    f("relabel", self.relabel);
    f("features", self.features);
    f("labels", self.labels);
    f("edge_weights", self.edge_weights);
    f("random_features", self.random_features, base::Range{0, 1e6});
    f("random_classes", self.random_classes, base::Range{0, 1e6});
    f("order", self.order);
  }
};

/// Detects the format of a file or directory from its content. Throws InputError if it cannot be read.
Format detect_format(const std::filesystem::path& source);

/// Reads a graph and writes its store to `directory`, atomically. The input is streamed two to four times
/// (once more each with relabel and largest_component) and never held in memory. Memory is that of
/// write_source, plus 8 bytes per vertex for the row pointers of sparse arrays and 24 bytes per vertex with
/// relabel. An order adds the memory of vertices_in_order and doubles the space on disk. Throws InputError,
/// which names the file and the field or line, and Failure on I/O errors.
void import_graph(const ImportOptions& options, const std::filesystem::path& directory,
                  const base::Progress& progress = {});

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::Format> {
  static constexpr std::array<std::pair<graph::Format, std::string_view>, 5> values{
      {{graph::Format::automatic, "automatic"},
       {graph::Format::npz, "npz"},
       {graph::Format::ogb, "ogb"},
       {graph::Format::matrix_market, "matrix_market"},
       {graph::Format::edge_list, "edge_list"}}};
};
