#include "graph/store/names.h"

#include <gtest/gtest.h>

#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

TEST(VertexNames, AreOriginalIdsWithoutAFile) {
  const test::TemporaryDirectory directory;
  for (const auto& names : {VertexNames(directory.path()), VertexNames({})}) {
    EXPECT_FALSE(names.any());
    EXPECT_EQ(names.of(17), "17");
    EXPECT_EQ(names.csv_cell(17), "17");
  }
}

TEST(VertexNames, AreTheLinesOfTheirFile) {
  const test::TemporaryDirectory directory;
  write_names(directory.path(), {"Ada", "Paris, France", "the \"City\"", " "});
  const VertexNames names(directory.path());
  EXPECT_TRUE(names.any());
  EXPECT_EQ(names.of(0), "Ada");
  EXPECT_EQ(names.of(1), "Paris, France");
  EXPECT_EQ(names.of(3), " ");
  EXPECT_EQ(names.csv_cell(0), "Ada");
  EXPECT_EQ(names.csv_cell(1), "\"Paris, France\"");
  EXPECT_EQ(names.csv_cell(2), "\"the \"\"City\"\"\"");
  EXPECT_EQ(test::message_of(directory.path(), [&] { names.of(4); }),
            "names.txt: has 4 names; vertex 4 has none");
}

TEST(VertexNames, AreCopiedWhereThereAreAny) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "a");
  std::filesystem::create_directory(directory / "b");
  copy_names(directory / "a", directory / "b");
  EXPECT_FALSE(VertexNames(directory / "b").any());
  write_names(directory / "a", std::deque<std::string>(100000, "name"));
  copy_names(directory / "a", directory / "b");
  EXPECT_EQ(VertexNames(directory / "b").of(99999), "name");
}

}  // namespace
}  // namespace gnomon::graph
