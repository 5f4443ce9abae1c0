#include "graph/partition/stored_partition.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/crc32.h"
#include "base/document.h"
#include "base/error.h"
#include "graph/store/npy.h"

namespace gnomon::graph {
namespace {

constexpr const char* document_name = "partition.json";
constexpr const char* array_name = "part_of.npy";

/// The fields by which a partition identifies its graph.
struct DividedGraph {
  std::int64_t num_vertices = 0;
  std::int64_t num_edges = 0;
  std::uint32_t indptr_crc32 = 0;
  std::uint32_t train_crc32 = 0;
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("num_vertices", self.num_vertices, base::non_negative);
    f.required("num_edges", self.num_edges, base::non_negative);
    f.required("indptr_crc32", self.indptr_crc32);
    f.required("train_crc32", self.train_crc32);
  }
};

/// The content of partition.json.
struct PartitionMeta {
  static constexpr std::string_view schema = "gnomon.partition/1";
  PartitionRequest request;
  DividedGraph graph;
  std::uint32_t part_of_crc32 = 0;
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("request", self.request);
    f.required("graph", self.graph);
    f.required("part_of_crc32", self.part_of_crc32);
  }
};

DividedGraph identity_of(const Graph& graph) {
  return {graph.num_vertices(), graph.num_edges(), base::crc32(std::as_bytes(graph.indptr)),
          base::crc32(std::as_bytes(graph.train))};
}

void expect_equal(const std::string& where, const char* field, std::int64_t found, std::int64_t expected) {
  if (found != expected) {
    throw base::InputError(where + ": graph." + field,
                           std::to_string(found) + " is not the graph's, which is " +
                               std::to_string(expected) + "; partition this graph anew");
  }
}

void check_graph(const DividedGraph& found, const Graph& graph, const std::string& where) {
  expect_equal(where, "num_vertices", found.num_vertices, graph.num_vertices());
  expect_equal(where, "num_edges", found.num_edges, graph.num_edges());
  const auto expected = identity_of(graph);
  expect_equal(where, "indptr_crc32", found.indptr_crc32, expected.indptr_crc32);
  expect_equal(where, "train_crc32", found.train_crc32, expected.train_crc32);
}

}  // namespace

void PartitionWriter::commit(const Graph& graph, const PartitionRequest& request, const PartOf& part_of) {
  const std::span<const std::int32_t> parts(part_of);
  NpyWriter array(directory_.path() / array_name, DType::int32);
  array.write(parts);
  array.finish();
  base::write_document(directory_.path() / document_name,
                       PartitionMeta{request, identity_of(graph), base::crc32(std::as_bytes(parts))});
  directory_.commit();
}

StoredPartition read_partition(const std::filesystem::path& directory, const Graph& graph) {
  const auto path = directory / document_name;
  const auto meta = base::read_document<PartitionMeta>(path);
  check_graph(meta.graph, graph, path.string());
  const auto array = map_npy(directory / array_name);
  expect_npy(array, DType::int32, {graph.num_vertices()});
  const auto parts = array.span<std::int32_t>();
  const auto wrong = std::find_if(parts.begin(), parts.end(),
                                  [&](std::int32_t part) { return part < 0 || part >= meta.request.parts; });
  if (wrong != parts.end()) {
    throw base::InputError(array.path.string(), "vertex " + std::to_string(wrong - parts.begin()) +
                                                    " is in part " + std::to_string(*wrong) + "; use 0 to " +
                                                    std::to_string(meta.request.parts - 1));
  }
  if (base::crc32(std::as_bytes(parts)) != meta.part_of_crc32) {
    throw base::InputError(array.path.string(), "is not the array that " + std::string(document_name) +
                                                    " was written with; partition the graph anew");
  }
  return {meta.request, PartOf(parts.begin(), parts.end())};
}

}  // namespace gnomon::graph
