#include "runtime/reuse/hot_embeddings.h"

#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/weighted_rule.h"

namespace gnomon::runtime {
namespace {

/// The factors by which the number of hot vertices is lowered or raised.
constexpr double lower = 0.8;
constexpr double raise = 1.1;

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors, at::Device device) {
  std::vector<at::Tensor> copies;
  for (const auto& tensor : tensors) {
    copies.push_back(tensor.detach().to(device, tensor.scalar_type(), false, true));
  }
  return copies;
}

/// The largest change of any element, on the tensors' device.
at::Tensor largest_change(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after) {
  std::vector<at::Tensor> changes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    changes.push_back((after[i].detach() - before[i]).abs().max());
  }
  return at::stack(changes).max();
}

}  // namespace

void check_reuse(const plan::Plan& plan, const plan::Job& job) {
  if (plan.embeddings.reuse != plan::Reuse::hot) {
    return;
  }
  const auto refuse = [&](const std::string& why) {
    throw base::InputError("plan " + plan.name + ": embeddings.reuse \"hot\"", why);
  };
  if (job.model == plan::ModelKind::gat) {
    refuse(
        "cannot be combined with model \"gat\": the gradient of its attention needs each neighbour's "
        "features, and "
        "not only their sum");
  }
  if (job.skip) {
    refuse("cannot be combined with skip connections, which read the features of every vertex");
  }
  if (job.layers() < 2) {
    refuse("needs a model of at least two layers; the last one's outputs are logits");
  }
}

HotEmbeddings::HotEmbeddings(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                             const plan::Plan& plan, const nn::Model& model, HotRatioOptions options,
                             const base::Progress& progress)
    : graph_(std::move(graph)),
      job_(job),
      plan_(plan),
      model_(model),
      options_(std::move(options)),
      visits_(count_bottom(*graph_, job, plan.device_threads, progress)),
      set_(rank_by_visits(visits_.destinations)),
      tools_(static_cast<std::size_t>(std::max(1, plan.workers))),
      cores_(thread_cores(plan)),
      hot_(hot_count(set_, plan.embeddings.hot_ratio)) {
  check_reuse(plan, job);
}

void HotEmbeddings::begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order, std::int64_t trained,
                                std::int64_t updates) {
  epoch_ = epoch;
  order_ = std::move(order);
  seeds_ = graph::epoch_order(graph_->graph.train, job_.seed, static_cast<std::uint64_t>(epoch));
  trained_ = trained;
  updates_ = updates + trained;
  before_ = copies_of(bottom_parameters(), model_.device());
  const std::int64_t current = trained / plan_.super_batch;
  resumed_in_ = trained % plan_.super_batch == 0 ? -1 : current;
  if (trained == 0) {
    super_batches_.clear();
    report_ = {};
    largest_change_ = at::Tensor();
  }
  for (const auto number : {current, current + 1}) {
    if (!super_batches_.contains(number) && number * plan_.super_batch < std::ssize(order_)) {
      keep_weights(number);
    }
  }
}

std::int64_t HotEmbeddings::next_hot_count(std::int64_t number) const {
  if (!options_.counts.empty()) {
    return options_.counts.at(static_cast<std::size_t>(epoch_)).at(static_cast<std::size_t>(number));
  }
  if (!options_.adapt || trained_ % plan_.super_batch != 0 || trained_ == 0) {
    return hot_;  // no new timing since the last super-batch
  }
  if (number - 2 == resumed_in_) {
    return hot_;  // its rest was trained alone
  }
  const auto& refresh = super_batches_.at(number - 1)->refresh;
  const double factor = refresh && refresh->is_done() ? raise : lower;
  const auto count = static_cast<std::int64_t>(factor * static_cast<double>(hot_));
  return std::clamp<std::int64_t>(count + (factor > 1 ? 1 : 0), 0, std::ssize(set_.vertices));
}

/// Keeps the weights with which the super-batch's rows will be computed.
void HotEmbeddings::keep_weights(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_unique<SuperBatch>();
  next->version = updates_;
  next->hot = hot_ = next_hot_count(number);
  next->parameters = copies_of(bottom_parameters(), at::kCPU);
  super_batches_[number] = std::move(next);
}

HotEmbeddings::SuperBatch& HotEmbeddings::super_batch(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  return *super_batches_.at(number);
}

std::int64_t HotEmbeddings::left_in_super_batch() const {
  const std::int64_t done = trained_ % plan_.super_batch;
  return done == 0 ? 0 : std::min(plan_.super_batch - done, std::ssize(order_) - trained_);
}

HotVertices HotEmbeddings::hot_of(std::int64_t k) const {
  return {set_.ranks, static_cast<std::uint32_t>(super_batch(k / plan_.super_batch).hot)};
}

RefreshTools& HotEmbeddings::tools_of(int worker) {
  auto& tools = tools_.at(static_cast<std::size_t>(worker));
  if (!tools) {
    const auto at = static_cast<std::size_t>(worker);
    tools = std::make_unique<RefreshTools>(
        graph_->topology, job_,
        kernels::cpu::BatchThreads{
            plan_.worker_threads, at < cores_.size() ? cores_[at] : std::vector<int>(), {}});
  }
  return *tools;
}

Refresh& HotEmbeddings::refresh_of(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  auto& of = *super_batches_.at(number);
  if (!of.refresh) {
    const auto first = order_.begin() + number * plan_.super_batch;
    const auto count = std::min<std::int64_t>(plan_.super_batch, order_.end() - first);
    of.refresh = std::make_unique<Refresh>(RefreshRequest{&graph_->graph,
                                                          &job_,
                                                          &model_,
                                                          &set_,
                                                          static_cast<std::uint32_t>(of.hot),
                                                          epoch_,
                                                          number,
                                                          {first, first + count},
                                                          of.parameters},
                                           seeds_);
  }
  return *of.refresh;
}

void HotEmbeddings::prepare(std::int64_t number, int worker) { refresh_of(number).work(tools_of(worker)); }

void HotEmbeddings::transfer(std::int64_t number, Device& device) {
  {
    const std::lock_guard lock(mutex_);
    super_batches_.erase(super_batches_.begin(), super_batches_.lower_bound(number - 1));
  }
  auto& of = super_batch(number);
  of.rows = of.refresh->take_rows();
  std::vector<at::Tensor> on_host = {of.rows.outputs};
  for (const auto& operand : of.rows.operands) {
    if (operand.dense.defined()) {
      on_host.push_back(operand.dense);
    }
  }
  if (!of.rows.outputs.defined()) {
    return;  // no hot vertex is used
  }
  const auto moved = device.take_tensors(on_host);
  of.rows.outputs = moved.front();
  std::size_t next = 1;
  for (auto& operand : of.rows.operands) {
    if (operand.dense.defined()) {
      operand.dense = moved[next++];
    }
  }
}

std::shared_ptr<const nn::ReusedBottom> HotEmbeddings::reused_by(std::int64_t k, const SplitBottom& bottom,
                                                                 std::int64_t gathered_vertices) {
  const auto number = k / plan_.super_batch;
  const auto& of = super_batch(number);
  if (std::ssize(report_.super_batches) <= number) {
    read_change(report_);
    largest_change_ = at::Tensor();
  }
  report_.super_batches.resize(std::max(report_.super_batches.size(), static_cast<std::size_t>(number) + 1));
  auto& log = report_.super_batches.back();
  log.hot = of.hot;
  log.refreshed = of.refresh->num_rows();
  report_.vertices_not_sampled -= gathered_vertices;
  report_.bytes_not_gathered -= bottom.feature_bytes;
  auto reused = std::make_shared<nn::ReusedBottom>();
  reused->degrees = bottom.degrees;
  if (bottom.reused.empty()) {
    return reused;
  }
  log.staleness = std::max(log.staleness, updates_ - of.version);
  if (log.staleness > 2 * plan_.super_batch - 1) {
    throw std::logic_error("an embedding is " + std::to_string(log.staleness) + " updates old");
  }
  report_.edges_not_aggregated += edges_below(bottom.reused);
  std::vector<std::int64_t> which;
  for (const auto vertex : bottom.reused) {
    which.push_back(of.refresh->rows_of_ranks()[set_.ranks[static_cast<std::size_t>(vertex)]]);
  }
  reused->order = bottom.order;
  reused->rows = nn::select(of.rows, at::tensor(which, at::kLong).to(of.rows.outputs.device()));
  return reused;
}

/// The number of edges that a mini-batch would have sampled for these destinations.
std::int64_t HotEmbeddings::edges_below(const std::vector<graph::VertexId>& vertices) const {
  const auto& topology = graph_->topology;
  const std::int64_t fanout = job_.fanouts.back();
  std::int64_t edges = 0;
  for (const auto vertex : vertices) {
    const std::int64_t drawable =
        topology.draws_by_weight() ? topology.num_positive(vertex) : topology.degree(vertex);
    edges += fanout < 0 ? drawable : std::min(drawable, fanout);
  }
  return edges;
}

/// On the device: reading it after every update would make the host wait for a GPU.
void HotEmbeddings::note_change() {
  const auto after = bottom_parameters();
  if (!report_.super_batches.empty()) {
    const auto change = largest_change(before_, after);
    largest_change_ = largest_change_.defined() ? at::maximum(largest_change_, change) : change;
  }
  before_ = copies_of(after, model_.device());
}

void HotEmbeddings::read_change(ReuseReport& report) const {
  if (largest_change_.defined()) {
    if (largest_change_.is_cuda()) {  // it is computed on the stream of training
      at::detail::getCUDAHooks().deviceSynchronize(largest_change_.device().index());
    }
    auto& epsilon = report.super_batches.back().epsilon;
    epsilon = std::max(epsilon, 2.0 * plan_.super_batch * largest_change_.item<double>());
  }
}

void HotEmbeddings::end_update() {
  note_change();
  ++trained_;
  ++updates_;
  if (trained_ % plan_.super_batch != 0) {
    return;
  }
  const auto next = trained_ / plan_.super_batch + 1;
  if (next * plan_.super_batch < std::ssize(order_)) {
    keep_weights(next);
  }
}

ReuseReport HotEmbeddings::report() const {
  auto report = report_;
  read_change(report);
  report.vertices_not_sampled += visits_.vertices_in(epoch_);
  report.bytes_not_gathered += visits_.feature_bytes_in(epoch_);
  return report;
}

std::map<std::string, at::Tensor> HotEmbeddings::carried() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, at::Tensor> tensors;
  tensors["hot_numbers"] = at::tensor({std::int64_t{plan_.super_batch}, hot_, report_.vertices_not_sampled,
                                       report_.edges_not_aggregated, report_.bytes_not_gathered},
                                      at::kLong);
  const std::int64_t current = trained_ / plan_.super_batch;
  for (const auto& [number, of] : super_batches_) {
    if (number < current) {
      continue;  // over
    }
    const auto prefix = "hot_super_batch_" + std::to_string(number) + "_";
    tensors[prefix + "numbers"] = at::tensor({of->version, of->hot}, at::kLong);
    for (std::size_t i = 0; i < of->parameters.size(); ++i) {
      tensors[prefix + "parameter_" + std::to_string(i)] = of->parameters[i];
    }
  }
  std::vector<double> log;
  auto read = report_;
  read_change(read);
  for (const auto& of : read.super_batches) {
    log.insert(log.end(), {static_cast<double>(of.hot), static_cast<double>(of.refreshed),
                           static_cast<double>(of.staleness), of.epsilon});
  }
  tensors["hot_log"] = at::tensor(log, at::kDouble);
  return tensors;
}

void HotEmbeddings::restore(const std::map<std::string, at::Tensor>& tensors) {
  const auto numbers_at = tensors.find("hot_numbers");
  if (numbers_at == tensors.end() ||
      numbers_at->second.const_data_ptr<std::int64_t>()[0] != plan_.super_batch) {
    return;  // from a run without reuse
  }
  const auto* numbers = numbers_at->second.const_data_ptr<std::int64_t>();
  hot_ = std::min(numbers[1], std::ssize(set_.vertices));
  report_ = {numbers[2], numbers[3], numbers[4], {}};
  const auto& log = tensors.at("hot_log");
  const auto* values = log.const_data_ptr<double>();
  for (std::int64_t i = 0; i + 3 < log.numel(); i += 4) {
    report_.super_batches.push_back({static_cast<std::int64_t>(values[i]),
                                     static_cast<std::int64_t>(values[i + 1]),
                                     static_cast<std::int64_t>(values[i + 2]), values[i + 3]});
  }
  const std::string prefix = "hot_super_batch_";
  for (const auto& [name, tensor] : tensors) {
    if (!name.starts_with(prefix) || !name.ends_with("_numbers")) {
      continue;
    }
    const auto number = std::stoll(name.substr(prefix.size()));
    auto of = std::make_unique<SuperBatch>();
    of->version = tensor.const_data_ptr<std::int64_t>()[0];
    of->hot = tensor.const_data_ptr<std::int64_t>()[1];
    for (std::size_t i = 0; i < bottom_parameters().size(); ++i) {
      of->parameters.push_back(
          tensors.at(prefix + std::to_string(number) + "_parameter_" + std::to_string(i)));
    }
    super_batches_[number] = std::move(of);
  }
}

}  // namespace gnomon::runtime
