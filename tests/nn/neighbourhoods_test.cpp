#include "nn/neighbourhoods.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/error.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::nn {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::int64_t> values_of(const at::Tensor& tensor) {
  const auto wide = tensor.to(at::kLong).contiguous();
  return {wide.const_data_ptr<std::int64_t>(), wide.const_data_ptr<std::int64_t>() + wide.numel()};
}

TEST(Neighbourhoods, HoldTheInEdgesOfTheirVertices) {
  const auto graph = test::skewed_graph(500, 3);
  Neighbourhoods neighbourhoods(graph, at::kCPU, true);
  const std::vector<std::int64_t> vertices = {499, 0, 17, 18, 250};
  const auto ids = at::tensor(vertices, at::kLong);
  const auto hop = neighbourhoods.of(ids);
  EXPECT_TRUE(hop.has_all_sources);
  EXPECT_EQ(hop.block->num_sources(), 500);
  EXPECT_THAT(values_of(hop.block->destinations()), ElementsAreArray(vertices));
  const auto begins = values_of(hop.block->indptr());
  const auto columns = values_of(hop.block->indices());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    EXPECT_THAT(std::vector(columns.begin() + begins[i], columns.begin() + begins[i + 1]),
                ElementsAreArray(graph.neighbours(vertices[i])));
  }
  for (std::int64_t vertex = 0; vertex < 500; ++vertex) {
    EXPECT_EQ(hop.degrees[vertex].item<float>(), static_cast<float>(graph.degree(vertex)));
  }
}

TEST(Neighbourhoods, NeedTheVerticesAndTheirInNeighbours) {
  const auto graph = test::skewed_graph(500, 4);
  const std::vector<std::int64_t> vertices = {499, 0, 17};
  std::set<std::int64_t> expected(vertices.begin(), vertices.end());
  for (const auto vertex : vertices) {
    const auto neighbours = graph.neighbours(vertex);
    expected.insert(neighbours.begin(), neighbours.end());
  }
  EXPECT_THAT(values_of(with_neighbours(graph, at::tensor(vertices, at::kLong))), ElementsAreArray(expected));
}

TEST(Neighbourhoods, GraphsWhoseIdsDoNotFitAreRefused) {
  std::int64_t nothing = 0;
  graph::Graph graph;
  graph.name = "huge";
  graph.indptr = {&nothing, (std::size_t{1} << 31) + 1};  // is not read
  EXPECT_THAT([&] { Neighbourhoods(graph, at::kCPU, false); },
              ThrowsMessage<base::InputError>(HasSubstr("huge: has 2147483648 vertices")));
}

}  // namespace
}  // namespace gnomon::nn
