#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "kernels/cpu/sample/sampler.h"
#include "nn/history.h"
#include "nn/models.h"
#include "nn/tensor_batch.h"
#include "tests/fixtures/graphs.h"
#include "tests/nn/tensors.h"

// Training with historical embeddings of a halo, held against dense matrices in double precision.

namespace gnomon::nn {
namespace {

constexpr std::int64_t halo_vertices = 40;
constexpr std::int64_t halo_columns = 9;
constexpr std::int64_t halo_hidden = 6;
constexpr std::int64_t halo_classes = 3;

bool is_halo(graph::VertexId vertex) { return vertex % 4 == 3; }

/// A skewed graph in which every fourth vertex has no neighbours.
graph::Graph graph_with_halo() {
  const auto graph = test::skewed_graph(halo_vertices, 4);
  std::vector<std::vector<graph::VertexId>> lists;
  for (graph::VertexId vertex = 0; vertex < halo_vertices; ++vertex) {
    const auto neighbours = graph.neighbours(vertex);
    lists.emplace_back();
    if (!is_halo(vertex)) {
      lists.back().assign(neighbours.begin(), neighbours.end());
    }
  }
  return test::graph_of(lists);
}

/// Mini-batches of all neighbours of some seeds, with features and stored embeddings of all vertices.
class Halo : public testing::TestWithParam<plan::ModelKind> {
 protected:
  Halo() : graph_(graph_with_halo()), features_(random_tensor({halo_vertices, halo_columns}, 1)) {
    job_.model = GetParam();
    job_.fanouts = {-1, -1, -1};
    job_.hidden = halo_hidden;
    job_.dropout = 0;
    stored_ = {random_tensor({halo_vertices, halo_hidden}, 2),
               random_tensor({halo_vertices, halo_hidden}, 3)};
    kernels::cpu::Sampler sampler(graph_, job_.fanouts);
    sampler.sample({1, 0, 0}, seeds_, sampled_);
    ids_ = at::tensor(sampled_.vertices, at::kLong);
    batch_.features = features_.index_select(0, ids_);
    std::vector<float> degrees;
    for (const auto vertex : sampled_.vertices) {
      degrees.push_back(static_cast<float>(graph_.degree(vertex)));
    }
    batch_.degrees = at::tensor(degrees);
    for (const auto& block : sampled_.blocks) {
      batch_.blocks.push_back(view_of(block));
    }
  }

  HaloRows rows() const {
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < sampled_.vertices.size(); ++i) {
      if (is_halo(sampled_.vertices[i])) {
        positions.push_back(static_cast<std::int64_t>(i));
      }
    }
    HaloRows rows{at::tensor(positions, at::kLong), {}};
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const auto destinations = sampled_.blocks[2 - layer].num_destinations;
      const auto end = std::lower_bound(positions.begin(), positions.end(), destinations);
      const auto among = at::tensor(std::vector<std::int64_t>(positions.begin(), end), at::kLong);
      rows.stored.push_back(stored_[layer].index_select(0, ids_.index_select(0, among)));
    }
    return rows;
  }

  /// The layer of all vertices on the dense adjacency matrix.
  at::Tensor layer(const at::Tensor& x, const at::Tensor* weights) const {
    auto adjacency = at::zeros({halo_vertices, halo_vertices}, at::kDouble);
    for (graph::VertexId vertex = 0; vertex < halo_vertices; ++vertex) {
      for (const auto neighbour : graph_.neighbours(vertex)) {
        adjacency[vertex][neighbour] += 1;
      }
    }
    const auto degrees = adjacency.sum(1);
    if (GetParam() == plan::ModelKind::sage) {
      const auto mean = adjacency.matmul(x) / degrees.clamp_min(1).unsqueeze(1);
      return x.matmul(weights[0]) + mean.matmul(weights[1]) + weights[2];
    }
    const auto roots = (degrees + 1).rsqrt().unsqueeze(1);
    const auto loops = adjacency + at::eye(halo_vertices, at::kDouble);
    return (roots * loops.matmul(roots * x)).matmul(weights[0]) + weights[1];
  }

  /// The logits of the seeds. Hidden layers' outputs of the halo are the stored ones.
  at::Tensor reference(const std::vector<at::Tensor>& weights, std::vector<at::Tensor>& outputs) const {
    std::vector<std::int64_t> halo;
    for (graph::VertexId vertex = 0; vertex < halo_vertices; ++vertex) {
      if (is_halo(vertex)) {
        halo.push_back(vertex);
      }
    }
    const auto places = at::tensor(halo, at::kLong);
    const std::size_t each = weights.size() / 3;
    auto x = features_.to(at::kDouble);
    for (std::size_t i = 0; i < 3; ++i) {
      x = layer(x, &weights[i * each]);
      if (i < 2) {
        x = x.clamp_min(0);
        outputs.push_back(x.detach());
        x = x.index_copy(0, places, stored_[i].to(at::kDouble).index_select(0, places));
      }
    }
    return x.index_select(0, at::tensor(seeds_, at::kLong));
  }

  const std::vector<graph::VertexId> seeds_{0, 5, 10, 22, 37};
  graph::Graph graph_;
  plan::Job job_;
  at::Tensor features_, ids_;
  std::vector<at::Tensor> stored_;
  kernels::MiniBatch sampled_;
  TensorBatch batch_;
};

INSTANTIATE_TEST_SUITE_P(Models, Halo, testing::Values(plan::ModelKind::gcn, plan::ModelKind::sage),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(Halo, TakesItsEmbeddingsAndGivesThemNoGradients) {
  const Model model(job_, halo_columns, halo_classes);
  auto halo = rows();
  ASSERT_GT(halo.stored[0].size(0), 0);
  std::vector<at::Tensor> weights;
  for (const auto& parameter : model.parameters()) {
    weights.push_back(parameter.detach().to(at::kDouble).requires_grad_());
  }
  std::vector<at::Tensor> outputs;
  const auto expected = reference(weights, outputs);
  const auto logits = model.forward(batch_, halo, DropoutSpec{});
  EXPECT_LT(relative_error(logits, expected), 1e-5);
  const auto upstream = random_tensor({std::ssize(seeds_), halo_classes}, 9);
  const auto gradients = torch::autograd::grad({logits}, model.parameters(), {upstream});
  const auto exact = torch::autograd::grad({expected}, weights, {upstream.to(at::kDouble)});
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_LT(relative_error(gradients[i], exact[i]), 1e-5) << model.state_names()[i];
  }
}

TEST_P(Halo, TellsWhatWasComputed) {
  const Model model(job_, halo_columns, halo_classes);
  auto halo = rows();
  model.forward(batch_, halo, DropoutSpec{});
  std::vector<at::Tensor> weights;
  for (const auto& parameter : model.parameters()) {
    weights.push_back(parameter.detach().to(at::kDouble));
  }
  std::vector<at::Tensor> outputs;
  reference(weights, outputs);
  ASSERT_EQ(halo.computed.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& computed = halo.computed[i];
    ASSERT_EQ(computed.size(0), sampled_.blocks[2 - i].num_destinations);
    EXPECT_FALSE(computed.requires_grad());
    for (std::int64_t row = 0; row < computed.size(0); ++row) {
      const auto vertex = sampled_.vertices[static_cast<std::size_t>(row)];
      if (!is_halo(vertex)) {
        EXPECT_LT((computed[row] - outputs[i][vertex]).abs().max().item<double>(), 1e-4)
            << "vertex " << vertex;
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::nn
