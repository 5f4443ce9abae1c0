#include "graph/import/parse_edges.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <random>

#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

void parse_pairs(LineReader& lines, std::vector<Edge>& edges) {
  for (std::string_view line; lines.next(line);) {
    Edge edge;
    if (!take_integer(line, edge.source) || !take_integer(line, edge.destination)) {
      lines.fail_expected("a pair", line);
    }
    edges.push_back(edge);
  }
}

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb1");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

class ParseEdges : public testing::Test {
 protected:
  /// More text than all threads take at once.
  std::string text_of(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      edges_.push_back({static_cast<VertexId>(random() >> 20), static_cast<VertexId>(random() % 1000)});
      text += std::to_string(edges_.back().source) + " " + std::to_string(edges_.back().destination) + "\n";
    }
    return text;
  }
  static std::vector<Edge> parsed(const std::filesystem::path& path) {
    std::vector<Edge> edges;
    parse_edges(LineReader(path), path, parse_pairs,
                [&](std::span<const Edge> block) { edges.insert(edges.end(), block.begin(), block.end()); });
    return edges;
  }
  const test::TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "edges";
  std::vector<Edge> edges_;
};

TEST_F(ParseEdges, KeepsTheOrderOfTheFile) {
  const test::RandomSeed seed(3);
  auto text = text_of(400'000, seed);
  text.pop_back();  // the last line has no line break
  std::ofstream(path_) << text;
  EXPECT_EQ(parsed(path_), edges_);
  write_gzip(path_, text);
  EXPECT_EQ(parsed(path_), edges_);
}

TEST_F(ParseEdges, TakesFilesWithoutLinesAndLinesOfAnyLength) {
  std::ofstream(path_) << "";
  EXPECT_EQ(parsed(path_), std::vector<Edge>{});
  std::ofstream(path_) << "1 2" << std::string(std::size_t{5} << 20, ' ') << "\n3 4\n";
  EXPECT_EQ(parsed(path_), (std::vector<Edge>{{1, 2}, {3, 4}}));
}

TEST_F(ParseEdges, NamesTheFirstLineAtFault) {
  const test::RandomSeed seed(4);
  const auto text = text_of(300'000, seed);
  std::ofstream(path_) << text << "x y\n" << text << "z\n";
  EXPECT_EQ(test::message_of("", [&] { parsed(path_); }),
            path_.string() + ": line 300001: must be a pair, not \"x y\"");
  // Also before an error of the file that follows.
  write_gzip(path_, "x y\n" + text + text);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1000);
  EXPECT_EQ(test::message_of("", [&] { parsed(path_); }),
            path_.string() + ": line 1: must be a pair, not \"x y\"");
}

}  // namespace
}  // namespace gnomon::graph
