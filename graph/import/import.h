#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/import/source.h"
#include "graph/order/reorder.h"

namespace gnomon::graph {

/// The formats that can be imported.
///
/// npz: an archive in one of three layouts. The sparse layout of shchur/gnn-benchmark has adj_data,
/// adj_indices, adj_indptr and adj_shape (an entry in row i and column j is an edge from i to j of weight
/// adj_data), attr_* in the same form or a dense attr_matrix, labels, and train_mask, val_mask, test_mask.
/// The plain layout has the arrays of a PyG data object or of Platonov et al. (2023): edge_index or edges
/// (n×2 or 2×n), edge_weight, edge_weights or edge_attr, x or node_features, y or node_labels, num_nodes, and
/// train_mask, val_mask, test_mask (vertices, or vertices × splits) or train_masks, val_masks, test_masks
/// (splits × vertices), or vertices in train_idx, val_idx (or valid_idx) and test_idx. The third is what
/// scipy.sparse.save_npz writes of a CSR, CSC or COO matrix, with the same meaning of rows and columns.
///
/// ogb: a directory of the Open Graph Benchmark's node property data: raw/edge.csv.gz,
/// raw/num-node-list.csv.gz, raw/node-feat.csv.gz and raw/node-label.csv.gz, or raw/data.npz with edge_index,
/// node_feat and num_nodes_list beside raw/node-label.npz; split/NAME/{train,valid,test}.csv.gz; weights in
/// raw/edge_weight.csv.gz or in the array edge_weight.
///
/// graphsaint: a directory of GraphSAINT (Zeng et al., ICLR 2020): adj_full.npz as scipy.sparse.save_npz
/// writes it, feats.npy, class_map.json (graph/import/class_map.h) and role.json with the vertices of "tr",
/// "va" and "te".
///
/// matrix_market: coordinate format; pattern, integer or real; general or symmetric; plain or gzip. An entry
/// in row i and column j is an edge from i to j, and also from j to i if the matrix is symmetric. Its value
/// is the weight.
///
/// edge_list: lines "source destination …", plain or gzip, separated by blanks, tabs, commas or semicolons;
/// fields may be in double quotes. Lines that begin with # or % are comments. The number behind the two ids
/// is the weight if weights are imported and ignored otherwise. A first line may name the columns: if it
/// holds words such as source and target, or src and dst, those columns are the ids, and a column weight
/// holds the weights. Ids are whole numbers ("3" or "3.0") or names (see IdKind).
///
/// automatic: detected from the content.
enum class Format : std::uint8_t { automatic, npz, ogb, matrix_market, edge_list, graphsaint };

/// Whether the first line of an edge list names its columns. automatic: it does if it holds words for source
/// and destination, or if it holds no numbers while the line that follows does.
enum class Header : std::uint8_t { automatic, yes, no };

/// What the ids of an edge list are. names are numbered from 0 in the order of their first occurrence and
/// kept in the store (graph/store/names.h). automatic: names if those of the first edge are not numbers.
enum class IdKind : std::uint8_t { automatic, numbers, names };

struct ImportOptions {
  std::string source;  ///< a file, or a directory for ogb and graphsaint
  Format format = Format::automatic;
  std::string name;         ///< of the graph; defaults to the file's name
  SourceOptions content{};  ///< edges, features, component and split
  std::int64_t mask = 0;    ///< npz, plain layout: which of several splits of the masks
  std::string ogb_split;    ///< ogb: the directory in split/; may be empty if there is only one
  /// edge_list: renumber the ids that occur from 0, in ascending order; otherwise numbers are used unchanged.
  bool relabel = false;
  Header header = Header::automatic;  ///< edge_list
  IdKind ids = IdKind::automatic;     ///< edge_list
  /// edge_list: a file with the ids or names of all vertices, one per line: vertex i is on line i. Empty: the
  /// vertices are those of the edges. Features and labels of named vertices need it.
  std::string vertices;
  /// edge_list, matrix_market, npz without such arrays: .npy files of features (vertices, columns) of any
  /// real type and of labels (vertices), -1 for unknown, or (vertices, classes) of 0 and 1 for several
  /// classes per vertex; empty for none.
  std::string features;
  std::string labels;
  /// edge_list, matrix_market, npz without masks: files with the vertices of each set of the split: text with
  /// one id or name per line, plain or gzip, or .npy with ids or a Boolean mask; empty for none. Ids of a
  /// matrix and of npz start at 0.
  std::string train_ids;
  std::string valid_ids;
  std::string test_ids;
  /// "given" for the weights in the source, or a .npy file with one weight per edge in the source's order;
  /// empty for none.
  std::string edge_weights;
  /// Number of random feature columns and of random classes to add to a graph that has none, for measuring
  /// speed; 0 adds nothing. They are drawn with content.split.seed.
  std::int64_t random_features = 0;
  std::int32_t random_classes = 0;
  VertexOrder order = VertexOrder::none;  ///< of the store's vertices; applied after a split is drawn

  /// The fields that the user named, with the options that set them ("content.split.seed": "--seed"): an
  /// option without effect is refused even if it has its default value. Not part of the document.
  std::map<std::string, std::string> named;

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
    f("header", self.header);
    f("ids", self.ids);
    f("vertices", self.vertices);
    f("features", self.features);
    f("labels", self.labels);
    f("train_ids", self.train_ids);
    f("valid_ids", self.valid_ids);
    f("test_ids", self.test_ids);
    f("edge_weights", self.edge_weights);
    f("random_features", self.random_features, base::Range{0, 1e6});
    f("random_classes", self.random_classes, base::Range{0, 1e6});
    f("order", self.order);
  }
};

/// Detects the format of a file or directory from its content. Throws InputError if it cannot be read, and
/// for a file that only Python can read (Parquet, Feather, torch.save, pickle), with the lines that convert
/// it.
Format detect_format(const std::filesystem::path& source);

/// Reads a graph and writes its store to `directory`, atomically. Returns notes for the user on how the input
/// was interpreted (a header, names, ids without edges), one sentence each. The input is streamed once, once
/// more if its number of vertices is not given, and once more each with relabel, names and largest_component;
/// text is parsed on all cores. Memory is that of write_source, plus 8 bytes per vertex for the row pointers
/// of sparse arrays, 24 bytes per vertex with relabel, and the names with about 80 bytes each. An order adds
/// the memory of vertices_in_order and doubles the space on disk. Throws InputError, which names the file and
/// the field or line, also for an option that has no effect (graph/import/option_rules.h), and Failure on I/O
/// errors.
std::vector<std::string> import_graph(const ImportOptions& options, const std::filesystem::path& directory,
                                      const base::Progress& progress = {});

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::Format> {
  static constexpr std::array<std::pair<graph::Format, std::string_view>, 6> values{
      {{graph::Format::automatic, "automatic"},
       {graph::Format::npz, "npz"},
       {graph::Format::ogb, "ogb"},
       {graph::Format::matrix_market, "matrix_market"},
       {graph::Format::edge_list, "edge_list"},
       {graph::Format::graphsaint, "graphsaint"}}};
};

template <>
struct gnomon::base::EnumNames<gnomon::graph::Header> {
  static constexpr std::array<std::pair<graph::Header, std::string_view>, 3> values{
      {{graph::Header::automatic, "automatic"}, {graph::Header::yes, "yes"}, {graph::Header::no, "no"}}};
};

template <>
struct gnomon::base::EnumNames<gnomon::graph::IdKind> {
  static constexpr std::array<std::pair<graph::IdKind, std::string_view>, 3> values{
      {{graph::IdKind::automatic, "automatic"},
       {graph::IdKind::numbers, "numbers"},
       {graph::IdKind::names, "names"}}};
};
