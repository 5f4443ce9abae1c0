#include "runtime/training/history_step.h"

#include <ATen/ATen.h>

namespace gnomon::runtime {
namespace {

bool reuses_all(const plan::Plan& plan) { return plan.embeddings.reuse == plan::Reuse::all; }

}  // namespace

graph::Graph graph_of_stages(const graph::Graph& graph, const plan::Plan& plan) {
  return reuses_all(plan) ? with_all_as_seeds(graph) : graph;
}

plan::Job job_of_stages(const plan::Job& job, const plan::Plan& plan) {
  return reuses_all(plan) ? with_one_hop(job) : job;
}

nn::StepResult step(nn::Learner& learner, const nn::TensorBatch& data, History& history, const Stages& stages,
                    std::int64_t epoch, std::int64_t batch) {
  const auto vertices = stages.vertices_in_training();
  const auto ids = at::from_blob(const_cast<graph::VertexId*>(vertices.data()), {std::ssize(vertices)},
                                 at::kLong);  // from_blob takes no const
  const auto num_seeds = data.blocks.front()->num_destinations();
  const auto seeds = ids.narrow(0, 0, num_seeds);
  const auto halo = ids.narrow(0, num_seeds, ids.size(0) - num_seeds);
  nn::HistoricalRows rows;
  for (std::size_t layer = 0; layer < history.num_layers(); ++layer) {
    rows.halo.push_back(stages.device().pull([&] { return history.pull(layer, halo); }));
  }
  history.note_pulled(halo);
  const auto result = learner.step(data, rows, epoch, batch);
  for (auto& pushed : rows.seeds) {
    pushed = stages.device().push(pushed);
  }
  history.push(seeds, rows.seeds);
  if (result.seeds > 0) {
    history.note_update();
  }
  return result;
}

}  // namespace gnomon::runtime
