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

/// Formats that can be imported.
///
/// npz: the arrays of shchur/gnn-benchmark (adj_data, adj_indices, adj_indptr, adj_shape; attr_* in the same
/// form, or attr_matrix dense; labels; train_mask, val_mask, test_mask), where an entry in row i and column j
/// is an edge from i to j of weight adj_data; or the plain ones (edges n×2 or 2×n, edge_weights,
/// node_features, node_labels, train_masks, val_masks, test_masks, one row a split).
///
/// ogb: a folder of the Open Graph Benchmark's node property data: raw/edge.csv.gz, raw/num-node-list.csv.gz,
/// raw/node-feat.csv.gz, raw/node-label.csv.gz, or raw/data.npz with edge_index, node_feat and num_nodes_list
/// beside raw/node-label.npz; split/NAME/{train,valid,test}.csv.gz; weights in raw/edge_weight.csv.gz or
/// edge_weight.
///
/// matrix_market: coordinate; pattern, integer or real; general or symmetric; plain or gzip. An entry in row
/// i and column j is an edge from i to j, and back if symmetric; its value is the weight.
///
/// edge_list: lines "source destination …", plain or gzip, separated by blanks, tabs, commas or semicolons;
/// lines that begin with # or % are comments; what follows the two ids is the weight, if weights are asked
/// for, and not used otherwise.
///
/// automatic: told by the content.
enum class Format : std::uint8_t { automatic, npz, ogb, matrix_market, edge_list };

struct ImportOptions {
  std::string source;  ///< file, or the folder of ogb
  Format format = Format::automatic;
  std::string name;         ///< of the graph; empty: the file's name
  SourceOptions content{};  ///< edges, features, component and split
  std::int64_t mask = 0;    ///< which row of the plain npz's masks is the split
  std::string ogb_split;    ///< which folder of split/; empty: the only one
  /// edge_list: number the ids that occur from 0, ascending; else they are used as they are.
  bool relabel = false;
  /// edge_list, matrix_market: .npy files of features (vertices, columns) of any real type, and of labels
  /// (vertices), -1 where not known; empty: none.
  std::string features;
  std::string labels;
  /// "given": the source's own weights; or a .npy file with one an edge, in the source's order; empty: none.
  std::string edge_weights;
  /// What the data lacks is made at random, to measure speed on a bare graph (there is nothing to learn in
  /// it): so many feature columns, so many classes; 0: stays missing. Drawn by content.split.seed.
  std::int64_t random_features = 0;
  std::int32_t random_classes = 0;
  VertexOrder order = VertexOrder::none;  ///< the store's vertices; a split is drawn before they are ordered

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

/// The format of a file or folder by its content. Throws InputError when it cannot be read.
Format detect_format(const std::filesystem::path& source);

/// Reads a graph and writes its store to `directory`, atomically. The input is read two to four times (with
/// relabel or largest_component once more each) and never held whole: memory is that of write_source, 8 bytes
/// a vertex for the row pointers of sparse arrays, and with relabel 24 bytes a vertex; with an order also
/// that of vertices_in_order, and twice the room on disk. Throws InputError naming file and field or line,
/// and Failure when the disk does not take the store.
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
