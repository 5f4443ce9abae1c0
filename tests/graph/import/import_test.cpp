#include "graph/import/import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "graph/feature_bits.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"

namespace gnomon::graph {
namespace {

class Import : public ImportFixture {
 protected:
  using ImportFixture::error;

  ImportOptions options(const std::string& file) const {
    ImportOptions result;
    result.source = directory_ / file;
    return result;
  }
  std::string error(const std::string& file) { return error(options(file)); }
  std::string text_error(const std::string& text) {
    write_text(directory_ / "x.txt", text);
    return error("x.txt");
  }
  std::string zip_error(const Arrays& arrays) {
    write_zip(directory_ / "x.npz", arrays);
    return error("x.npz");
  }
};

std::vector<float> features_of(const Graph& graph) { return test::dense_values(graph.features); }

template <class T>
std::vector<T> to_vector(std::span<const T> span) {
  return {span.begin(), span.end()};
}

using Ids = std::vector<VertexId>;
using Labels = std::vector<std::int32_t>;

// Edge lists

const Rows edge_rows{{}, {0}, {0, 1}, {2}};

TEST_F(Import, ReadsEdgeListsWithAnySeparatorAndComments) {
  const std::string texts[] = {"0 1\n0 2\n1 2\n2 3\n", "# c\n% c\n\n0\t1\n 0\t2\n1\t2\n2\t3",
                               "0,1\r\n0,2\r\n1, 2\r\n2 ,3\r\n", "0;1;0.5\n0;2;-1e9\n1;2;x\n2;3;\n"};
  for (const auto& text : texts) {
    write_text(directory_ / "plain.csv", text);
    EXPECT_EQ(rows_of(import(options("plain.csv"))), edge_rows) << text;
    write_gzip(directory_ / "packed.txt.gz", text);
    const Graph graph = import(options("packed.txt.gz"));
    EXPECT_EQ(rows_of(graph), edge_rows) << text;
    EXPECT_EQ(graph.name, "packed");
    EXPECT_EQ(graph.num_classes, 0);
    EXPECT_TRUE(graph.train.empty());
  }
}

TEST_F(Import, ReadsEdgeListsLongerThanAnyBuffer) {
  std::string text = "# " + std::string(3 << 20, 'x') + "\n";
  for (int i = 0; i < 200000; ++i) {
    text += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  }
  write_gzip(directory_ / "path.gz", text);
  const Graph graph = import(options("path.gz"));
  EXPECT_EQ(graph.num_vertices(), 200001);
  EXPECT_EQ(graph.num_edges(), 200000);
  EXPECT_EQ(graph.neighbours(123456)[0], 123455);
}

TEST_F(Import, ReadsFeaturesAndLabelsBesideAnEdgeList) {
  write_text(directory_ / "e.txt", "0 1\n1 2\n");
  write_text(directory_ / "f.npy", npy<double>(DType::float64, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {4}, {2, -1, 0, 1}));
  auto with_both = options("e.txt");
  with_both.features = directory_ / "f.npy";
  with_both.labels = directory_ / "l.npy";
  with_both.content.split.train_share = 0.34;
  with_both.content.split.valid_share = 0.33;
  const Graph graph = import(with_both);
  EXPECT_EQ(rows_of(graph), (Rows{{}, {0}, {1}, {}}));
  EXPECT_EQ(features_of(graph), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(to_vector(graph.labels), (Labels{2, -1, 0, 1}));
  EXPECT_EQ(graph.num_classes, 3);
  EXPECT_EQ(graph.train.size(), 1U);
  EXPECT_EQ(graph.valid.size(), 1U);
  EXPECT_EQ(graph.test.size(), 1U);

  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {3}, {2, -1, 0}));
  EXPECT_EQ(error(with_both),
            "l.npy: has the shape (3,); must be (4,), or (4, classes) if vertices may have several classes");
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {4}, {2, -1, 0, -7}));
  EXPECT_EQ(error(with_both),
            "l.npy: label -7.0 of vertex 3 is out of range; use whole numbers from 0, or -1 for unknown");
  write_text(directory_ / "l.npy", npy<float>(DType::float32, {4}, {0, 1, 1.5, 0}));
  EXPECT_EQ(error(with_both),
            "l.npy: label 1.5 of vertex 2 is out of range; use whole numbers from 0, or -1 for unknown");
  write_text(directory_ / "f.npy", floats({2, 1}, {1, 2}));
  EXPECT_EQ(error(with_both), "f.npy: must have the shape (4, columns), one row per vertex");
  write_text(directory_ / "f.npy", floats({4, 1}, {1, 2, 3, 4}).substr(0, npy_header_bytes + 12));
  EXPECT_EQ(error(with_both),
            "l.npy: label 1.5 of vertex 2 is out of range; use whole numbers from 0, or -1 for unknown");
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {4}, {2, -1, 0, 1}));
  EXPECT_EQ(error(with_both), "f.npy: is truncated: shape (4, 1) needs 4 numbers");
  write_text(directory_ / "f.npy", floats({4, 1}, {1, 2, std::nanf(""), 4}));
  EXPECT_EQ(error(with_both), "f.npy: NaN or infinite in row 2; features must be finite");
}

TEST_F(Import, WhatIsMissingCanBeMadeAtRandom) {
  write_text(directory_ / "e.txt", "0 1\n1 2\n2 3\n3 4\n");
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {5}, {0, 1, 0, 1, 0}));
  auto random = options("e.txt");
  random.random_features = 300;
  random.random_classes = 3;
  const Graph graph = import(random);
  validate(graph, true);
  EXPECT_EQ(graph.features.columns, 300);
  const auto values = features_of(graph);
  const auto [least, most] = std::ranges::minmax(values);
  EXPECT_GE(least, -1);
  EXPECT_LT(least, -0.98);
  EXPECT_GT(most, 0.98);
  EXPECT_LT(most, 1);
  EXPECT_EQ(features_of(import(random)), values);
  random.labels = directory_ / "l.npy";
  EXPECT_EQ(error(random), "--random-classes: has no effect: e.txt has labels; leave it out");
  random.random_classes = 0;
  EXPECT_EQ(to_vector(import(random).labels), (Labels{0, 1, 0, 1, 0}));
}

TEST_F(Import, RelabelNumbersSparseIds) {
  write_text(directory_ / "e.txt", "70000000000 5\n5 9000000000000000000\n");
  auto sparse = options("e.txt");
  EXPECT_EQ(error(sparse), "e.txt: has vertex id 9000000000000000000 but only 2 edges; use --relabel");
  sparse.relabel = true;
  const Graph graph = import(sparse);
  EXPECT_EQ(rows_of(graph), (Rows{{1}, {}, {0}}));
  EXPECT_EQ(to_vector(map_npy(graph.directory / "original_ids.npy").span<VertexId>()),
            (Ids{5, 70000000000, 9000000000000000000}));
  sparse.content.largest_component = true;
  EXPECT_EQ(rows_of(import(sparse)), (Rows{{1}, {}, {0}}));
}

TEST_F(Import, MalformedLinesAreNumbered) {
  EXPECT_EQ(text_error("0 1\nsource,target\n"),
            "x.txt: line 2: must be two vertex ids (comments begin with #), not \"source,target\"");
  EXPECT_EQ(text_error("0 1\n\n2\n"),
            "x.txt: line 3: must be two vertex ids (comments begin with #), not \"2\"");
  EXPECT_EQ(text_error("0 1.5\n"),
            "x.txt: line 1: must be two vertex ids (comments begin with #), not \"0 1.5\"");
  EXPECT_EQ(text_error("0 -1\n"),
            "x.txt: line 1: must be two vertex ids that are not negative, not \"0 -1\"");
  EXPECT_EQ(text_error("\x89PNG\n"),
            "x.txt: line 1: must be two vertex ids (comments begin with #), not \"?PNG\"");
  EXPECT_EQ(text_error("1 99999999999999999999\n"),
            "x.txt: line 1: must be two vertex ids (comments begin with #), not \"1 99999999999999999999\"");
  EXPECT_EQ(error("absent.txt"), "absent.txt: cannot be read");
}

TEST_F(Import, RefusesTruncatedAndDamagedGzip) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += std::to_string(i) + " " + std::to_string((i * 7919) % 5000) + "\n";
  }
  write_gzip(directory_ / "e.gz", text);
  std::string bytes = base::read_file(directory_ / "e.gz");
  write_text(directory_ / "short.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(error("short.gz"), "short.gz: is truncated: its gzip stream has no end");
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 0x55);  // inside the check sum
  write_text(directory_ / "damaged.gz", bytes);
  EXPECT_NE(error("damaged.gz").find("damaged.gz: cannot be decompressed: "), std::string::npos);
}

TEST_F(Import, AnExistingDestinationIsAnError) {
  write_text(directory_ / "e.txt", "0 1\n");
  std::filesystem::create_directory(directory_ / "g0");
  EXPECT_EQ(error("e.txt"), "g0: already exists; give a new name or remove it first");
}

// Matrix Market

TEST_F(Import, ReadsMatrixMarket) {
  write_text(directory_ / "m.mtx",
             "%%MatrixMarket matrix coordinate real general\n% c\n%\n3 3 3\n1 2 0.5\n1 3 2\n3 3 -1e3\n");
  EXPECT_EQ(rows_of(import(options("m.mtx"))), (Rows{{}, {0}, {0, 2}}));
  write_gzip(directory_ / "m.mtx.gz",
             "%%MatrixMarket  MATRIX coordinate pattern symmetric\n3 3 3\n2 1\n3 1\n3 3\n");
  const Graph graph = import(options("m.mtx.gz"));
  EXPECT_EQ(rows_of(graph), (Rows{{1, 2}, {0}, {0, 2}}));
  EXPECT_EQ(graph.name, "m");
}

TEST_F(Import, NamesFaultsOfMatrixMarket) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  EXPECT_EQ(text_error("%%MatrixMarket matrix array real general\n2 2\n"),
            "x.txt: line 1: must be \"%%MatrixMarket matrix coordinate pattern|real|integer "
            "general|symmetric\", not "
            "\"%%MatrixMarket matrix array real general\"");
  EXPECT_EQ(text_error(banner + "2 3 1\n1 1\n"), "x.txt: line 2: the matrix must be square, not 2 by 3");
  EXPECT_EQ(text_error(banner + "two 2 1\n1 1\n"),
            "x.txt: line 2: must be \"rows columns entries\", not \"two 2 1\"");
  EXPECT_EQ(text_error(banner),
            "x.txt: line 1: must be followed by \"rows columns entries\", not the end of the file");
  EXPECT_EQ(text_error(banner + "2 2 1\n1 3\n"),
            "x.txt: line 3: must be row and column from 1 to 2, not \"1 3\"");
  EXPECT_EQ(text_error(banner + "2 2 1\n0 1\n"),
            "x.txt: line 3: must be row and column from 1 to 2, not \"0 1\"");
  EXPECT_EQ(text_error(banner + "2 2 2\n1 1\n"), "x.txt: has 1 entries; its header says 2");
}

// npz

Arrays sparse_arrays() {
  return {{"adj_data", floats({4}, {1, 1, 1, 1})},
          {"adj_indices", npy<std::int32_t>(DType::int32, {4}, {1, 2, 0, 3})},
          {"adj_indptr", npy<std::int32_t>(DType::int32, {5}, {0, 2, 3, 3, 4})},
          {"adj_shape", integers({2}, {4, 4})},
          {"attr_data", floats({4}, {0.5, 1, 2, 4})},
          {"attr_indices", npy<std::int32_t>(DType::int32, {4}, {2, 0, 2, 2})},
          {"attr_indptr", npy<std::int32_t>(DType::int32, {5}, {0, 1, 3, 3, 4})},
          {"attr_shape", integers({2}, {4, 3})},
          {"labels", integers({4}, {1, 0, -1, 1})},
          {"train_mask", truths({4}, {1, 0, 0, 0})},
          {"val_mask", truths({4}, {0, 1, 0, 0})},
          {"test_mask", truths({4}, {0, 0, 0, 1})}};
}

/// The arrays with one replaced, or, with empty bytes, left out.
Arrays with(Arrays arrays, const std::string& name, const std::string& bytes) {
  for (auto it = arrays.begin(); it != arrays.end(); ++it) {
    if (it->first == name) {
      arrays.erase(it);
      break;
    }
  }
  if (!bytes.empty()) {
    arrays.emplace_back(name, bytes);
  }
  return arrays;
}

TEST_F(Import, SparseFeaturesStaySparseWhereThatIsSmaller) {
  // Four rows of 30 columns take 480 bytes dense, and 40 bytes and 8 an entry sparse.
  auto arrays = with(sparse_arrays(), "attr_shape", integers({2}, {4, 30}));
  write_zip(directory_ / "x.npz", arrays);
  const auto form_of = [&](FeatureForm form, FeatureType type = FeatureType::fp32) {
    auto changed = options("x.npz");
    changed.content.feature_form = form;
    changed.content.feature_type = type;
    const Graph graph = import(changed);
    std::vector<float> expected(120, 0.0F);
    expected[2] = 0.5;
    expected[30] = 1;
    expected[32] = 2;
    expected[92] = 4;
    EXPECT_EQ(features_of(graph), expected);
    EXPECT_EQ(graph.features.type, type);
    return graph.features.is_sparse();
  };
  EXPECT_TRUE(form_of(FeatureForm::automatic));
  EXPECT_TRUE(form_of(FeatureForm::automatic, FeatureType::fp16));
  EXPECT_TRUE(form_of(FeatureForm::sparse));
  EXPECT_FALSE(form_of(FeatureForm::dense));

  write_zip(directory_ / "x.npz", sparse_arrays());  // 48 bytes dense
  EXPECT_FALSE(import(options("x.npz")).features.is_sparse());
  auto forced = options("x.npz");
  forced.content.feature_form = FeatureForm::sparse;
  EXPECT_TRUE(import(forced).features.is_sparse());
}

TEST_F(Import, DuplicatesAndZerosOfSparseFeaturesAreNoEntries) {
  auto arrays = with(sparse_arrays(), "attr_shape", integers({2}, {4, 30}));
  arrays = with(arrays, "attr_indices", npy<std::int32_t>(DType::int32, {4}, {7, 5, 5, 2}));
  arrays = with(arrays, "attr_data", floats({4}, {0, 0.75, 0.25, 1}));
  write_zip(directory_ / "x.npz", arrays);
  const Graph graph = import(options("x.npz"));
  EXPECT_EQ(to_vector(graph.features.indptr), (std::vector<std::int64_t>{0, 0, 1, 1, 2}));
  EXPECT_EQ(to_vector(graph.features.entry_columns), (std::vector<std::int32_t>{5, 2}));
  EXPECT_EQ(graph.features.data, nullptr) << "both values are 1";
}

TEST_F(Import, DenseFilesOfMostlyZerosBecomeSparse) {
  write_text(directory_ / "e.txt", "0 1\n1 2\n2 0\n");
  std::vector<float> values(3 * 50, 0.0F);
  values[4] = values[77] = 2;
  write_text(directory_ / "f.npy", floats({3, 50}, values));
  auto sparse = options("e.txt");
  sparse.features = directory_ / "f.npy";
  const Graph graph = import(sparse);
  EXPECT_TRUE(graph.features.is_sparse());
  EXPECT_EQ(features_of(graph), values);
  sparse.order = VertexOrder::degree;
  EXPECT_TRUE(import(sparse).features.is_sparse());
}

TEST_F(Import, ReadsAndWritesBf16AsMlDtypesDoes) {
  write_text(directory_ / "e.txt", "0 1\n1 2\n2 0\n");
  // 1, -2, 0.5, the smallest number, the largest one, -0
  auto file = npy<std::uint16_t>(DType::bfloat16, {3, 2}, {0x3F80, 0xC000, 0x3F00, 0x0001, 0x7F7F, 0x8000});
  const std::vector<float> values{1, -2, 0.5F, 0x1p-133F, 0x1.FEp127F, -0.0F};
  for (const char* const descr : {"<V2", "|V2"}) {
    file.replace(file.find("V2") - 1, 3, descr);
    write_text(directory_ / "f.npy", file);
    auto given = options("e.txt");
    given.features = directory_ / "f.npy";
    given.content.feature_form = FeatureForm::dense;
    EXPECT_EQ(features_of(import(given)), values);
    given.content.feature_type = FeatureType::bf16;
    const Graph graph = import(given);
    EXPECT_EQ(graph.features.type, FeatureType::bf16);
    EXPECT_EQ(features_of(graph), values);
  }
}

TEST_F(Import, ReadsSparseNpz) {
  write_zip(directory_ / "x.npz", sparse_arrays());
  const Graph graph = import(options("x.npz"));
  EXPECT_EQ(rows_of(graph), (Rows{{1}, {0}, {0}, {3}}));
  EXPECT_EQ(features_of(graph), (std::vector<float>{0, 0, 0.5, 1, 0, 2, 0, 0, 0, 0, 0, 4}));
  EXPECT_EQ(to_vector(graph.labels), (Labels{1, 0, -1, 1}));
  EXPECT_EQ(to_vector(graph.train), Ids{0});
  EXPECT_EQ(to_vector(graph.valid), Ids{1});
  EXPECT_EQ(to_vector(graph.test), Ids{3});

  auto changed = options("x.npz");
  changed.content.feature_type = FeatureType::fp16;
  changed.content.normalise_features = RowNorm::l1;
  changed.content.largest_component = true;
  const Graph component = import(changed);
  EXPECT_EQ(rows_of(component), (Rows{{1}, {0}, {0}}));
  EXPECT_EQ(component.features.type, FeatureType::fp16);
  EXPECT_EQ(features_of(component),
            (std::vector<float>{0, 0, 1, float_from_half(half_from_float(1.0F / 3)), 0,
                                float_from_half(half_from_float(2.0F / 3)), 0, 0, 0}));
  EXPECT_EQ(to_vector(component.labels), (Labels{1, 0, -1}));
  EXPECT_TRUE(component.test.empty());
  changed.content.feature_type = FeatureType::fp32;
  changed.content.normalise_features = RowNorm::l2;
  const double length = std::sqrt(5.0);  // of (1, 0, 2)
  EXPECT_EQ(features_of(import(changed)), (std::vector<float>{0, 0, 1, static_cast<float>(1 / length), 0,
                                                              static_cast<float>(2 / length), 0, 0, 0}));

  write_zip(directory_ / "x.npz", with(with(with(with(with(sparse_arrays(), "attr_indptr", ""), "attr_matrix",
                                                      npy<double>(DType::float64, {4, 1}, {4, 3, 2, 1})),
                                                 "train_mask", ""),
                                            "val_mask", ""),
                                       "test_mask", ""));
  EXPECT_EQ(features_of(import(options("x.npz"))), (std::vector<float>{4, 3, 2, 1}));
  changed = options("x.npz");
  changed.content.split.method = SplitMethod::given;
  EXPECT_EQ(error(changed), "x.npz: has no split; use a per_class or ratio split");
}

TEST_F(Import, NamesFaultsOfSparseNpz) {
  const auto base = sparse_arrays();
  EXPECT_EQ(
      zip_error(with(base, "adj_indptr", "")),
      "x.npz: has neither edge_index (or edges), adj_indptr nor SciPy's format and shape; it holds adj_data, "
      "adj_indices, adj_shape, attr_data, attr_indices, attr_indptr");
  EXPECT_EQ(zip_error(with(base, "adj_shape", "")), "x.npz: adj_shape: is missing");
  EXPECT_EQ(zip_error(with(base, "adj_shape", integers({2}, {4, 5}))), "x.npz: adj_shape: must be square");
  for (const std::int64_t wrong : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(zip_error(with(base, "adj_shape", integers({2}, {wrong, wrong}))),
              "x.npz: adj_shape: holds " + std::to_string(wrong) + " and " + std::to_string(wrong) +
                  "; use 0 to 1099511627776");
  }
  EXPECT_EQ(zip_error(with(base, "adj_shape", integers({2}, {5, 5}))),
            "x.npz: adj_indptr: has 5 numbers; must be 6");
  EXPECT_EQ(zip_error(with(base, "adj_indptr", integers({5}, {0, 3, 2, 3, 4}))),
            "x.npz: adj_indptr: not monotone at position 2");
  EXPECT_EQ(zip_error(with(base, "adj_indptr", integers({5}, {0, 2, 3, 3, 5}))),
            "x.npz: adj_indptr: must begin with 0 and end with 4");
  EXPECT_EQ(zip_error(with(base, "adj_indices", integers({4}, {1, 2, 7, 3}))),
            "x.npz: edge 2: vertex id 7 is out of range; use 0 to 3");
  EXPECT_EQ(zip_error(with(base, "adj_indices", floats({4}, {1, 2, 0, 3}))),
            "x.npz: adj_indices: has type <f4; must be integers");
  EXPECT_EQ(
      zip_error(with(base, "adj_indices", integers({4}, {1, 2, 0, 3}).substr(0, npy_header_bytes + 22))),
      "x.npz: adj_indices: is truncated: shape (4,) needs 4 numbers");
  EXPECT_EQ(zip_error(with(base, "adj_indices", "junk")), "x.npz: adj_indices: is not a .npy file");
  EXPECT_EQ(zip_error(with(base, "attr_indices", integers({4}, {2, 0, 3, 2}))),
            "x.npz: attr_indices: column 3 in row 1 is out of range; use 0 to 2");
  EXPECT_EQ(zip_error(with(base, "attr_data", floats({4}, {1, INFINITY, 1, 1}))),
            "x.npz: attr_data: NaN or infinite in row 1; features must be finite");
  EXPECT_EQ(zip_error(with(base, "labels", integers({3}, {0, 1, 1}))),
            "x.npz: labels: has the shape (3,); must be (4,), or (4, classes) if vertices may have several "
            "classes");
  EXPECT_EQ(zip_error(with(base, "val_mask", truths({4}, {1, 1, 0, 0}))),
            "x.npz: valid split: vertex 0 is repeated; each vertex may be in one split only, once");
  EXPECT_EQ(zip_error(with(base, "val_mask", "")), "x.npz: val_mask: is missing");
  auto half = options("x.npz");
  write_zip(directory_ / "x.npz", with(base, "attr_data", floats({4}, {1, 70000, 1, 1})));
  half.content.feature_type = FeatureType::fp16;
  EXPECT_EQ(error(half), "x.npz: attr_data: 70000.0 does not fit fp16 (largest 65504); use fp32");
  write_zip(directory_ / "x.npz", with(base, "attr_data", floats({4}, {1, 3.4e38F, 1, 1})));
  half.content.feature_type = FeatureType::bf16;
  EXPECT_EQ(error(half),
            "x.npz: attr_data: 3.3999999521443642e+38 does not fit bf16 (largest 3.38953e+38); use fp32");
}

TEST_F(Import, RefusesTruncatedNpz) {
  write_zip(directory_ / "x.npz", sparse_arrays());
  const std::string bytes = base::read_file(directory_ / "x.npz");
  write_text(directory_ / "short.npz", bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(error("short.npz").find("short.npz: cannot be read as .npz: "), 0U);
}

TEST_F(Import, ReadsPlainNpz) {
  Arrays arrays{{"node_features", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                {"node_labels", integers({3}, {0, 1, 1})},
                {"edges", integers({3, 2}, {0, 1, 1, 2, 0, 1})},
                {"train_masks", truths({2, 3}, {1, 0, 0, 0, 0, 1})},
                {"val_masks", truths({2, 3}, {0, 1, 0, 0, 1, 0})},
                {"test_masks", truths({2, 3}, {0, 0, 1, 1, 0, 0})}};
  write_zip(directory_ / "x.npz", arrays);
  auto second = options("x.npz");
  second.mask = 1;
  second.content.edges.undirected = true;
  for (const auto& edges : {integers({3, 2}, {0, 1, 1, 2, 0, 1}), integers({2, 3}, {0, 1, 0, 1, 2, 1})}) {
    write_zip(directory_ / "x.npz", with(arrays, "edges", edges));
    const Graph graph = import(second);
    EXPECT_EQ(rows_of(graph), (Rows{{1}, {0, 2}, {1}}));
    EXPECT_EQ(features_of(graph), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(to_vector(graph.train), Ids{2});
    EXPECT_EQ(to_vector(graph.test), Ids{0});
  }
  EXPECT_EQ(zip_error(with(arrays, "edges", integers({6}, {0, 1, 1, 2, 0, 1}))),
            "x.npz: edges: must have the shape (edges, 2) or (2, edges)");
  EXPECT_EQ(zip_error(with(arrays, "node_labels", integers({3, 2, 1}, {0, 1, 1, 0, 0, 0}))),
            "x.npz: node_labels: has the shape (3, 2, 1); must be (3,), or (3, classes) if vertices may have "
            "several classes");
}

// OGB

class ImportOgb : public Import {
 protected:
  ImportOgb() {
    std::filesystem::create_directories(directory_ / "ogb/raw");
    std::filesystem::create_directories(directory_ / "ogb/split/time");
    write_gzip(directory_ / "ogb/split/time/train.csv.gz", "2\n0\n");
    write_gzip(directory_ / "ogb/split/time/valid.csv.gz", "1\n");
    write_gzip(directory_ / "ogb/split/time/test.csv.gz", "");
  }
  void write_raw(const std::string& name, const std::string& text) const {
    write_gzip(directory_ / ("ogb/raw/" + name + ".csv.gz"), text);
  }
  void write_csv() const {
    write_raw("num-node-list", "3\n");
    write_raw("edge", "0,1\n0,2\n2,1\n");
    write_raw("node-feat", "0.5,-1\n1e-3,2\n3,4\n");
    write_raw("node-label", "1\n0\nnan\n");
  }
  static void expect_sample(const Graph& graph) {
    EXPECT_EQ(rows_of(graph), (Rows{{}, {0, 2}, {0}}));
    EXPECT_EQ(features_of(graph), (std::vector<float>{0.5, -1, 1e-3F, 2, 3, 4}));
    EXPECT_EQ(to_vector(graph.labels), (Labels{1, 0, -1}));
    EXPECT_EQ(to_vector(graph.train), (Ids{0, 2}));
    EXPECT_EQ(to_vector(graph.valid), Ids{1});
    EXPECT_TRUE(graph.test.empty());
    EXPECT_EQ(graph.name, "ogb");
  }
};

TEST_F(ImportOgb, ReadsCsv) {
  write_csv();
  expect_sample(import(options("ogb")));
  expect_sample(import(options("ogb/")));
}

TEST_F(ImportOgb, ReadsBinary) {
  const Arrays data{{"edge_index", integers({2, 3}, {0, 0, 2, 1, 2, 1})},
                    {"node_feat", floats({3, 2}, {0.5, -1, 1e-3F, 2, 3, 4})},
                    {"num_nodes_list", integers({1}, {3})},
                    {"num_edges_list", integers({1}, {3})}};
  write_zip(directory_ / "ogb/raw/data.npz", data);
  write_zip(directory_ / "ogb/raw/node-label.npz", {{"node_label", floats({3, 1}, {1, 0, NAN})}});
  expect_sample(import(options("ogb")));
  write_zip(directory_ / "ogb/raw/data.npz", with(data, "edge_index", integers({2, 2}, {0, 2, 1, 1})));
  EXPECT_EQ(rows_of(import(options("ogb"))), (Rows{{}, {0, 2}, {}}));
}

/// As ogbn-proteins.
TEST_F(ImportOgb, ReadsSeveralClassesPerVertex) {
  write_csv();
  write_raw("node-label", "1,0,1\n0,0,0\nnan,nan,nan\n");
  auto graph = import(options("ogb"));
  EXPECT_EQ(to_vector(graph.labels), (Labels{0, 1, -1}));
  EXPECT_EQ(to_vector(graph.label_sets), (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(graph.num_classes, 3);
  write_raw("node-label", "1,0,1\n0,0\n1,1,1\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/node-label.csv.gz: line 2: has 2 numbers; must be 3 as in the first line");
  write_raw("node-label", "1,0,1\n0,0,0.5\n1,1,1\n");
  EXPECT_EQ(
      error("ogb"),
      "ogb/raw/node-label.csv.gz: label 0.5 of vertex 1 for class 2; use 1 for the vertex's classes and 0 "
      "for others, or only -1 or NaN if they are unknown");
  write_raw("node-label", "1,0,1\n0,0,0\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/node-label.csv.gz: has 2 labels; must be 3, one per vertex");
}

TEST_F(ImportOgb, NamesFaults) {
  EXPECT_EQ(error("ogb"), "ogb: has neither raw/edge.csv.gz nor raw/data.npz");
  write_csv();
  write_raw("edge", "0,1\n0;x\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/edge.csv.gz: line 2: must be two vertex ids, not \"0;x\"");
  write_raw("edge", "0,1\n0,3\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/edge.csv.gz: edge 1: vertex id 3 is out of range; use 0 to 2");
  write_csv();
  write_raw("node-feat", "1,2\n3\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/node-feat.csv.gz: line 2: has 1 numbers; must be 2 as in the first line");
  write_raw("node-feat", "1,2\n3,4\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/node-feat.csv.gz: has 2 rows; must be 3, one per vertex");
  write_csv();
  write_raw("node-label", "1\n0\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/node-label.csv.gz: has 2 labels; must be 3, one per vertex");
  write_raw("node-label", "1\n0\n1,2\n");
  EXPECT_EQ(error("ogb"),
            "ogb/raw/node-label.csv.gz: line 3: must be one label (a whole number from 0; -1 or nan for "
            "unknown), not \"1,2\"");
  write_csv();
  write_raw("num-node-list", "3\n4\n");
  EXPECT_EQ(error("ogb"),
            "ogb/raw/num-node-list.csv.gz: must hold one number; only single graphs with one vertex type are "
            "supported");
  write_csv();
  write_gzip(directory_ / "ogb/split/time/valid.csv.gz", "2\n");
  EXPECT_EQ(
      error("ogb"),
      "ogb/raw/edge.csv.gz: valid split: vertex 2 is repeated; each vertex may be in one split only, once");
  write_gzip(directory_ / "ogb/split/time/valid.csv.gz", "9\n");
  EXPECT_EQ(error("ogb"), "ogb/raw/edge.csv.gz: valid split: vertex 9 is out of range; use 0 to 2");
  std::filesystem::create_directories(directory_ / "ogb/split/random");
  EXPECT_EQ(error("ogb"), "ogb/split: has more than one split; choose one with --ogb-split");
  auto named = options("ogb");
  named.ogb_split = "space";
  EXPECT_EQ(error(named), "ogb/split/space: does not exist");
}

TEST_F(Import, ProvenanceIsKept) {
  write_text(directory_ / "e.txt", "0 1\n");
  auto undirected = options("e.txt");
  undirected.content.edges.undirected = true;
  const Graph graph = import(undirected);
  const auto meta = read_store_meta(graph.directory);
  EXPECT_EQ(meta.provenance.made_by, "import");
  EXPECT_EQ(meta.provenance.source, (directory_ / "e.txt").string());
  EXPECT_NE(std::ranges::find(meta.provenance.options, "content.edges.undirected=true"),
            meta.provenance.options.end());
  EXPECT_NE(std::ranges::find(meta.provenance.options, "format=edge_list"), meta.provenance.options.end());
  EXPECT_EQ(error(options(graph.directory.filename().string())),
            graph.directory.filename().string() + ": is already a graph store; no import is needed");
}

TEST_F(Import, ProgressIsReported) {
  write_text(directory_ / "e.txt", "0 1\n1 2\n");
  std::string told;
  import_graph(options("e.txt"), directory_ / "g",
               [&](std::string_view what, std::int64_t done, std::int64_t) {
                 told += std::string(what) + " " + std::to_string(done) + "; ";
               });
  EXPECT_NE(told.find("reading ids 2; "), std::string::npos);
  EXPECT_NE(told.find("reading edges 2; "), std::string::npos);
}

}  // namespace
}  // namespace gnomon::graph
