#include "tests/runtime/training/killed_runs.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "graph/store/store.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/macro/parted_graph.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::Route;
using plan::Schedule;

TrainOptions killed_by_plan(plan::Plan plan, plan::ModelKind model = plan::ModelKind::gcn) {
  TrainOptions options{.job = small_job(model), .plan = std::move(plan)};
  options.job.epochs = 3;
  return options;
}

/// The options on an emulated device in every other process.
TrainOptions with_device_of(int process, TrainOptions options) {
  if (process % 2 == 1) {
    options.device = emulated_options();
  }
  return options;
}

/// Exact plans, which all train the same.
TrainOptions exact_run(int process) {
  const std::vector<plan::Plan> plans = {sequential_plan(), plan_of(Schedule::pipelined, Route::cpu, 2),
                                         claim_ahead_plan(3, 2),
                                         plan_of(Schedule::sequential, Route::device, 0)};
  return killed_by_plan(plans[static_cast<std::size_t>(process) % plans.size()]);
}
TrainOptions exact_reference() { return exact_run(0); }

TrainOptions run_from_disk(int process) {
  auto plan = plan::find_plan(process % 2 == 0 ? "ginex" : "ns-ext");
  plan.order = plan::Order::index;
  plan.super_batch = process % 2 == 0 ? 7 : 1;
  plan.workers = 1 + process % 3;
  plan.device_threads = 1;
  return killed_by_plan(plan);
}

/// With as many passes as the disk leaves time for, in the order in which mini-batches are ready.
TrainOptions run_by_passes(int process) { return killed_by_plan(macro_preset("hanoi", 1 + process % 3)); }
TrainOptions reference_by_passes() { return run_by_passes(0); }

/// With one pass and in the order of the indices.
TrainOptions run_by_parts(int process) {
  auto options = run_by_passes(process);
  options.plan.macro.passes = 1;
  options.plan.order = plan::Order::index;
  return options;
}
TrainOptions reference_by_parts() { return run_by_parts(0); }

TrainOptions run_with_history(int process) {
  auto plan = plan::find_plan("gas");
  plan.workers = 1 + process % 2;
  plan.device_threads = 1;
  plan.schedule = process % 3 == 0 ? Schedule::sequential : plan.schedule;
  plan.workers = process % 3 == 0 ? 1 : plan.workers;
  return killed_by_plan(plan);
}
TrainOptions reference_with_history() { return run_with_history(0); }

/// Joestar's macro-batches, made in memory.
TrainOptions run_with_halo(int process) {
  return with_device_of(process, killed_by_plan(macro_preset("joestar-2", 1 + process % 3)));
}
TrainOptions reference_with_halo() { return run_with_halo(0); }

/// In super-batches of five mini-batches.
TrainOptions hot_run(int process) {
  auto plan = plan_of(Schedule::super_batch, Route::device, 0);
  plan.exact = false;
  plan.embeddings = {plan::Reuse::hot, 0.3};
  plan.super_batch = 5;
  plan.workers = 1 + process % 3;
  return with_device_of(process, killed_by_plan(plan));
}
TrainOptions hot_reference() { return hot_run(0); }

TrainOptions adapted_hot_run(int process) {
  auto options = hot_run(process);
  options.plan.embeddings.hot_ratio = 0.1;
  options.hot_ratio.adapt = true;
  return options;
}
TrainOptions adapted_hot_reference() {
  auto options = adapted_hot_run(0);
  options.hot_ratio.adapt = false;
  return options;
}

plan::Plan biased_plan(const char* preset, int process) {
  auto plan = plan::find_plan(preset);
  plan.workers = plan.schedule == Schedule::sequential ? 1 : 1 + process % 3;
  plan.device_threads = 1;
  return plan;
}

/// All modes train the same in the order of the indices, with and without a cache of their own.
TrainOptions biased_run(int process) {
  const char* const modes[] = {"a3gnn-sequential", "a3gnn-mode1", "a3gnn-mode2"};
  auto plan = biased_plan(modes[process % 3], process);
  plan.order = plan::Order::index;
  return with_device_of(process, killed_by_plan(plan, plan::ModelKind::sage));
}
TrainOptions biased_reference() { return biased_run(0); }

template <int mode>
TrainOptions biased_mode_run(int process) {
  const char* const modes[] = {"a3gnn-sequential", "a3gnn-mode1", "a3gnn-mode2"};
  return with_device_of(process, killed_by_plan(biased_plan(modes[mode], process), plan::ModelKind::sage));
}
template <int mode>
TrainOptions biased_mode_reference() {
  return biased_mode_run<mode>(0);
}

const std::vector<KilledRun>& killed_runs() {
  static const std::vector<KilledRun> runs = {
      {"exact", exact_run, exact_reference},
      {"from disk", run_from_disk, exact_reference, KilledStore::plain},  // trains as plans in memory do
      {"by parts", run_by_parts, reference_by_parts, KilledStore::by_parts},
      {"by passes", run_by_passes, reference_by_passes, KilledStore::by_parts, true},
      {"with history", run_with_history, reference_with_history},
      {"with halo", run_with_halo, reference_with_halo},
      {"hot", hot_run, hot_reference},
      {"adapted hot", adapted_hot_run, adapted_hot_reference, KilledStore::none, true},
      {"biased", biased_run, biased_reference},
      {"a3gnn-sequential", biased_mode_run<0>, biased_mode_reference<0>},
      {"a3gnn-mode1", biased_mode_run<1>, biased_mode_reference<1>, KilledStore::none, true},
      {"a3gnn-mode2", biased_mode_run<2>, biased_mode_reference<2>, KilledStore::none, true},
  };
  return runs;
}

}  // namespace

const KilledRun& killed_run(const std::string& name) {
  const auto& runs = killed_runs();
  const auto found =
      std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run.name == name; });
  if (found == runs.end()) {
    throw std::out_of_range(name);
  }
  return *found;
}

graph::Graph graph_of(const KilledRun& run, const std::filesystem::path& directory) {
  const auto graph = test::planted_graph(1500, 32);
  const auto store = directory / "store";
  if (run.store == KilledStore::none) {
    return graph;
  }
  if (std::filesystem::exists(store)) {
    return graph::open_store(store);
  }
  if (run.store == KilledStore::by_parts) {
    return parted_graph(graph, run.reference().plan.macro, store);
  }
  graph::write_store(graph, store);
  return graph::open_store(store);
}

graph::Graph graph_of_reference(const KilledRun& run, const std::filesystem::path& directory) {
  return run.store == KilledStore::by_parts ? graph_of(run, directory) : test::planted_graph(1500, 32);
}

}  // namespace gnomon::runtime
