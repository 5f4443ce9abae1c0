#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "plan/plan.h"
#include "schedule/timeline.h"
#include "sim/costs/model.h"
#include "tests/virtual_machine.h"

namespace gnomon::test {

inline double duration_of(const sim::StageCosts& costs, schedule::Stage stage) {
  switch (stage) {
    case schedule::Stage::cpu_batch:
      return costs.cpu_batch_s;
    case schedule::Stage::transfer:
      return costs.transfer_s;
    case schedule::Stage::device_batch:
      return costs.device_batch_s;
    case schedule::Stage::device_gather:
      return costs.device_gather_s;
    case schedule::Stage::all_reduce:
      return costs.all_reduce_s;
    case schedule::Stage::group_read:
      return costs.group_read_s;
    case schedule::Stage::group_prepare:
      return costs.group_prepare_s;  // a model with workers divides it among them
    case schedule::Stage::group_transfer:
      return costs.group_transfer_s;
    case schedule::Stage::train:
      break;
  }
  return costs.train_s;
}

inline schedule::StageTimes usual_times(const sim::StageCosts& costs) {
  schedule::StageTimes times{};
  for (std::size_t stage = 0; stage < times.size(); ++stage) {
    times[stage] = duration_of(costs, static_cast<schedule::Stage>(stage));
  }
  return times;
}

/// A machine with a GPU on which nothing is shared, and whose every batch costs something else.
inline sim::MachineModel random_model(std::mt19937_64& random, std::int64_t batches, double spread) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto log_uniform = [&](double least, double most) {
    return least * std::pow(most / least, uniform(random));
  };
  sim::MachineModel model;
  model.workers = 1 + static_cast<int>(random() % 8);
  model.cores = model.workers;
  const double train_s = log_uniform(1e-3, 1e-1);
  model.costs = {.cpu_batch_s = train_s * log_uniform(0.3, 20),
                 .transfer_s = train_s * log_uniform(0.05, 2),
                 .device_batch_s = train_s * log_uniform(0.2, 4),
                 .device_batch_link_s = 0,
                 .train_s = train_s};
  std::vector<sim::StageCosts> costs(static_cast<std::size_t>(batches), model.costs);
  const auto vary = [&](double& seconds) { seconds *= 1 + spread * (2 * uniform(random) - 1); };
  for (auto& each : costs) {
    vary(each.cpu_batch_s);
    vary(each.transfer_s);
    vary(each.device_batch_s);
    vary(each.train_s);
  }
  if (spread > 0) {
    model.costs_of = [costs](std::int64_t batch) { return costs[static_cast<std::size_t>(batch)]; };
  }
  return model;
}

inline std::vector<plan::Plan> random_plans(std::mt19937_64& random, int workers) {
  using plan::Order;
  using plan::Route;
  using plan::Schedule;
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  plan::Plan base;
  base.cpu_buffer = up_to(6);
  base.device_buffer = up_to(10);
  base.look_ahead = up_to(21) - 1;
  base.copy_during_device_batch = random() % 2 == 0;
  std::vector<plan::Plan> plans;
  const auto add = [&](const char* name, Schedule schedule, Route route, Order order, int plan_workers) {
    plan::Plan& plan = plans.emplace_back(base);
    plan.name = name;
    plan.schedule = schedule;
    plan.route = route;
    plan.order = order;
    plan.workers = plan_workers;
  };
  add("sequential cpu", Schedule::sequential, Route::cpu, Order::index, 1);
  add("sequential device", Schedule::sequential, Route::device, Order::index, 0);
  add("pipelined index", Schedule::pipelined, Route::cpu, Order::index, workers);
  add("pipelined as ready", Schedule::pipelined, Route::cpu, Order::as_ready, workers);
  add("dual buffer", Schedule::dual_buffer, Route::both, Order::as_ready, workers);
  add("claim ahead", Schedule::claim_ahead, Route::both, Order::index, workers);
  return plans;
}

}  // namespace gnomon::test
