#include "runtime/training/train_checks.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "graph/store/checked_store.h"
#include "plan/disk_plans.h"
#include "plan/exactness.h"
#include "runtime/disk/disk_data.h"
#include "runtime/macro/macro_loader.h"
#include "runtime/placement.h"
#include "runtime/reuse/hot_embeddings.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/history.h"

namespace gnomon::runtime {
namespace {

void check_plan(const plan::Plan& plan, const DeviceOptions& device) {
  plan::check(plan, "plan");
  plan::check_executed(plan, plan::abilities_of(device.kind), "plan " + plan.name);
  if (plan.device_threads < 1 || (plan.uses_workers() && plan.workers < 1)) {
    throw base::InputError("plan " + plan.name, "workers or device_threads are 0; resolve it first");
  }
}

}  // namespace

void check_graphs(const plan::Plan& plan, const plan::Job& job) {
  if (plan.graphs && job.norm == plan::Norm::batch) {
    throw base::InputError("plan " + plan.name + ": graphs",
                           "does not go with norm \"batch\", whose statistics would count the padding; use "
                           "norm \"layer\" or \"none\", or a plan without graphs");
  }
}

void check_hot_counts(const TrainOptions& options, std::int64_t batches) {
  const auto length = options.plan.super_batch;
  const auto super_batches = (batches + length - 1) / length;
  for (std::size_t epoch = 0; epoch < options.hot_ratio.counts.size(); ++epoch) {
    if (std::ssize(options.hot_ratio.counts[epoch]) != super_batches) {
      throw base::InputError("replay: epoch " + std::to_string(epoch + 1) + ": hot",
                             "must have " + std::to_string(super_batches) + " numbers, one a super-batch");
    }
  }
}

void check_replay(const std::vector<std::vector<std::int64_t>>& replay, const plan::Plan& plan,
                  const std::function<std::int64_t(std::int64_t epoch)>& batches_of) {
  const bool may_repeat = plan.schedule == plan::Schedule::macro_batch;
  for (std::size_t epoch = 0; epoch < replay.size(); ++epoch) {
    const std::int64_t batches = batches_of(static_cast<std::int64_t>(epoch));
    const std::set<std::int64_t> distinct(replay[epoch].begin(), replay[epoch].end());
    const bool has_all = std::ssize(distinct) >= batches && *distinct.begin() == 0 &&
                         *std::next(distinct.begin(), batches - 1) == batches - 1;
    const std::int64_t end = batches * (may_repeat ? plan.macro.passes : 1);
    if (distinct.size() != replay[epoch].size() || !has_all || *distinct.rbegin() >= end) {
      throw base::InputError(
          "replay: epoch " + std::to_string(epoch + 1),
          "must have each of the batches 0 to " + std::to_string(batches - 1) + " once" +
              (end > batches ? ", and others of further passes below " + std::to_string(end) : ""));
    }
  }
}

void check_replayed(const TrainOptions& options) {
  if (options.replay.empty() || options.plan.devices == 1 || plan::trains_in_order(options.plan)) {
    return;
  }
  if (options.plan.schedule != plan::Schedule::factored) {
    throw base::InputError("replay",
                           "an order recorded with order \"as_ready\" can only be replayed on one device; "
                           "use a plan with devices 1");
  }
  if (options.plan.switch_roles) {
    throw base::InputError("replay",
                           "the number of mini-batches averaged per step is not recorded when samplers "
                           "switch roles; use a plan with switch_roles false");
  }
}

void check_stretch(const Stretch& stretch, std::int64_t left, const DeviceOptions& device) {
  check_plan(stretch.plan, device);
  if (!plan::trains_in_order(stretch.plan)) {
    throw base::InputError("plan " + stretch.plan.name + ": order",
                           "another plan takes over from it; use \"index\"");
  }
  if (stretch.plan.devices != 1) {
    throw base::InputError("plan " + stretch.plan.name + ": devices",
                           "several plans share one device; use 1");
  }
  if (plan::changes_training(stretch.plan)) {
    throw base::InputError("plan " + stretch.plan.name + ": exact",
                           "it changes the training, which several plans share; use an exact plan");
  }
  if (plan::exactness_of(stretch.plan) < plan::Exactness::bits) {
    throw base::InputError("plan " + stretch.plan.name + ": graphs",
                           "it rounds otherwise than the plans that share the training with it");
  }
  if (stretch.batches < 1 || stretch.batches > left) {
    throw std::invalid_argument("a stretch of " + std::to_string(stretch.batches) + " of " +
                                std::to_string(left) + " batches");
  }
}

void check_resumed(const graph::Graph& graph, const TrainOptions& options) {
  const auto checkpoint = checkpoint_path(options.run_directory);
  if (!options.resume || options.plan.bias > 1 || !std::filesystem::exists(checkpoint)) {
    return;
  }
  RunState expected;
  expected.job = options.job;
  expected.graph = mark_of(graph);
  check_checkpoint(checkpoint, expected);
}

void check_options(const graph::Graph& graph, const TrainOptions& options) {
  if (const auto why = why_no_device(options.device); !why.empty()) {
    throw base::InputError(options.device.kind == plan::DeviceKind::cuda ? "GPU" : "device", why);
  }
  graph::validate_once(graph, true);
  plan::check(options.job, "job");
  draws_of(graph, options.job);
  check_plan(options.plan, options.device);
  check_reuse(options.plan, options.job);
  check_graphs(options.plan, options.job);
  check_disk(graph, options.job, options.plan);
  check_macro(graph, options.job, options.plan);
  if (options.device.host_bytes > 0 && !plan::reads_disk(options.plan)) {
    throw base::InputError(
        "host memory", "plan \"" + options.plan.name +
                           "\" keeps the whole graph there; a limit is for plans with features or topology "
                           "\"disk\"");
  }
  if (const auto& counts = options.hot_ratio.counts;
      !counts.empty() && std::ssize(counts) < options.job.epochs) {
    throw base::InputError("replay", "has hot vertices of " + std::to_string(counts.size()) +
                                         " epochs; the job has " + std::to_string(options.job.epochs));
  }
  if (!options.replay.empty() && std::ssize(options.replay) < options.job.epochs) {
    throw base::InputError("replay", "has " + std::to_string(options.replay.size()) +
                                         " epochs; the job has " + std::to_string(options.job.epochs));
  }
  if (options.next_stretch && (plan::changes_training(options.plan) || options.plan.graphs)) {
    throw std::invalid_argument("several plans share the training; the first one has bits of its own");
  }
  if (!options.replay.empty() && options.next_stretch) {
    throw std::invalid_argument("a replay follows one plan");
  }
}

void check_carried_history(const RunState& state, const plan::Plan& plan,
                           const std::filesystem::path& checkpoint) {
  const auto field = checkpoint.string() + ": plan.embeddings.reuse";
  const bool is_kept = keeps_history(plan);
  const bool was_kept = History::is_in(state.carried);
  if (was_kept && !is_kept) {
    throw base::InputError(field,
                           "the run was started with \"all\" or \"halo\"; resume with that, or use a new run "
                           "directory");
  }
  if (is_kept && !was_kept && (state.epoch > 0 || !state.trained.empty())) {
    throw base::InputError(field, "the run was started without historical embeddings, not with \"" +
                                      std::string(base::name_of(plan.embeddings.reuse)) +
                                      "\"; use a new run directory");
  }
}

}  // namespace gnomon::runtime
