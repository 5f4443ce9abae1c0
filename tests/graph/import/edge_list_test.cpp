#include "graph/import/edge_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/import/text_fields.h"
#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"

namespace gnomon::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Names = std::vector<std::string>;

class EdgeLists : public ImportFixture {
 protected:
  using ImportFixture::error;

  ImportOptions written(const std::string& text) {
    write_text(directory_ / "e.csv", text);
    return options_for("e.csv");
  }
  Graph read(const std::string& text) { return import(written(text)); }
  std::string error(const std::string& text) { return ImportFixture::error(written(text)); }
};

const Rows path_rows{{}, {0}, {1}};  // 0 → 1 → 2

TEST_F(EdgeLists, AreReadWithAHeaderQuotesByteOrderMarkAndCarriageReturns) {
  for (const std::string text :
       {"source,target\n0,1\n1,2\n", "a b\n0 1\n1 2\n", "\"x\";\"y\"\n\"0\";\"1\"\n\"1\";\"2\"\n",
        "\xEF\xBB\xBF"
        "0\t1\r\n1\t2\r\n",
        "\xEF\xBB\xBF"
        "src,dst\r\n0,1\r\n1,2\r\n",
        "# c\n\nFrom\tTo\n# c\n0\t1\n1\t2", "\"0\" \"1\"\n1 2\n"}) {
    EXPECT_EQ(rows_of(read(text)), path_rows) << text;
    write_gzip(directory_ / "e.csv.gz", text);
    EXPECT_EQ(rows_of(import(options_for("e.csv.gz"))), path_rows) << text;
  }
}

TEST_F(EdgeLists, ColumnsThatAHeaderNamesMayStandAnywhere) {
  EXPECT_EQ(rows_of(read("id,weight,target,source\n7,0.5,1,0\n8,2,2,1\n")), path_rows);
  EXPECT_THAT(notes_,
              ElementsAre("line 1 is a header: edges go from column \"source\" to column \"target\""));
  EXPECT_EQ(rows_of(read(",src_id,dst_id\n0,0,1\n1,1,2\n")), path_rows);  // with pandas' index
  auto weighted = written("time,weight,target,source\n,0.5,1,0\n,2,2,1\n");
  weighted.edge_weights = "given";
  EXPECT_EQ(weighted_rows_of(import(weighted)), (WeightedRows{{}, {{0, 0.5F}}, {{1, 2.0F}}}));
  weighted = written("source,target,time,weight\n0,1,,0.5\n1,2,9,2\n");
  weighted.edge_weights = "given";
  EXPECT_EQ(weighted_rows_of(import(weighted)), (WeightedRows{{}, {{0, 0.5F}}, {{1, 2.0F}}}));
  weighted = written("source,target,strength\n0,1,0.5\n1,2,2\n");
  weighted.edge_weights = "given";
  EXPECT_EQ(weighted_rows_of(import(weighted)), (WeightedRows{{}, {{0, 0.5F}}, {{1, 2.0F}}}));
  EXPECT_EQ(error(",a,b\n0,0,1\n1,1,2\n"),
            "e.csv: line 1: has no name for the first column; name the columns of the ids source and target");
}

TEST_F(EdgeLists, TheUserMaySayWhetherThereIsAHeader) {
  auto options = written("author,paper\nAda,Notes\nAlan,Machines\n");
  EXPECT_EQ(names_of(import(options)), (Names{"author", "paper", "Ada", "Notes", "Alan", "Machines"}));
  EXPECT_THAT(
      notes_,
      ElementsAre("line 1 is read as an edge from \"author\" to \"paper\"; if it names the columns, add "
                  "--header yes",
                  "ids are names: 6 vertices, numbered in the order of their first occurrence and named in "
                  "names.txt of the store"));
  options.header = Header::yes;
  EXPECT_EQ(names_of(import(options)), (Names{"Ada", "Notes", "Alan", "Machines"}));
  options = written("from,to\n0,1\n");
  options.header = Header::no;
  EXPECT_EQ(names_of(import(options)), (Names{"from", "to", "0", "1"}));
}

TEST_F(EdgeLists, IdsMayLookLikeFloats) {
  EXPECT_EQ(rows_of(read("0.0 1.0\n1.0 2\n")), path_rows);
  EXPECT_EQ(rows_of(read("0.000000000000000000e+00 1.000000000000000000e+00\n1e0 2e0\n")),
            path_rows);  // np.savetxt
  EXPECT_EQ(error("0 1\n1 2.5\n"),
            "e.csv: line 2: must be two vertex ids (comments begin with #), not \"1 2.5\"");
  EXPECT_EQ(error("0 1\n1 1e17\n"),
            "e.csv: line 2: must be two vertex ids (comments begin with #), not \"1 1e17\"");
  EXPECT_EQ(error("0 1\n1 -2.0\n"),
            "e.csv: line 2: must be two vertex ids that are not negative, not \"1 -2.0\"");
}

TEST_F(EdgeLists, NamesAreNumberedAsTheyOccurAndKept) {
  const Graph graph = read(
      "source,target\nnew york,\"Paris, France\"\n\"Paris, France\",\"the \"\"City\"\"\"\nOslo,new york\n");
  EXPECT_EQ(rows_of(graph), (Rows{{3}, {0}, {1}, {}}));
  EXPECT_EQ(names_of(graph), (Names{"new york", "Paris, France", "the \"City\"", "Oslo"}));
  EXPECT_EQ(base::read_file(graph.directory / "names.txt"), "new york\nParis, France\nthe \"City\"\nOslo\n");
  EXPECT_EQ(names_of(read("b a\na c\n")), (Names{"b", "a", "c"}));
  EXPECT_EQ(names_of(read("1 alice\n2 bob\n")), (Names{"1", "alice", "2", "bob"}));
  EXPECT_EQ(names_of(read("nan inf\ninf 1a\n")), (Names{"nan", "inf", "1a"}));
  auto weighted = written("b\ta\t0.5\na\tc\t2\n");
  weighted.edge_weights = "given";
  EXPECT_EQ(weighted_rows_of(import(weighted)), (WeightedRows{{}, {{0, 0.5F}}, {{1, 2.0F}}}));
}

TEST_F(EdgeLists, NumbersCanBeNames) {
  auto codes = written("007 07\n07 7x\n");
  EXPECT_EQ(ImportFixture::error(codes),
            "e.csv: line 2: must be two vertex ids (comments begin with #), not \"07 7x\"");
  codes.ids = IdKind::names;
  EXPECT_EQ(names_of(import(codes)), (Names{"007", "07", "7x"}));
  codes = written("a b\nc d\n");
  codes.ids = IdKind::numbers;
  EXPECT_EQ(ImportFixture::error(codes),
            "e.csv: line 1: must be two vertex ids (comments begin with #), not \"a b\"");
}

TEST_F(EdgeLists, NamesFollowTheirVertices) {
  auto options = written("hub,a\nhub,b\nx,y\nhub,c\nc,a\n");
  options.order = VertexOrder::rcm;
  options.content.largest_component = true;
  const Graph graph = import(options);
  ASSERT_EQ(graph.num_vertices(), 4);
  const auto names = names_of(graph);
  std::multiset<std::string> edges;
  for (VertexId v = 0; v < 4; ++v) {
    for (const VertexId u : graph.neighbours(v)) {
      edges.insert(names[static_cast<std::size_t>(u)] + " " + names[static_cast<std::size_t>(v)]);
    }
  }
  EXPECT_THAT(edges, ElementsAre("c a", "hub a", "hub b", "hub c"));
  // A store that is written again keeps them.
  write_store(graph, directory_ / "again");
  EXPECT_EQ(names_of(open_store(directory_ / "again")), names);
}

TEST_F(EdgeLists, AFileCanListTheVertices) {
  auto options = written("c,a\na,b\n");
  write_text(directory_ / "nodes.csv", "node_id\na\nb\n\"c\"\nlonely\n");
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {4}, {10, 11, 12, 13}));
  options.vertices = directory_ / "nodes.csv";
  options.labels = directory_ / "l.npy";
  Graph graph = import(options);
  EXPECT_EQ(names_of(graph), (Names{"a", "b", "c", "lonely"}));
  EXPECT_EQ(rows_of(graph), (Rows{{2}, {0}, {}, {}}));
  EXPECT_EQ(to_vector(graph.labels), (Labels{10, 11, 12, 13}));

  write_text(directory_ / "nodes.csv", "a\nb\n");
  options.labels = "";
  EXPECT_EQ(ImportFixture::error(options), "e.csv: line 1: \"c\" is no vertex of the graph");
  write_text(directory_ / "nodes.csv", "a\nb\nc\na\n");
  EXPECT_EQ(ImportFixture::error(options), "nodes.csv: line 4: \"a\" is repeated; list each vertex once");
  write_text(directory_ / "nodes.csv", "a\n\"b\nc\n");
  EXPECT_EQ(ImportFixture::error(options),
            "nodes.csv: line 2: has an unclosed quote, or text after a closing quote; a quote inside of "
            "quotes is \"\"");

  options.source = directory_ / "n.txt";
  write_text(directory_ / "n.txt", "30 10\n10 20\n");
  write_text(directory_ / "nodes.csv", "id\n20\n10\n30.0\n5\n");
  graph = import(options);
  EXPECT_EQ(to_vector(graph.original_ids), (Ids{20, 10, 30, 5}));
  EXPECT_EQ(rows_of(graph), (Rows{{1}, {2}, {}, {}}));
  write_text(directory_ / "nodes.csv", "20\n10\n20.0\n");
  EXPECT_EQ(ImportFixture::error(options), "nodes.csv: line 3: \"20.0\" is repeated; list each vertex once");
  write_text(directory_ / "nodes.csv", "20\n10\nx\n");
  EXPECT_EQ(ImportFixture::error(options), "nodes.csv: line 3: must be one vertex id, not \"x\"");
  write_text(directory_ / "nodes.csv", "20\n10\n");
  EXPECT_EQ(ImportFixture::error(options), "n.txt: line 1: vertex 30 is no vertex of the graph");
  options.relabel = true;
  EXPECT_EQ(ImportFixture::error(options),
            "--relabel: has no effect: --vertices numbers the vertices; leave it out");
}

TEST_F(EdgeLists, RowsOfNamesNeedTheListOfNames) {
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {2}, {0, 1}));
  write_text(directory_ / "f.npy", floats({2, 1}, {0, 1}));
  auto options = written("b,a\n");
  options.labels = directory_ / "l.npy";
  EXPECT_EQ(ImportFixture::error(options),
            "--labels: needs --vertices FILE with the names in the order of its rows, as the ids in e.csv "
            "are names");
  options.features = directory_ / "f.npy";
  EXPECT_EQ(ImportFixture::error(options),
            "--features: needs --vertices FILE with the names in the order of its rows, as the ids in e.csv "
            "are names");
  write_text(directory_ / "nodes.txt", "a\nb\n");
  options.vertices = directory_ / "nodes.txt";
  EXPECT_EQ(rows_of(import(options)), (Rows{{1}, {}}));
}

TEST_F(EdgeLists, SparseIdsAreToldWithTheAdvice) {
  auto options = written("1 2\n2 5\n");
  EXPECT_EQ(import(options).num_vertices(), 6);
  EXPECT_THAT(notes_,
              ElementsAre("3 of 6 vertices have no edges, as not all ids from 0 to 5 occur; --relabel keeps "
                          "only those that do"));
  options.relabel = true;
  EXPECT_EQ(import(options).num_vertices(), 3);
  EXPECT_THAT(notes_, IsEmpty());
  read("0 1\n1 2\n");
  EXPECT_THAT(notes_, IsEmpty());
  // With labels the user says how many vertices there are.
  options = written("1 2\n2 5\n");
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {7}, {0, 1, 0, 1, 0, 1, 0}));
  options.labels = directory_ / "l.npy";
  options.content.split.method = SplitMethod::ratio;
  EXPECT_EQ(import(options).num_vertices(), 7);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(EdgeLists, WithoutEdgesAreRefused) {
  const std::string none = "e.csv: has no edges; a line of an edge list is \"source destination\"";
  for (const char* const text : {"", "\n\n", "# only\n% comments\n"}) {
    EXPECT_EQ(error(text), none) << text;
  }
  EXPECT_EQ(error("source,target\n"), "e.csv: has no edges, only a header");
  write_text(directory_ / "l.npy", npy<std::int32_t>(DType::int32, {4}, {10, 11, 12, 13}));
  auto labelled = written("");
  labelled.labels = directory_ / "l.npy";
  EXPECT_EQ(ImportFixture::error(labelled), none);
  write_text(directory_ / "m.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
  EXPECT_EQ(ImportFixture::error(options_for("m.mtx")), "m.mtx: has no vertices");
}

TEST_F(EdgeLists, WrongLinesAreNamed) {
  EXPECT_EQ(error("a,b\nc\n"), "e.csv: line 2: must be two vertex names (comments begin with #), not \"c\"");
  EXPECT_EQ(error("a,b\nc,\n"),
            "e.csv: line 2: must be two vertex names (comments begin with #), not \"c,\"");
  EXPECT_EQ(error("a,b\n\"c,d\n"),
            "e.csv: line 2: has an unclosed quote, or text after a closing quote; a quote inside of "
            "quotes is \"\"");
  EXPECT_EQ(error("source,target\n0,1\n1,x\n"),
            "e.csv: line 3: must be two vertex ids (comments begin with #), not \"1,x\"");
  EXPECT_EQ(error("0 x\n1 2\n"),
            "e.csv: line 1: must be two vertex ids (comments begin with #), not \"0 x\"");
  EXPECT_EQ(error(std::string("\xFF\xFE"
                              "0\0 \0",
                              6)),
            "e.csv: is in UTF-16; save it as UTF-8");
  EXPECT_EQ(error("source,target\r0,1\r1,2\r"),
            "e.csv: has lines that end with \\r alone; convert them with: tr '\\r' '\\n'");
  std::filesystem::create_directory(directory_ / "folder.csv");
  auto folder = options_for("folder.csv");
  folder.format = Format::edge_list;
  EXPECT_EQ(ImportFixture::error(folder), "folder.csv: cannot be read: it is a directory");
  auto weighted = written("source,target\n0,1\n");
  weighted.edge_weights = "given";
  EXPECT_EQ(ImportFixture::error(weighted),
            "e.csv: line 2: must be two vertex ids and a weight, finite and not negative, not \"0,1\"");
}

TEST_F(EdgeLists, ManyNamesAreReadAsTheirNumbers) {
  std::string numbers;
  std::string names = "\"from\",\"to\"\n";
  for (int i = 0; i < 20000; ++i) {
    const int source = i * 7919 % 5003;
    const int destination = i * 104729 % 5003;
    numbers += std::to_string(source) + " " + std::to_string(destination) + "\n";
    names += "\"v " + std::to_string(source) + "\",\"v " + std::to_string(destination) + "\"\n";
  }
  const Graph by_name = read(names);
  const Graph by_number = read(numbers);
  ASSERT_EQ(by_name.num_vertices(), by_number.num_vertices());
  ASSERT_EQ(by_name.num_edges(), by_number.num_edges());
  const auto called = names_of(by_name);
  for (VertexId v = 0; v < by_name.num_vertices(); ++v) {
    Ids neighbours;
    for (const VertexId u : by_name.neighbours(v)) {
      neighbours.push_back(std::stol(called[static_cast<std::size_t>(u)].substr(2)));
    }
    std::ranges::sort(neighbours);
    ASSERT_EQ(neighbours,
              to_vector(by_number.neighbours(std::stol(called[static_cast<std::size_t>(v)].substr(2)))));
  }
}

TEST(Fields, AreSplitAtTheirSeparator) {
  const auto split = [](std::string_view line, char separator) {
    Fields fields;
    EXPECT_TRUE(fields.split("left,over,from before", ','));
    if (!fields.split(line, separator)) {
      return Names{"bad"};
    }
    Names names;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      names.push_back(fields[i]);
    }
    return names;
  };
  EXPECT_THAT(split(" a , b c,\t,\"d, \"\"e\"\"\" ,", ','), ElementsAre("a", "b c", "", "d, \"e\"", ""));
  EXPECT_THAT(split("a b\t \tc", '\t'), ElementsAre("a b", "", "c"));
  EXPECT_THAT(split(" 1 ,;\t2 \"3 4\";", 0), ElementsAre("1", "2", "3 4"));
  EXPECT_THAT(split("", 0), IsEmpty());
  EXPECT_THAT(split("\"a", ','), ElementsAre("bad"));
  EXPECT_THAT(split("\"a\"b,c", ','), ElementsAre("bad"));
  EXPECT_THAT(split("\"a\"b", 0), ElementsAre("bad"));
  EXPECT_EQ(separator_of("a,b\tc"), '\t');
  EXPECT_EQ(separator_of("\"a\tb\";c,d"), ',');
  EXPECT_EQ(separator_of("a;b"), ';');
  EXPECT_EQ(separator_of("a b"), '\0');
}

TEST(Fields, NumbersAreWholeOrNot) {
  EXPECT_EQ(whole_number("+7"), 7);
  EXPECT_EQ(whole_number("-7.0"), -7);
  EXPECT_EQ(whole_number("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(whole_number("9007199254740992.0"), std::int64_t{1} << 53);
  for (const char* const text :
       {"", "+", "1.5", "1e30", "9223372036854775808", "x", "1 ", "0x10", "nan", "inf", "+-1"}) {
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
  }
  EXPECT_TRUE(is_number("1.5"));
  EXPECT_TRUE(is_number("-3"));
  for (const char* const text : {"", "nan", "infinity", "1a", "0x10"}) {
    EXPECT_FALSE(is_number(text)) << text;
  }
}

}  // namespace
}  // namespace gnomon::graph
