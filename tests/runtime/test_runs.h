#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/philox.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::runtime {

/// A graph that trains well in a few epochs.
inline const graph::Graph& graph_of_tests() {
  static const auto graph = test::planted_graph(1500, 32);
  return graph;
}

/// 28 batches an epoch on graph_of_tests(), wide enough that ATen would use several threads.
inline plan::Job small_job(plan::ModelKind model) {
  plan::Job job;
  job.model = model;
  job.fanouts = {6, 5};
  job.batch_size = 32;
  job.hidden = 32;
  job.heads = 4;
  job.learning_rate = 0.01;
  job.weight_decay = 5e-4;
  job.epochs = 2;
  job.seed = 5;
  return job;
}

inline plan::Plan plan_of(plan::Schedule schedule, plan::Route route, int workers) {
  plan::Plan plan;
  plan.name = std::string(base::name_of(schedule));
  plan.schedule = schedule;
  plan.route = route;
  plan.workers = route == plan::Route::device ? 0 : workers;
  plan.device_threads = 1;
  return plan;
}

inline plan::Plan sequential_plan() { return plan_of(plan::Schedule::sequential, plan::Route::cpu, 1); }

inline plan::Plan claim_ahead_plan(int look_ahead, int workers) {
  auto plan = plan_of(plan::Schedule::claim_ahead, plan::Route::both, workers);
  plan.look_ahead = look_ahead;
  plan.device_buffer = 4;
  return plan;
}

inline plan::Plan factored_plan() {
  auto plan = plan_of(plan::Schedule::factored, plan::Route::device, 0);
  plan.gather = plan::Gather::trainer;
  plan.cpu_buffer = 3;
  return plan;
}

inline plan::Plan dual_buffer_plan(int cpu_buffer, int device_buffer, int workers) {
  auto plan = plan_of(plan::Schedule::dual_buffer, plan::Route::both, workers);
  plan.order = plan::Order::as_ready;
  plan.cpu_buffer = cpu_buffer;
  plan.device_buffer = device_buffer;
  return plan;
}

/// Sleeps up to two milliseconds, another time for each stage of each batch.
inline auto random_delays(std::uint64_t seed) {
  return [seed](schedule::Stage stage, std::int64_t batch) {
    const auto words = base::random_words({seed, base::Purpose::test, 0, static_cast<std::uint64_t>(batch),
                                           static_cast<std::uint32_t>(stage), 0},
                                          0);
    std::this_thread::sleep_for(std::chrono::microseconds(words.word[0] % 2000));
  };
}

}  // namespace gnomon::runtime
