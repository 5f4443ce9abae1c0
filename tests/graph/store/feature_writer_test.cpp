#include "graph/store/feature_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/fixtures/graphs.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

using test::Values;

/// A store of these features that are written in several parts.
Graph written(const test::TemporaryDirectory& directory, const std::vector<float>& values,
              std::int64_t columns, FeatureForm form) {
  const auto rows = std::ssize(values) / columns;
  StoreWriter store(directory / "g");
  StoreMeta meta{"g", rows, 0, 0, columns, FeatureType::fp32, {}};
  FeatureWriter writer(store.path_of(""), columns, FeatureType::fp32, form);
  const std::span<const float> all(values);
  const auto part = static_cast<std::size_t>((rows / 3 + 1) * columns);
  for (std::size_t begin = 0; begin < all.size(); begin += part) {
    writer.add(std::as_bytes(all.subspan(begin, std::min(part, all.size() - begin))));
  }
  meta.sparse_features = writer.finish();
  store.write_array<std::int64_t>("indptr.npy", DType::int64,
                                  std::vector<std::int64_t>(static_cast<std::size_t>(rows) + 1, 0));
  for (const char* const file : {"indices.npy", "train.npy", "valid.npy", "test.npy"}) {
    store.write_array<VertexId>(file, DType::int64, {});
  }
  store.commit(meta);
  Graph graph = open_store(directory / "g");
  validate(graph, false);
  return graph;
}

std::vector<std::string> feature_files(const std::filesystem::path& store) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(store)) {
    if (entry.path().filename().string().starts_with("features")) {
      files.push_back(entry.path().filename());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(FeatureWriter, WritesTheFormAskedFor) {
  const auto values = test::mostly_zero(50, 40, 10, Values::normal, 3);
  const std::vector<std::string> dense{"features.npy"};
  const std::vector<std::string> sparse{"features_columns.npy", "features_indptr.npy", "features_values.npy"};
  for (const auto& [form, files] : {std::pair{FeatureForm::dense, dense},
                                    {FeatureForm::sparse, sparse},
                                    {FeatureForm::automatic, sparse}}) {
    const test::TemporaryDirectory directory;
    const Graph graph = written(directory, values, 40, form);
    EXPECT_EQ(feature_files(directory / "g"), files);
    EXPECT_EQ(test::dense_values(graph.features), values);
  }
}

TEST(FeatureWriter, LeavesOutValuesThatAreAllOne) {
  const test::TemporaryDirectory directory;
  const auto values = test::mostly_zero(50, 40, 4, Values::ones, 3);
  const Graph graph = written(directory, values, 40, FeatureForm::automatic);
  EXPECT_EQ(feature_files(directory / "g"),
            (std::vector<std::string>{"features_columns.npy", "features_indptr.npy"}));
  EXPECT_EQ(graph.features.data, nullptr);
  EXPECT_EQ(test::dense_values(graph.features), values);
}

TEST(FeatureWriter, BecomesDenseWhereThatIsSmaller) {
  // Sparse rows for more than a check, then full ones: at its end, in the middle, or never.
  for (const std::int64_t sparse_rows : {0, 3000, 4500, 9000}) {
    auto values = test::mostly_zero(10'000, 16, 8, Values::normal, 5);
    std::fill(values.begin() + sparse_rows * 16, values.end(), 3.0F);
    const test::TemporaryDirectory directory;
    const Graph graph = written(directory, values, 16, FeatureForm::automatic);
    EXPECT_EQ(graph.features.is_sparse(), sparse_rows == 9000) << sparse_rows;
    EXPECT_EQ(feature_files(directory / "g").size(), sparse_rows == 9000 ? 3U : 1U);
    EXPECT_EQ(test::dense_values(graph.features), values);
  }
}

TEST(FeatureWriter, KeepsASparseGraphInARoundTrip) {
  for (const auto type : {FeatureType::fp32, FeatureType::fp16, FeatureType::bf16}) {
    for (const auto kind : {Values::normal, Values::ones}) {
      const test::TemporaryDirectory directory;
      const auto graph = test::in_sparse_form(
          test::with_features(test::skewed_graph(70, 4), test::mostly_zero(70, 33, 6, kind, 9), 33, type));
      write_store(graph, directory / "g");
      const Graph opened = open_store(directory / "g");
      validate(opened, false);
      ASSERT_TRUE(opened.features.is_sparse());
      EXPECT_EQ(opened.features.type, type);
      EXPECT_EQ(opened.features.bytes(), graph.features.bytes());
      EXPECT_EQ(test::dense_values(opened.features), test::dense_values(graph.features));
      write_store(opened, directory / "rounded", {}, FeatureType::bf16);
      const Graph rounded = open_store(directory / "rounded");
      EXPECT_EQ(rounded.features.type, FeatureType::bf16);
      auto expected = test::dense_values(graph.features);
      for (float& value : expected) {
        value = float_from_bf16(bf16_from_float(value));
      }
      EXPECT_EQ(test::dense_values(rounded.features), expected);
    }
  }
}

class SparseStoreFaults : public testing::Test {
 protected:
  void SetUp() override {
    // Rows {0: 2, 3: 1}, {}, {1: 4}.
    const auto graph = test::with_features(test::graph_of({{}, {}, {}}), {2, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0},
                                           4, FeatureType::fp32);
    write_store(test::in_sparse_form(graph), directory_ / "g");
  }
  template <class T>
  void replace(const char* file, DType type, const std::vector<T>& elements) {
    const auto path = directory_ / "g" / file;
    std::filesystem::remove(path);
    NpyWriter writer(path, type);
    writer.write(std::span<const T>(elements));
    writer.finish();
  }
  std::string error() const {
    return test::message_of(directory_.path(), [&] { validate(open_store(directory_ / "g"), false); });
  }
  test::TemporaryDirectory directory_;
};

TEST_F(SparseStoreFaults, RowPointers) {
  EXPECT_EQ(error(), "no error");
  replace<std::int64_t>("features_indptr.npy", DType::int64, {0, 2, 3});
  EXPECT_EQ(error(), "g/features_indptr.npy: has shape (3,); must be (4,)");
  replace<std::int64_t>("features_indptr.npy", DType::int64, {1, 2, 2, 3});
  EXPECT_EQ(error(), "g/features_indptr.npy: begins with 1; must be 0");
  replace<std::int64_t>("features_indptr.npy", DType::int64, {0, 2, 2, 4});
  EXPECT_EQ(error(), "g/features_indptr.npy: ends with 4; must be sparse_features.entries 3");
  replace<std::int64_t>("features_indptr.npy", DType::int64, {0, 2, 1, 3});
  EXPECT_EQ(error(), "g/features_indptr.npy: not monotone at position 2");
  replace<std::int64_t>("features_indptr.npy", DType::int64, {0, -7, 1, 3});
  EXPECT_EQ(error(), "g/features_indptr.npy: not monotone at position 1");
}

TEST_F(SparseStoreFaults, Columns) {
  replace<std::int64_t>("features_columns.npy", DType::int64, {0, 3, 1});
  EXPECT_EQ(error(), "g/features_columns.npy: has type <i8; must be <i4");
  replace<std::int32_t>("features_columns.npy", DType::int32, {0, 3});
  EXPECT_EQ(error(), "g/features_columns.npy: has shape (2,); must be (3,)");
  const std::string wrong = "g/features_columns.npy: the columns of row ";
  const std::string right = " must be ascending, each once, from 0 to 3";
  for (const auto& first_row : {std::vector<std::int32_t>{3, 0}, {2, 2}, {-1, 2}, {2, 4}}) {
    replace<std::int32_t>("features_columns.npy", DType::int32, {first_row[0], first_row[1], 1});
    EXPECT_EQ(error(), wrong + "0" + right);
  }
  replace<std::int32_t>("features_columns.npy", DType::int32, {0, 3, 4});
  EXPECT_EQ(error(), wrong + "2" + right);
}

TEST_F(SparseStoreFaults, Values) {
  replace<float>("features_values.npy", DType::float32, {2, 1, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(error(), "g/features_values.npy: NaN or infinite in row 2; features must be finite");
  replace<std::uint16_t>("features_values.npy", DType::float16, {1, 1, 1});
  EXPECT_EQ(error(), "g/features_values.npy: has type <f2; must be <f4");
  std::filesystem::remove(directory_ / "g" / "features_values.npy");
  EXPECT_EQ(error(), "g/features_values.npy: cannot be read: No such file or directory");
}

TEST_F(SparseStoreFaults, Metadata) {
  const auto file = directory_ / "g" / "meta.json";
  const auto spoil = [&](const std::string& from, const std::string& to) {
    std::string text = base::read_file(file);
    text.replace(text.find(from), from.size(), to);
    base::write_file_atomically(file, text);
  };
  spoil("\"entries\": 3", "\"entries\": 4");
  EXPECT_EQ(error(), "g/features_columns.npy: has shape (3,); must be (4,)");
  spoil("\"entries\": 4", "\"entries\": -3");
  EXPECT_NE(error().find("sparse_features.entries"), std::string::npos) << error();
  spoil("\"entries\": -3", "\"number\": 3");
  EXPECT_NE(error().find("sparse_features"), std::string::npos) << error();
}

}  // namespace
}  // namespace gnomon::graph
