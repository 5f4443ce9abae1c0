#include "graph/import/graphsaint.h"

#include <gtest/gtest.h>

#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"
#include "tests/graph/import/scipy_files.h"

namespace gnomon::graph {
namespace {

/// A data set of three vertices in the directory "saint".
class GraphSaint : public ImportFixture {
 protected:
  using ImportFixture::error;
  GraphSaint() {
    std::filesystem::create_directories(directory_ / "saint");
    write_zip(directory_ / "saint/adj_full.npz", scipy_arrays("csr"));
    write("feats.npy", npy<double>(DType::float64, {3, 2}, {1, 2, 3, 4, 5, 6}));
    write("class_map.json", R"({"0": 1, "2": 0, "1": -1})");
    write("role.json", R"({"tr": [2, 0], "va": [], "te": [1]})");
  }
  void write(const std::string& file, const std::string& text) const {
    write_text(directory_ / "saint" / file, text);
  }
  Graph read() { return import(options_for("saint")); }
  std::string error() { return ImportFixture::error(options_for("saint")); }
  std::string error_of_classes(const std::string& text) {
    write("class_map.json", text);
    return error();
  }
};

TEST_F(GraphSaint, IsFoundByItsFiles) {
  EXPECT_EQ(detect_format(directory_ / "saint"), Format::graphsaint);
  const Graph graph = read();
  EXPECT_EQ(graph.name, "saint");
  EXPECT_EQ(rows_of(graph), (Rows{{2}, {0, 2}, {}}));
  EXPECT_EQ(values_of(graph.features), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(to_vector(graph.labels), (Labels{1, -1, 0}));
  EXPECT_FALSE(graph.is_multilabel());
  EXPECT_EQ(to_vector(graph.train), (Ids{0, 2}));
  EXPECT_EQ(to_vector(graph.test), Ids{1});
  auto weighted = options_for("saint");
  weighted.edge_weights = "given";
  EXPECT_EQ(weighted_rows_of(import(weighted)), (WeightedRows{{{2, 2.0F}}, {{0, 0.5F}, {2, 4.0F}}, {}}));
}

/// As Yelp and AmazonProducts. Vertices stand in any order, and one is left out.
TEST_F(GraphSaint, MayHaveSeveralClassesPerVertex) {
  write("class_map.json", R"({"2": [1, 0, 1], "0": [0.0, 0.0, 0.0]})");
  const Graph graph = read();
  EXPECT_TRUE(graph.is_multilabel());
  EXPECT_EQ(graph.num_classes, 3);
  EXPECT_EQ(to_vector(graph.labels), (Labels{1, -1, 0}));
  EXPECT_EQ(to_vector(graph.label_sets), (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0}));
}

TEST_F(GraphSaint, NeedsOnlyTheMatrix) {
  for (const char* file : {"feats.npy", "class_map.json", "role.json"}) {
    std::filesystem::remove(directory_ / "saint" / file);
  }
  const Graph graph = read();
  EXPECT_TRUE(graph.labels.empty() && graph.train.empty() && !graph.features.any());
  std::filesystem::remove(directory_ / "saint/adj_full.npz");
  auto options = options_for("saint");
  options.format = Format::graphsaint;
  EXPECT_EQ(ImportFixture::error(options), "saint: has no adj_full.npz");
}

TEST_F(GraphSaint, NamesFaultsOfClasses) {
  const std::string file = "saint/class_map.json: ";
  EXPECT_EQ(error_of_classes("[1, 0]"), file + "must map each vertex to its class");
  EXPECT_EQ(error_of_classes("null"), file + "must map each vertex to its class");
  EXPECT_EQ(error_of_classes("7"), file + "must map each vertex to its class");
  EXPECT_EQ(error_of_classes(R"({"0": {"1": 2}})"), file + "must map each vertex to its class");
  EXPECT_EQ(error_of_classes(R"({"0": 1, )"), file + "is not valid JSON at byte 10");
  EXPECT_EQ(error_of_classes(R"({"3": 1})"), file + "vertex \"3\" is out of range; use 0 to 2");
  EXPECT_EQ(error_of_classes(R"({"a": 1})"), file + "vertex \"a\" is out of range; use 0 to 2");
  EXPECT_EQ(error_of_classes(R"({"1": 1, "1": 0})"), file + "vertex 1 is repeated");
  EXPECT_EQ(error_of_classes(R"({"1": "x"})"), file + "must hold numbers; see vertex 1");
  EXPECT_EQ(error_of_classes(R"({"1": 0.5})"),
            file + "label 0.5 of vertex 1 is out of range; use whole numbers from 0, or -1 for unknown");
  EXPECT_EQ(error_of_classes(R"({"1": 1, "0": [1, 0]})"),
            file + "must give each vertex one class, or each an array");
  EXPECT_EQ(error_of_classes(R"({"1": [1, 0], "0": 1})"),
            file + "must give each vertex one class, or each an array");
  EXPECT_EQ(error_of_classes(R"({"1": [[1]]})"), file + "must give each vertex one class, or each an array");
  EXPECT_EQ(error_of_classes(R"({"1": [1, 0], "0": [1]})"),
            file + "has 1 classes for vertex 0; must be 2 as for the others");
  EXPECT_EQ(error_of_classes(R"({"1": []})"), file + "has an empty array for vertex 1");
  EXPECT_EQ(
      error_of_classes(R"({"2": [1, 2]})"),
      file +
          "label 2.0 of vertex 2 for class 1; use 1 for the vertex's classes and 0 for others, or only -1 "
          "or NaN if they are unknown");
}

TEST_F(GraphSaint, NamesFaultsOfRoles) {
  write("role.json", R"({"tr": [0], "va": [1]})");
  EXPECT_EQ(error(), "saint/role.json: must have the vertices of \"te\"");
  write("role.json", R"({"tr": [0.5], "va": [], "te": []})");
  EXPECT_EQ(error(), "saint/role.json: \"tr\" has 0.5; must be a vertex");
  write("role.json", R"({"tr": [3], "va": [], "te": []})");
  EXPECT_EQ(error(), "saint/adj_full.npz: train split: vertex 3 is out of range; use 0 to 2");
}

}  // namespace
}  // namespace gnomon::graph
