#include "graph/partition/stored_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "base/document.h"
#include "base/error.h"
#include "communities.h"
#include "graph/store/npy.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/small_disk.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const PartitionRequest stored_request{PartitionMethod::random, 4, 7, 3};

class StoredPartitions : public ::testing::Test {
 protected:
  void SetUp() override { PartitionWriter(path()).commit(graph, stored_request, part_of); }

  std::filesystem::path path() const { return directory / "parts"; }
  std::string refusal(const Graph& of) const {
    return test::message_of(directory.path(), [&] { read_partition(path(), of); });
  }
  /// The refusal after a change of partition.json.
  std::string refusal_after(const std::function<void(base::Json&)>& change) const {
    auto document = base::Json::parse(base::read_file(path() / "partition.json"));
    change(document);
    directory.write("parts/partition.json", document.dump());
    return refusal(graph);
  }
  void write_parts(const std::vector<std::int32_t>& parts) const {
    NpyWriter writer(path() / "part_of.npy", DType::int32);
    writer.write(std::span<const std::int32_t>(parts));
    writer.finish();
  }

  test::TemporaryDirectory directory;
  Graph graph = test::with_labels(test::community_graph(60, 4, 6, 3), 3, 3);
  PartOf part_of = partition(graph, stored_request);
};

TEST_F(StoredPartitions, AreReadAsTheyWereWritten) {
  const auto read = read_partition(path(), graph);
  EXPECT_EQ(read.request, stored_request);
  EXPECT_EQ(read.part_of, part_of);
}

TEST_F(StoredPartitions, OfOtherGraphsAreRefused) {
  EXPECT_EQ(refusal(test::hub_graph(9)),
            "parts/partition.json: graph.num_vertices: 60 is not the graph's, which is 10; partition this "
            "graph anew");
  auto other = graph;
  other.train = graph.train.subspan(1);
  EXPECT_THAT(refusal(other), HasSubstr("parts/partition.json: graph.train_crc32: "));
  std::vector<std::int64_t> indptr(graph.indptr.begin(), graph.indptr.end());
  indptr[1] = indptr[2];
  other = graph;
  other.indptr = indptr;
  EXPECT_THAT(refusal(other), HasSubstr("parts/partition.json: graph.indptr_crc32: "));
}

TEST_F(StoredPartitions, WithWrongFieldsAreRefused) {
  EXPECT_THAT(refusal_after([](base::Json& document) { document["colour"] = 1; }),
              HasSubstr("parts/partition.json: colour"));
  EXPECT_THAT(refusal_after([](base::Json& document) {
                document.erase("colour");
                document["request"]["parts"] = 0;
              }),
              HasSubstr("request.parts: 0 is out of range"));
  EXPECT_THAT(refusal_after([](base::Json& document) { document["request"]["method"] = "best"; }),
              HasSubstr("request.method: \"best\" is not known; use one of random, metis, gnn_aware"));
  EXPECT_THAT(refusal_after([](base::Json& document) { document["schema"] = "gnomon.plan/1"; }),
              HasSubstr("schema"));
}

TEST_F(StoredPartitions, WithWrongArraysAreRefused) {
  auto parts = part_of;
  parts[7] = 4;
  write_parts(parts);
  EXPECT_EQ(refusal(graph), "parts/part_of.npy: vertex 7 is in part 4; use 0 to 3");
  parts[7] = -1;
  write_parts(parts);
  EXPECT_EQ(refusal(graph), "parts/part_of.npy: vertex 7 is in part -1; use 0 to 3");
  parts[7] = (part_of[7] + 1) % 4;
  write_parts(parts);
  EXPECT_EQ(refusal(graph),
            "parts/part_of.npy: is not the array that partition.json was written with; partition the graph "
            "anew");
  parts.pop_back();
  write_parts(parts);
  EXPECT_THAT(refusal(graph), HasSubstr("parts/part_of.npy: has shape"));
  std::filesystem::resize_file(path() / "part_of.npy", npy_header_bytes + 10);
  EXPECT_THAT(refusal(graph), HasSubstr("parts/part_of.npy: is truncated"));
  std::filesystem::remove(path() / "part_of.npy");
  EXPECT_THAT(refusal(graph), HasSubstr("parts/part_of.npy"));
  std::filesystem::remove(path() / "partition.json");
  EXPECT_THAT(refusal(graph), HasSubstr("parts/partition.json"));
}

TEST_F(StoredPartitions, AppearWholeOrNotAtAll) {
  EXPECT_EQ(test::message_of(directory.path(), [&] { PartitionWriter writer(path()); }),
            "parts: already exists; give a new name or remove it first");
  { const PartitionWriter writer(directory / "other"); }
  EXPECT_THAT(directory.names(), ::testing::ElementsAre("parts"));
}

TEST(FullDisk, LeavesNoPartition) {
  const test::SmallDisk disk;
  if (!disk.mounted()) {
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  }
  const auto graph = test::graph_of(std::vector<std::vector<VertexId>>(300000));
  const auto& path = disk.directory().path();
  EXPECT_THAT(
      test::message_of<base::Failure>(
          path, [&] { PartitionWriter(path / "parts").commit(graph, stored_request, PartOf(300000, 0)); }),
      HasSubstr("part_of.npy: cannot write: No space"));
  EXPECT_THAT(disk.directory().names(), IsEmpty());
}

}  // namespace
}  // namespace gnomon::graph
