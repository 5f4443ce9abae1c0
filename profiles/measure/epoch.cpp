#include "profiles/measure/epoch.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "nn/dense/chunks.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/mapped_history.h"
#include "runtime/host_machine.h"
#include "runtime/placement.h"
#include "runtime/stages.h"
#include "runtime/training/biased_graph.h"
#include "runtime/training/history_step.h"
#include "runtime/training/replicas.h"
#include "runtime/training/train_checks.h"
#include "schedule/run_epoch.h"
#include "schedule/timeline.h"

namespace gnomon::profiles {
namespace {

MeasuredEpoch median_of(std::vector<MeasuredEpoch> epochs) {
  const auto peak = epochs.back().device_bytes;
  const auto middle = epochs.begin() + (std::ssize(epochs) - 1) / 2;
  std::ranges::nth_element(epochs, middle, {}, &MeasuredEpoch::seconds);
  middle->device_bytes = peak;
  return std::move(*middle);
}

/// Mini-batches of as many macro-batches of an epoch as are in memory at a time: the one that is being
/// loaded, the one that mini-batches are drawn from, and one that they have been drawn from.
std::int64_t batches_of_resident(std::int64_t batches, const plan::Macro& macro) {
  constexpr std::int64_t at_a_time = 3;
  const std::int64_t groups = (macro.partitions + macro.resident - 1) / macro.resident;
  return std::min(batches, at_a_time * ((batches + groups - 1) / groups));
}

std::int64_t warm_up_batches(const EpochOptions& options, const plan::Plan& plan, std::int64_t batches) {
  if (options.warm_up_batches > 0 && plan.schedule == plan::Schedule::macro_batch) {
    return std::max(options.warm_up_batches, batches_of_resident(batches, plan.macro));
  }
  if (options.warm_up_batches == 0 || !plan::has_link(options.device.kind)) {
    return options.warm_up_batches;
  }
  const std::int64_t slots =
      (plan.uses_cpu_route() ? plan.workers + plan.cpu_buffer : 0) + plan.batches_ahead_on_device() + 1;
  return std::max(options.warm_up_batches, 2 * slots);
}

}  // namespace

MeasuredEpoch measure_epoch(const graph::Graph& whole, const plan::Job& asked, const plan::Plan& plan,
                            const EpochOptions& options) {
  auto job = asked;
  job.weighted = job.weighted || plan.bias > 1;
  const auto graph = plan.bias > 1 ? runtime::biased_graph(whole, plan, asked.weighted) : whole;
  plan::check_executed(plan, plan::abilities_of(options.device.kind), "plan \"" + plan.name + "\"");
  runtime::check_graphs(plan, job);
  runtime::Replicas replicas(job, graph, runtime::tensor_device(options.device),
                             schedule::averages_gradients(plan) ? plan.devices : 1);
  auto history = mapped_history(plan, job, graph.num_vertices());
  std::int64_t trained = 0;
  std::int64_t wanted = 0;
  std::int64_t number = options.epoch;
  const auto tell = [&](std::int64_t more) {
    trained += more;
    base::report(options.progress, plan.name, std::min(trained, wanted), wanted);
  };
  nn::StepSums sums;
  std::unique_ptr<runtime::HotEmbeddings> hot;  // of plans that reuse them
  runtime::Stages stages(
      runtime::graph_of_stages(graph, plan), runtime::job_of_stages(job, plan), plan,
      [&](const nn::TensorBatch& data, std::int64_t batch, int device) {
        throw_if_stopped(options.stop);
        const nn::AtenThreadsGuard threads(plan.device_threads);
        if (schedule::averages_gradients(plan)) {
          replicas.backward(device, data, number, batch);
        } else if (history && plan.embeddings.reuse == plan::Reuse::halo) {
          runtime::step_with_halo(replicas.first(), data, *history, stages, number, batch);
          tell(1);
        } else if (history) {
          runtime::step(replicas.first(), data, *history, stages, number, batch);
          tell(1);
        } else {
          replicas.first().step(data, number, batch, sums);
          if (hot) {
            hot->end_update();
          }
          tell(1);
        }
      },
      options.device, {},
      [&] {
        tell(std::ssize(replicas.update(number, schedule::first_trainer(plan))));
        return replicas.first().weight_bytes();
      });
  replicas.first().use_graphs(plan.graphs);
  stages.hold_model(replicas.kept_bytes(false));
  if (plan.embeddings.reuse == plan::Reuse::hot) {
    hot = std::make_unique<runtime::HotEmbeddings>(stages.placed(), job, plan, replicas.first().model(),
                                                   runtime::HotRatioOptions{}, options.progress);
  }
  const auto batches_in = [&](std::int64_t epoch) {
    const std::int64_t batches = stages.batches(epoch);
    return options.max_batches > 0 ? std::min(options.max_batches, batches) : batches;
  };
  const std::int64_t all = batches_in(number);
  const std::int64_t warm_up = warm_up_batches(options, plan, all);
  wanted = warm_up + all;
  runtime::HostMachine machine(plan.workers, stages.work(), runtime::worker_cores(plan),
                               runtime::works_beside_training(plan), plan.devices);
  const auto run = [&](std::int64_t batches) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(batches));
    std::iota(order.begin(), order.end(), 0);
    if (hot) {
      hot->begin_epoch(number, order, 0, 0);
    }
    stages.begin_epoch(number, order, hot.get());
    machine.begin_run();
    schedule::TracedMachine traced(machine);
    const double seconds = schedule::run_epoch(plan, batches, traced).seconds();
    return MeasuredEpoch{seconds, traced.timeline(), stages.device_peak_bytes()};
  };
  for (std::int64_t left = warm_up; left > 0; left -= all) {  // an epoch may have few batches
    run(std::min(left, all));
  }
  if (plan.graphs) {  // which learn from a whole epoch and are recorded when the next one begins
    run(all);
    ++number;
    run(1);
  }
  std::vector<MeasuredEpoch> epochs;
  double seconds = 0;
  do {
    epochs.push_back(run(batches_in(number)));
    seconds += epochs.back().seconds;
    ++number;
  } while (seconds < options.min_s);
  return median_of(std::move(epochs));
}

}  // namespace gnomon::profiles
