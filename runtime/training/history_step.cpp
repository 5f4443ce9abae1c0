#include "runtime/training/history_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>
#include <vector>

namespace gnomon::runtime {
namespace {

/// A view of the memory of `ids`, which must outlive it.
at::Tensor tensor_of(std::span<const std::int64_t> ids) {
  return at::from_blob(const_cast<std::int64_t*>(ids.data()), {std::ssize(ids)},
                       at::kLong);  // takes no const
}

/// Those of `count` positions that are not among `halo`, which ascends.
at::Tensor all_but(std::span<const std::int64_t> halo, std::int64_t count) {
  std::vector<std::int64_t> others;
  auto next = halo.begin();
  for (std::int64_t position = 0; position < count; ++position) {
    if (next != halo.end() && *next == position) {
      ++next;
    } else {
      others.push_back(position);
    }
  }
  return at::tensor(others, at::kLong);
}

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
  const auto ids = tensor_of(stages.vertices_in_training());
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

nn::StepResult step_with_halo(nn::Learner& learner, const nn::TensorBatch& data, History& history,
                              const Stages& stages, std::int64_t epoch, std::int64_t batch) {
  const auto halo = stages.halo_in_training();
  const auto ids = tensor_of(stages.vertices_in_training());
  const auto destinations = [&](std::size_t layer) {
    return data.blocks[data.blocks.size() - 1 - layer]->num_destinations();
  };
  const auto halo_of = [&](std::size_t layer) {
    const auto end = std::lower_bound(halo.begin(), halo.end(), destinations(layer));
    return ids.index_select(0, tensor_of(halo.first(static_cast<std::size_t>(end - halo.begin()))));
  };
  nn::HaloRows rows{tensor_of(halo), {}};
  for (std::size_t layer = 0; layer < history.num_layers(); ++layer) {
    rows.stored.push_back(stages.device().pull([&] { return history.pull(layer, halo_of(layer)); }));
  }
  if (history.num_layers() > 0) {
    history.note_pulled(halo_of(0));  // the other layers' are among them
  }
  const auto result = learner.step(data, rows, epoch, batch);
  for (std::size_t layer = 0; layer < history.num_layers(); ++layer) {
    const auto computed = all_but(halo, destinations(layer));
    const auto vertices = ids.index_select(0, computed);
    const auto rows_of_layer = rows.computed[layer].index_select(0, computed);
    history.push_layer(layer, vertices, stages.device().push(rows_of_layer));
    if (layer == 0) {
      history.note_pushed(vertices);
    }
  }
  history.note_update();
  return result;
}

}  // namespace gnomon::runtime
