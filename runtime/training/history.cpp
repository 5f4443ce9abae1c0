#include "runtime/training/history.h"

#include <ATen/ATen.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace gnomon::runtime {
namespace {

constexpr const char* layer_name = "history_layer";
constexpr const char* pushed_name = "history_pushed_at";
constexpr const char* counts_name = "history_counts";

/// Arrays owned by a graph whose seeds are all vertices.
struct SeedsOfHistory {
  std::shared_ptr<const void> graph;
  std::vector<std::int32_t> labels;
  std::vector<graph::VertexId> seeds;
};

}  // namespace

History::History(std::vector<at::Tensor> hidden, std::int64_t vertices)
    : hidden_(std::move(hidden)), pushed_at_(at::zeros({vertices}, at::kLong)) {}

History::History(const CarriedTensors& carried) : pushed_at_(carried.at(pushed_name)) {
  for (std::size_t i = 0; carried.contains(layer_name + std::to_string(i)); ++i) {
    hidden_.push_back(carried.at(layer_name + std::to_string(i)));
  }
  const auto* counts = carried.at(counts_name).const_data_ptr<std::int64_t>();
  updates_ = counts[0];
  staleness_ = {counts[1], counts[2], counts[3]};
}

bool History::is_in(const CarriedTensors& carried) { return carried.contains(pushed_name); }

CarriedTensors History::carried() const {
  CarriedTensors tensors{
      {pushed_name, pushed_at_},
      {counts_name, at::tensor({updates_, staleness_.rows, staleness_.sum, staleness_.max}, at::kLong)}};
  for (std::size_t i = 0; i < hidden_.size(); ++i) {
    tensors[layer_name + std::to_string(i)] = hidden_[i];
  }
  return tensors;
}

at::Tensor History::pull(std::size_t layer, const at::Tensor& vertices) const {
  return hidden_[layer].index_select(0, vertices);
}

void History::note_pulled(const at::Tensor& vertices) {
  if (vertices.numel() == 0 || hidden_.empty()) {
    return;
  }
  const auto pushed_at = pushed_at_.index_select(0, vertices);
  staleness_.rows += vertices.numel();
  staleness_.sum += updates_ * vertices.numel() - pushed_at.sum().item<std::int64_t>();
  staleness_.max = std::max(staleness_.max, updates_ - pushed_at.min().item<std::int64_t>());
}

void History::push(const at::Tensor& vertices, const std::vector<at::Tensor>& rows) {
  for (std::size_t layer = 0; layer < hidden_.size(); ++layer) {
    push_layer(layer, vertices, rows[layer]);
  }
  note_pushed(vertices);
}

void History::push_layer(std::size_t layer, const at::Tensor& vertices, const at::Tensor& rows) {
  hidden_[layer].index_copy_(0, vertices, rows);
}

void History::note_pushed(const at::Tensor& vertices) { pushed_at_.index_fill_(0, vertices, updates_); }

bool keeps_history(const plan::Plan& plan) {
  return plan.embeddings.reuse == plan::Reuse::all || plan.embeddings.reuse == plan::Reuse::halo;
}

graph::Graph with_all_as_seeds(const graph::Graph& graph) {
  const auto count = static_cast<std::size_t>(graph.num_vertices());
  auto held = std::make_shared<SeedsOfHistory>(SeedsOfHistory{
      graph.storage, std::vector<std::int32_t>(count, -1), std::vector<graph::VertexId>(count)});
  for (const graph::VertexId vertex : graph.train) {
    const auto index = static_cast<std::size_t>(vertex);
    held->labels[index] = graph.labels[index];
  }
  std::iota(held->seeds.begin(), held->seeds.end(), graph::VertexId{0});
  graph::Graph all = graph;
  all.labels = held->labels;
  all.train = held->seeds;
  all.storage = std::move(held);
  return all;
}

plan::Job with_one_hop(plan::Job job) {
  job.fanouts.resize(1);
  return job;
}

}  // namespace gnomon::runtime
