#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/philox.h"
#include "graph/generate/generate.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/trainer.h"

namespace gnomon::runtime {

/// A directory of one test's own, removed at its end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "gnomon-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline graph::Graph planted_graph(std::int64_t vertices, std::int64_t columns) {
  graph::PlantedPartition options;
  options.vertices = vertices;
  options.average_degree = 12;
  options.classes = 4;
  options.intra_share = 0.7;
  options.feature_columns = columns;
  options.seed = 11;
  return graph::generate_in_memory(options);
}

/// 28 batches an epoch on planted_graph(1500, 32), wide enough that ATen would use several threads.
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
