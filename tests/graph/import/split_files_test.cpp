#include "graph/import/split_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"

namespace gnomon::graph {
namespace {

class SplitFiles : public ImportFixture {
 protected:
  ImportOptions with_lists(const std::string& edges, const std::string& train, const std::string& valid,
                           const std::string& test) {
    write_text(directory_ / "e.txt", edges);
    write_text(directory_ / "train.txt", train);
    write_text(directory_ / "valid.txt", valid);
    write_text(directory_ / "test.txt", test);
    auto options = options_for("e.txt");
    options.train_ids = directory_ / "train.txt";
    options.valid_ids = directory_ / "valid.txt";
    options.test_ids = directory_ / "test.txt";
    return options;
  }
  std::string error_of(const std::string& train, const std::string& valid) {
    return error(with_lists("0 1\n1 2\n2 3\n", train, valid, ""));
  }
};

TEST_F(SplitFiles, ListIdsOrNames) {
  Graph graph = import(with_lists("0 1\n1 2\n2 3\n", "3\n1.0\n", "# none but\n\"2\"\r\n",
                                  "\xEF\xBB\xBF"
                                  "node_id\n0\n"));
  EXPECT_EQ(to_vector(graph.train), (Ids{1, 3}));
  EXPECT_EQ(to_vector(graph.valid), Ids{2});
  EXPECT_EQ(to_vector(graph.test), Ids{0});

  graph = import(with_lists("b,a\na,New York\n", "name\nNew York\n", "a\n", ""));
  EXPECT_EQ(to_vector(graph.train), Ids{2});
  EXPECT_EQ(to_vector(graph.valid), Ids{1});
  EXPECT_TRUE(graph.test.empty());

  auto options = with_lists("700 30\n30 5\n", "700\n", "5\n", "30\n");
  options.relabel = true;
  options.order = VertexOrder::degree;
  graph = import(options);
  const auto originals = [&](std::span<const VertexId> vertices) {
    Ids ids;
    for (const VertexId vertex : vertices) {
      ids.push_back(graph.original_id(vertex));
    }
    return ids;
  };
  EXPECT_EQ(originals(graph.train), Ids{700});
  EXPECT_EQ(originals(graph.valid), Ids{5});
  EXPECT_EQ(originals(graph.test), Ids{30});
}

TEST_F(SplitFiles, MayBeNumPyArrays) {
  auto options = with_lists("0 1\n1 2\n2 3\n", "", "", "");
  write_text(directory_ / "train.txt", npy<std::int32_t>(DType::int32, {2}, {3, 1}));
  write_text(directory_ / "valid.txt", truths({4}, {0, 0, 1, 0}));
  options.test_ids = "";
  Graph graph = import(options);
  EXPECT_EQ(to_vector(graph.train), (Ids{1, 3}));
  EXPECT_EQ(to_vector(graph.valid), Ids{2});
  write_text(directory_ / "train.txt", npy<std::int32_t>(DType::int32, {2}, {3, 9}));
  EXPECT_EQ(error(options), "train.txt: position 1: vertex 9 is out of range; use 0 to 3");
  write_text(directory_ / "train.txt", floats({1}, {3}));
  EXPECT_EQ(error(options), "train.txt: has type <f4; must be integers");
  write_text(directory_ / "train.txt", truths({3}, {0, 1, 0}));
  EXPECT_EQ(error(options), "train.txt: has 3 values; a mask must have 4, one per vertex");
  options = with_lists("b,a\n", integers({1}, {0}), "", "");
  EXPECT_EQ(error(options),
            "train.txt: must be a text file with one name per line, as the vertices have names");
}

TEST_F(SplitFiles, OfMatricesAndNpzCountFromZero) {
  auto options = with_lists("", "0\n", "1\n", "");
  write_text(directory_ / "m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n");
  options.source = directory_ / "m.mtx";
  EXPECT_EQ(to_vector(import(options).train), Ids{0});
  write_zip(directory_ / "m.npz", {{"edge_index", integers({2, 2}, {0, 1, 1, 2})}});
  options.source = directory_ / "m.npz";
  const Graph graph = import(options);
  EXPECT_EQ(rows_of(graph), (Rows{{}, {0}, {1}}));
  EXPECT_EQ(to_vector(graph.train), Ids{0});
  EXPECT_EQ(to_vector(graph.valid), Ids{1});
}

TEST_F(SplitFiles, FaultsNameTheirFileAndLine) {
  EXPECT_EQ(error_of("0\n9\n", ""), "train.txt: line 2: vertex 9 is out of range; use 0 to 3");
  EXPECT_EQ(error_of("0\n-1\n", ""), "train.txt: line 2: vertex -1 is out of range; use 0 to 3");
  EXPECT_EQ(error_of("0\nx\n", ""), "train.txt: line 2: must be one vertex id, not \"x\"");
  EXPECT_EQ(error_of("0\n1 2\n", ""), "train.txt: line 2: must be one vertex id, not \"1 2\"");
  EXPECT_EQ(error_of("0\n1\n0\n", ""),
            "train.txt: line 3: the vertex is repeated; list each vertex once, in one set");
  EXPECT_EQ(error_of("0\n1\n", "2\n1\n"),
            "valid.txt: line 2: the vertex is also in train.txt; list each vertex once, in one set");
  EXPECT_EQ(error(with_lists("b,a\n", "a\nzed\n", "", "")),
            "train.txt: line 2: \"zed\" is no vertex of the graph");
  auto absent = with_lists("0 1\n", "0\n", "", "");
  absent.test_ids = directory_ / "absent.txt";
  EXPECT_EQ(error(absent), "absent.txt: cannot be read: No such file or directory");
  absent.test_ids = "";
  absent.train_ids = "";
  EXPECT_EQ(error(absent), "--valid-ids: needs --train-ids beside it");
}

}  // namespace
}  // namespace gnomon::graph
