#include "runtime/training/stretch_runner.h"

#include <algorithm>
#include <utility>

#include "runtime/placement.h"
#include "schedule/run_epoch.h"

namespace gnomon::runtime {
namespace {

using schedule::Stage;
using BeforeStage = std::function<void(Stage, std::int64_t)>;

/// Calls `before` with the group first.
void put_before_group(const BeforeStage& before, Stage stage, std::function<void(std::int64_t)>& of_group) {
  if (of_group) {
    of_group = [before, stage, inner = std::move(of_group)](std::int64_t group) {
      before(stage, group);
      inner(group);
    };
  }
}

/// Calls `before` with a position's batch or with the group first.
void put_before_stages(const BeforeStage& before, const Stages& stages, StageWork& work) {
  const auto put_before_batch = [&](Stage stage, std::function<void(std::int64_t, int)>& of_batch) {
    of_batch = [&stages, before, stage, inner = std::move(of_batch)](std::int64_t position, int where) {
      before(stage, stages.batch_of(position));
      inner(position, where);
    };
  };
  put_before_batch(Stage::cpu_batch, work.cpu_batch);
  put_before_batch(Stage::transfer, work.transfer);
  put_before_batch(Stage::device_batch, work.device_batch);
  put_before_batch(Stage::train, work.train);
  put_before_batch(Stage::device_gather, work.device_gather);
  work.group_prepare = [before, inner = std::move(work.group_prepare)](std::int64_t group, int worker) {
    before(Stage::group_prepare, group);
    inner(group, worker);
  };
  put_before_group(before, Stage::group_transfer, work.group_transfer);
  put_before_group(before, Stage::group_read, work.group_read);
}

/// Positions become batches of the epoch.
void name_batches(const Stages& stages, StretchReport& report) {
  const auto batch_at = [&](std::int64_t position) { return stages.batch_of(position); };
  for (auto& span : report.timeline) {
    span.batch = schedule::is_of_batch(span.stage) ? batch_at(span.batch) : span.batch;
  }
  std::transform(report.log.trained.begin(), report.log.trained.end(), report.log.trained.begin(), batch_at);
}

}  // namespace

StretchRunner::StretchRunner(Stages& stages, BeforeStage before_stage)
    : stages_(stages), before_stage_(std::move(before_stage)) {}

StretchReport StretchRunner::run(const Stretch& stretch, std::int64_t epoch,
                                 const std::vector<std::int64_t>& order, HotEmbeddings* hot,
                                 std::int64_t first) {
  stages_.take_plan(stretch.plan);
  stages_.begin_epoch(epoch, order, hot, first);
  auto machine = take_machine(stretch.plan);  // put back after a run without an exception
  plan_ = stretch.plan;
  schedule::TracedMachine traced(*machine, usual_);
  StretchReport report{stretch, epoch, schedule::run_epoch(plan_, std::ssize(order), traced),
                       traced.timeline()};
  machine_ = std::move(machine);
  learn_times(schedule::mean_times(report.timeline));
  name_batches(stages_, report);
  report.filling_s = stages_.take_filling_s();
  return report;
}

StageWork StretchRunner::work() {
  auto work = stages_.work();
  if (before_stage_) {
    put_before_stages(before_stage_, stages_, work);
  }
  return work;
}

/// The machine of the previous stretch if the plan has the same threads, or a new one.
std::unique_ptr<HostMachine> StretchRunner::take_machine(const plan::Plan& plan) {
  const auto cores = worker_cores(plan);
  const bool beside = works_beside_training(plan);
  if (machine_ && plan_.workers == plan.workers && worker_cores(plan_) == cores &&
      works_beside_training(plan_) == beside) {
    machine_->begin_run();
    return std::move(machine_);
  }
  machine_.reset();
  return std::make_unique<HostMachine>(plan.workers, work(), cores, beside, plan.devices);
}

/// Stages that did not run in a stretch keep their previous times.
void StretchRunner::learn_times(const schedule::StageTimes& times) {
  for (std::size_t stage = 0; stage < times.size(); ++stage) {
    usual_[stage] = times[stage] > 0 ? times[stage] : usual_[stage];
  }
}

}  // namespace gnomon::runtime
