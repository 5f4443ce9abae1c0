#include "profiles/measure/bench.h"

#include <algorithm>
#include <array>

#include "nn/dense/chunks.h"
#include "profiles/measure/mapped_history.h"
#include "runtime/training/history_step.h"
#include "schedule/run_epoch.h"
#include "schedule/timeline.h"

namespace gnomon::profiles {
namespace {

using schedule::StageSpan;
using schedule::Ticket;

/// Mini-batches that wait before each stage of a pipeline.
constexpr int pipeline_buffer = 2;

/// The maximum number of mini-batches in a super-batch.
constexpr int max_hot_batches = 4096;

plan::Plan bench_plan(int workers, plan::Reuse reuse) {
  plan::Plan plan;
  plan.name = "profiler";
  plan.route = plan::Route::both;
  plan.workers = workers;
  plan.device_threads = 1;
  plan.embeddings.reuse = reuse;
  return plan;
}

}  // namespace

Bench::Bench(const graph::Graph& graph, const plan::Job& job, int max_workers,
             const runtime::DeviceOptions& device, plan::Reuse reuse)
    : job_(job),
      usual_(bench_plan(max_workers, reuse)),
      plan_(usual_),
      learner_(job, graph.features.columns, graph.num_classes, runtime::tensor_device(device),
               nn::label_sets_of(graph, runtime::tensor_device(device))),
      devices_(std::min(2, device.devices)),
      prepares_apart_(plan::has_link(device.kind) && plan::runs_on_cores(device.kind)),
      executes_graphs_(plan::abilities_of(device.kind).recorded_steps && job.norm != plan::Norm::batch),
      second_learner_(devices_ == 1 ? nullptr
                                    : std::make_unique<nn::Learner>(
                                          job, graph.features.columns, graph.num_classes,
                                          runtime::tensor_device(device),
                                          nn::label_sets_of(graph, runtime::tensor_device(device)))),
      history_(mapped_history(plan_, job, graph.num_vertices())),
      stages_(
          runtime::graph_of_stages(graph, plan_), runtime::job_of_stages(job, plan_), plan_,
          [this](const nn::TensorBatch& data, std::int64_t batch, int number) { learn(data, batch, number); },
          device) {
  stages_.hold_model(learner_.weight_bytes() + learner_.label_set_bytes());
}

void Bench::learn(const nn::TensorBatch& data, std::int64_t batch, int device) {
  const nn::AtenThreadsGuard threads(plan_.device_threads);
  if (history_) {
    runtime::step(learner_, data, *history_, stages_, epoch_, batch);
  } else {
    (device == 0 ? learner_ : *second_learner_).step(data, epoch_, batch, sums_.at(device == 0 ? 0 : 1));
  }
  if (hot_) {
    hot_->end_update();
  }
}

void Bench::reuse_hot(double ratio) {
  hot_.reset();
  plan_.schedule = ratio > 0 ? plan::Schedule::super_batch : plan::Plan().schedule;
  plan_.embeddings = {.reuse = ratio > 0 ? plan::Reuse::hot : plan::Reuse::none, .hot_ratio = ratio};
  plan_.super_batch = ratio > 0 ? max_hot_batches : 1;
  stages_.take_plan(plan_);
  if (ratio > 0) {
    hot_ = std::make_unique<runtime::HotEmbeddings>(stages_.placed(), job_, plan_, learner_.model(),
                                                    runtime::HotRatioOptions{}, base::Progress());
  }
}

/// As in epochs, one thread starts a GPU's preparation and training in turn: each of two would sleep while
/// the other works. An emulated device has two, as trainings between waits for a slow link took longer on one
/// thread than they do in epochs.
runtime::HostMachine& Bench::machine_of(int workers) {
  const bool beside = plan_.prepares_beside_training() || prepares_apart_;
  auto& machine = machines_[{workers, beside}];
  if (!machine) {
    machine =
        std::make_unique<runtime::HostMachine>(workers, stages_.work(), std::vector<int>{}, beside, devices_);
  }
  return *machine;
}

void Bench::share_batches(int worker_threads) {
  if (plan_.worker_threads != worker_threads) {
    plan_.worker_threads = worker_threads;
    stages_.take_plan(plan_);
  }
}

void Bench::use_device_threads(int threads) {
  if (plan_.device_threads != threads) {
    plan_.device_threads = threads;
    stages_.take_plan(plan_);
  }
}

void Bench::use_devices(int devices) {
  plan_.devices = devices;
  stages_.take_plan(plan_);
}

void Bench::fuse(bool fused) {
  plan_.fused = fused;
  stages_.take_plan(plan_);
}

void Bench::prepare_aside(double share) {
  plan_.prepare_share = share;
  stages_.take_plan(plan_);
}

void Bench::hold_data(plan::Home home) {
  plan_.topology = plan_.features = home;
  stages_.take_plan(plan_);
}

void Bench::cache(bool features, bool topology) {
  plan_.cache.policy = features || topology ? plan::CachePolicy::out_degree : plan::CachePolicy::none;
  plan_.cache.features = features;
  plan_.cache.topology = topology;
  stages_.take_plan(plan_);
}

void Bench::gather_on_device(bool gathers) {
  plan_.gather = gathers ? plan::Gather::trainer : plan::Gather::sampler;
  stages_.take_plan(plan_);
}

void Bench::begin(std::int64_t epoch, const std::vector<std::int64_t>& order) {
  epoch_ = epoch;
  stages_.begin_epoch(epoch, order, hot_.get());
  if (hot_) {
    hot_->begin_epoch(epoch, order, 0, 0);
    stages_.group_prepare(0, 0);
    stages_.group_transfer(0);
  }
}

std::vector<StageSpan> Bench::in_turn(std::initializer_list<schedule::Stage> stages, std::int64_t first,
                                      std::int64_t count) {
  auto& machine = machine_of(1);
  std::vector<Ticket> tickets;
  for (std::int64_t position = first; position < first + count; ++position) {
    for (const auto stage : stages) {
      const auto before = tickets.empty() ? std::span<const Ticket>() : std::span(&tickets.back(), 1);
      tickets.push_back(machine.start_on(stages_.device_of(position), stage, position, before));
    }
  }
  std::vector<StageSpan> spans;
  for (const Ticket ticket : tickets) {
    machine.wait_any(std::array{ticket});
    spans.push_back(machine.span(ticket));
  }
  return spans;
}

std::vector<std::vector<StageSpan>> Bench::together(std::span<const Work> works, int workers) {
  auto& machine = machine_of(workers);
  std::vector<std::vector<Ticket>> tickets(works.size());
  for (std::size_t w = 0; w < works.size(); ++w) {
    for (std::int64_t i = 0; i < works[w].count; ++i) {
      const std::int64_t position = works[w].first + i;
      tickets[w].push_back(machine.start_on(stages_.device_of(position), works[w].stage, position, {}));
    }
  }
  std::vector<std::vector<StageSpan>> spans(works.size());
  for (std::size_t w = 0; w < works.size(); ++w) {
    for (const Ticket ticket : tickets[w]) {
      machine.wait_any(std::array{ticket});
      spans[w].push_back(machine.span(ticket));
    }
  }
  return spans;
}

void Bench::reset() {
  machines_.clear();
  learner_.use_graphs(false);
  take_plan(usual_);
}

void Bench::take_plan(const plan::Plan& plan) {
  plan_ = plan;
  stages_.take_plan(plan_);
}

std::vector<StageSpan> Bench::pipelined(const Pipeline& pipeline, std::int64_t epoch,
                                        const std::vector<std::int64_t>& order) {
  const auto before = plan_;
  auto plan = plan_;
  plan.schedule = plan::Schedule::pipelined;
  plan.route = pipeline.route;
  plan.order = pipeline.route == plan::Route::cpu ? plan::Order::as_ready : plan::Order::index;
  plan.workers = pipeline.workers;
  plan.prepare_share = pipeline.prepare_share;
  plan.cpu_buffer = pipeline_buffer;
  plan.device_buffer = pipeline_buffer;
  take_plan(plan);
  begin(epoch, order);
  auto& machine = machine_of(pipeline.workers);
  machine.begin_run();
  schedule::TracedMachine traced(machine);
  schedule::run_epoch(plan_, std::ssize(order), traced);
  auto spans = traced.timeline();
  take_plan(before);
  return spans;
}

}  // namespace gnomon::profiles
