#include "graph/import/npz.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/order/reorder.h"
#include "graph/partition/parted_store.h"
#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"
#include "tests/graph/import/scipy_files.h"

namespace gnomon::graph {
namespace {

class Npz : public ImportFixture {
 protected:
  using ImportFixture::error;
  ImportOptions written(const Arrays& arrays) {
    write_zip(directory_ / "x.npz", arrays);
    return options_for("x.npz");
  }
  Graph read(const Arrays& arrays) { return import(written(arrays)); }
  std::string error(const Arrays& arrays) { return ImportFixture::error(written(arrays)); }
};

// PyG

Arrays pyg_arrays() {
  return {{"edge_index", integers({2, 3}, {0, 1, 0, 1, 2, 2})},
          {"edge_attr", floats({3, 1}, {0.5, 2, 4})},
          {"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
          {"y", integers({3}, {1, 0, 1})},
          {"train_mask", truths({3}, {1, 0, 0})},
          {"val_mask", truths({3}, {0, 1, 0})},
          {"test_mask", truths({3}, {0, 0, 1})}};
}

Arrays replaced(Arrays arrays, const std::string& name, const std::string& bytes) {
  for (auto& array : arrays) {
    if (array.first == name) {
      array.second = bytes;
    }
  }
  return arrays;
}

Arrays without(Arrays arrays, const std::vector<std::string>& names) {
  std::erase_if(arrays,
                [&](const auto& array) { return std::ranges::find(names, array.first) != names.end(); });
  return arrays;
}

TEST_F(Npz, ReadsArraysWithTheNamesOfPyg) {
  auto options = written(pyg_arrays());
  options.content.split.method = SplitMethod::given;
  options.edge_weights = "given";
  const Graph graph = import(options);
  EXPECT_EQ(weighted_rows_of(graph), (WeightedRows{{}, {{0, 0.5F}}, {{0, 4.0F}, {1, 2.0F}}}));
  EXPECT_EQ(values_of(graph.features), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(to_vector(graph.labels), (Labels{1, 0, 1}));
  EXPECT_EQ(to_vector(graph.train), Ids{0});
  EXPECT_EQ(to_vector(graph.valid), Ids{1});
  EXPECT_EQ(to_vector(graph.test), Ids{2});
  // Two edges: edge_index has a row of sources and one of destinations.
  EXPECT_EQ(rows_of(read(replaced(without(pyg_arrays(), {"edge_attr"}), "edge_index",
                                  integers({2, 2}, {0, 1, 2, 2})))),
            (Rows{{}, {}, {0, 1}}));
}

/// Five vertices of three classes, of which two have the same and one is unknown.
Arrays multilabel_arrays() {
  return replaced(without(pyg_arrays(), {"x", "train_mask", "val_mask", "test_mask", "edge_attr"}), "y",
                  floats({5, 3}, {1, 0, 1, 0, 0, 0, 1, 0, 1, -1, NAN, -1, 0, 1, 0}));
}

TEST_F(Npz, ReadsSeveralClassesPerVertex) {
  auto options = written(multilabel_arrays());
  options.content.split.train_share = 1;
  options.content.split.valid_share = 0;
  const Graph graph = import(options);
  EXPECT_TRUE(graph.is_multilabel());
  EXPECT_EQ(graph.num_classes, 3);
  EXPECT_EQ(to_vector(graph.labels), (Labels{0, 1, 0, -1, 2}));
  EXPECT_EQ(to_vector(graph.label_sets), (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(to_vector(graph.train), (Ids{0, 1, 2, 4})) << "what is labelled";
  // The largest component keeps the vertices 0, 1 and 2.
  options.content.largest_component = true;
  EXPECT_EQ(to_vector(import(options).labels), (Labels{0, 1, 0}));
  // From a file of its own.
  std::filesystem::rename(directory_ / "x.npz", directory_ / "labelled.npz");
  write_text(directory_ / "labels.npy", integers({3, 2}, {0, 1, 1, 1, 0, 1}));
  auto bare = written(without(pyg_arrays(), {"y"}));
  bare.labels = directory_ / "labels.npy";
  const Graph other = import(bare);
  EXPECT_EQ(to_vector(other.labels), (Labels{0, 1, 0}));
  EXPECT_EQ(to_vector(other.label_sets), (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

TEST_F(Npz, RefusesLabelsThatAreNoSets) {
  const auto with_labels = [&](const std::string& labels) {
    return error(replaced(multilabel_arrays(), "y", labels));
  };
  EXPECT_EQ(
      with_labels(integers({2, 2}, {0, 1, 2, 0})),
      "x.npz: y: label 2.0 of vertex 1 for class 0; use 1 for the vertex's classes and 0 for others, or "
      "only -1 or NaN if they are unknown");
  EXPECT_EQ(
      with_labels(floats({2, 2}, {0, NAN, 1, 0})),
      "x.npz: y: label NaN of vertex 0 for class 1; use 1 for the vertex's classes and 0 for others, or "
      "only -1 or NaN if they are unknown");
  auto options = written(multilabel_arrays());
  options.content.split.method = SplitMethod::per_class;
  EXPECT_EQ(ImportFixture::error(options),
            "x.npz: labels: have several classes per vertex; a per_class split needs one; use a ratio split");
}

/// Written anew, in other orders and by parts.
TEST_F(Npz, StoresKeepSeveralClassesPerVertex) {
  const Graph graph = read(multilabel_arrays());
  const auto sets_of = [](const Graph& of) {
    std::vector<std::vector<std::uint8_t>> sets(static_cast<std::size_t>(of.num_vertices()));
    for (VertexId v = 0; v < of.num_vertices(); ++v) {
      if (const auto label = of.labels[static_cast<std::size_t>(v)]; label >= 0) {
        sets[static_cast<std::size_t>(of.original_id(v))] =
            to_vector(of.label_sets.subspan(static_cast<std::size_t>(label) * 3, 3));
      }
    }
    return sets;
  };
  const auto check = [&](const Graph& other) {
    validate(other, false);
    EXPECT_EQ(other.num_classes, 3);
    EXPECT_EQ(sets_of(other), sets_of(graph));
  };
  write_store(graph, directory_ / "copy");
  check(open_store(directory_ / "copy"));
  write_in_order(VertexOrder::degree, directory_ / "ordered",
                 [&](const std::filesystem::path& store) { write_store(graph, store); });
  check(open_store(directory_ / "ordered"));
  check(reordered(graph, std::vector<VertexId>{4, 2, 0, 1, 3}));
  for (const auto method : {PartitionMethod::random, PartitionMethod::gnn_aware}) {
    const PartitionRequest request{.method = method, .parts = 2};
    const auto store = directory_ / std::string(base::name_of(method));
    PartedStoreWriter(store).commit(graph, partition(graph, request), request, {.ratio = 0.1, .steps = 1});
    check(open_store(store));
  }
}

TEST_F(Npz, SeveralMasksMayStandInColumns) {
  auto arrays = replaced(pyg_arrays(), "train_mask", truths({3, 2}, {1, 0, 0, 0, 0, 1}));
  arrays = replaced(arrays, "val_mask", truths({3, 2}, {0, 1, 1, 0, 0, 0}));
  arrays = replaced(arrays, "test_mask", truths({3, 2}, {0, 0, 0, 1, 1, 0}));
  auto options = written(arrays);
  EXPECT_EQ(to_vector(import(options).train), Ids{0});
  options.mask = 1;
  const Graph graph = import(options);
  EXPECT_EQ(to_vector(graph.train), Ids{2});
  EXPECT_EQ(to_vector(graph.valid), Ids{0});
  EXPECT_EQ(to_vector(graph.test), Ids{1});
  options.mask = 2;
  EXPECT_EQ(ImportFixture::error(options), "x.npz: train_mask: has no mask 2; use 0 to 1");
}

TEST_F(Npz, TheNumberOfVerticesIsTakenFromWhatThereIs) {
  const std::string edges = integers({2, 2}, {0, 1, 1, 2});
  EXPECT_EQ(read({{"edge_index", edges}}).num_vertices(), 3);
  EXPECT_EQ(read({{"edge_index", edges}, {"num_nodes", integers({}, {5})}}).num_vertices(), 5);
  EXPECT_EQ(read({{"edge_index", edges}, {"y", integers({4}, {0, 1, 0, 1})}}).num_vertices(), 4);
  EXPECT_EQ(error({{"edge_index", edges}, {"x", floats({2, 1}, {0, 1})}}),
            "x.npz: edge 1: vertex id 2 is out of range; use 0 to 1");
  EXPECT_EQ(error({{"edge_index", integers({2, 1}, {0, 5000000})}}),
            "x.npz: edge_index: has vertex id 5000000 but only 1 edges; number the vertices from 0, or add "
            "the array "
            "num_nodes");
  EXPECT_EQ(error({{"edge_index", edges}, {"edges", edges}}),
            "x.npz: edges: means the same as edge_index; keep one of them");
}

TEST_F(Npz, ArraysThatItLacksMayBeFiles) {
  auto options = written({{"edge_index", integers({2, 2}, {0, 1, 1, 2})}});
  write_text(directory_ / "f.npy", floats({4, 1}, {4, 3, 2, 1}));
  write_text(directory_ / "l.npy", integers({4}, {0, 1, 1, 0}));
  options.features = directory_ / "f.npy";
  options.labels = directory_ / "l.npy";
  const Graph graph = import(options);
  EXPECT_EQ(values_of(graph.features), (std::vector<float>{4, 3, 2, 1}));
  EXPECT_EQ(to_vector(graph.labels), (Labels{0, 1, 1, 0}));
  options = written(pyg_arrays());
  options.features = directory_ / "f.npy";
  EXPECT_EQ(ImportFixture::error(options), "--features: x.npz: x has features already; leave --features out");
  options.features = "";
  options.labels = directory_ / "l.npy";
  EXPECT_EQ(ImportFixture::error(options), "--labels: x.npz has labels already; leave --labels out");
}

// SciPy

TEST_F(Npz, ReadsMatricesOfScipy) {
  for (const std::string format : {"csr", "csc", "coo"}) {
    EXPECT_EQ(rows_of(read(scipy_arrays(format))), (Rows{{2}, {0, 2}, {}})) << format;
    auto options = written(scipy_arrays(format));
    options.edge_weights = "given";
    EXPECT_EQ(weighted_rows_of(import(options)), (WeightedRows{{{2, 2.0F}}, {{0, 0.5F}, {2, 4.0F}}, {}}))
        << format;
  }
}

// numpy.savez(format="csr") of a Python string: a scalar of four-byte characters.
TEST_F(Npz, ReadsMatricesWhoseFormatIsText) {
  std::string wide;
  for (const char letter : std::string("csr")) {
    wide += std::string{letter, '\0', '\0', '\0'};
  }
  auto scalar = bytes_scalar(wide);
  const auto type = scalar.find("'|S12'");
  ASSERT_NE(type, std::string::npos);
  scalar.replace(type, 6, "'<U3' ");
  EXPECT_EQ(rows_of(read(replaced(scipy_arrays("csr"), "format", scalar))), (Rows{{2}, {0, 2}, {}}));
}

TEST_F(Npz, NamesFaultsOfMatricesOfScipy) {
  EXPECT_EQ(error(scipy_arrays("bsr")),
            "x.npz: format: is \"bsr\"; save the matrix as CSR, CSC or COO (matrix.tocsr())");
  EXPECT_EQ(error(replaced(scipy_arrays("csr"), "shape", integers({2}, {3, 4}))),
            "x.npz: shape: must be square, as an adjacency matrix is, not 3 by 4");
  EXPECT_EQ(error(replaced(scipy_arrays("csr"), "indptr", integers({4}, {0, 2, 1, 3}))),
            "x.npz: indptr: not monotone at position 2");
  EXPECT_EQ(error(replaced(scipy_arrays("csc"), "indices", integers({3}, {2, 0, 3}))),
            "x.npz: edge 2: vertex id 3 is out of range; use 0 to 2");
  EXPECT_EQ(error(replaced(scipy_arrays("coo"), "col", integers({2}, {0, 1}))),
            "x.npz: col: has 2 numbers; must be 3, as row has");
  EXPECT_EQ(error(without(scipy_arrays("coo"), {"row"})), "x.npz: row: is missing");
  EXPECT_EQ(
      error({{"a", integers({1}, {0})}, {"b", integers({1}, {0})}}),
      "x.npz: has neither edge_index (or edges), adj_indptr nor SciPy's format and shape; it holds a, b");
}

// Real graphs, in the layouts of other programs

std::string real_file(const std::string& name) { return std::string(SOURCE_DIR) + "/../shared/data/" + name; }

class RealNpz : public Npz {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(real_file("cora.npz"))) {
      GTEST_SKIP() << "cora.npz is not in ../shared/data";
    }
    ImportOptions options;
    options.source = real_file("cora.npz");
    cora_ = import(options);
  }
  Graph cora_;
};

TEST_F(RealNpz, CoraIsTheSameInEveryLayout) {
  Ids sources;
  Ids destinations;
  for (VertexId v = 0; v < cora_.num_vertices(); ++v) {
    for (const VertexId u : cora_.neighbours(v)) {
      sources.push_back(u);
      destinations.push_back(v);
    }
  }
  const auto edges = std::ssize(sources);
  Ids both = sources;
  both.insert(both.end(), destinations.begin(), destinations.end());
  const auto mask_of = [&](std::span<const VertexId> vertices) {
    std::vector<char> mask(static_cast<std::size_t>(cora_.num_vertices()), 0);
    for (const VertexId v : vertices) {
      mask[static_cast<std::size_t>(v)] = 1;
    }
    return truths({cora_.num_vertices()}, mask);
  };
  const Graph pyg = read({{"edge_index", integers({2, edges}, both)},
                          {"x", floats({cora_.num_vertices(), 1433}, values_of(cora_.features))},
                          {"y", npy(DType::int32, {cora_.num_vertices()}, to_vector(cora_.labels))},
                          {"train_mask", mask_of(cora_.train)},
                          {"val_mask", mask_of(cora_.valid)},
                          {"test_mask", mask_of(cora_.test)}});
  EXPECT_EQ(rows_of(pyg), rows_of(cora_));
  EXPECT_EQ(values_of(pyg.features), values_of(cora_.features));
  EXPECT_EQ(to_vector(pyg.labels), to_vector(cora_.labels));
  EXPECT_EQ(to_vector(pyg.test), to_vector(cora_.test));

  const std::string shape = integers({2}, {cora_.num_vertices(), cora_.num_vertices()});
  const Arrays common{{"shape", shape}, {"data", floats({edges}, std::vector<float>(sources.size(), 1))}};
  const auto with = [&](const Arrays& others) {
    Arrays arrays = common;
    arrays.insert(arrays.end(), others.begin(), others.end());
    return arrays;
  };
  // A store is CSC; Cora is symmetric, so that CSR has the same arrays.
  const Arrays compressed{{"indptr", integers({cora_.num_vertices() + 1}, to_vector(cora_.indptr))},
                          {"indices", integers({edges}, to_vector(cora_.indices))}};
  for (const std::string format : {"csr", "csc"}) {
    auto arrays = with(compressed);
    arrays.emplace_back("format", bytes_scalar(format));
    EXPECT_EQ(rows_of(read(arrays)), rows_of(cora_)) << format;
  }
  EXPECT_EQ(rows_of(read(with({{"format", bytes_scalar("coo")},
                               {"row", integers({edges}, sources)},
                               {"col", integers({edges}, destinations)}}))),
            rows_of(cora_));
}

}  // namespace
}  // namespace gnomon::graph
