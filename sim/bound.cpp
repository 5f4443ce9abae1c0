#include <algorithm>
#include <array>
#include <vector>

#include "sim/contention.h"
#include "sim/prediction.h"

namespace gnomon::sim {
namespace {

using schedule::Stage;

/// Seconds that one batch keeps each resource busy: the device, the link (a host device's copy lane), the
/// workers and, with a host device, the cores.
using Loads = std::array<double, 4>;

/// What a batch loads by either route.
struct BatchLoads {
  Loads by_cpu{};
  Loads by_device{};
};

BatchLoads loads_of(const MachineModel& model, const StageCosts& costs) {
  const auto least = [&](Stage stage, double seconds) {
    return seconds * best_slowdown(model.contention, stage, model.workers);
  };
  const double cpu_batch_s = least(Stage::cpu_batch, costs.cpu_batch_s);
  const double transfer_s = least(Stage::transfer, costs.transfer_s);
  const double device_batch_s = least(Stage::device_batch, costs.device_batch_s);
  const double train_s = least(Stage::train, costs.train_s);
  const double workers = std::clamp(model.workers, 1, model.cores);
  BatchLoads loads;
  loads.by_cpu = {train_s, transfer_s, cpu_batch_s / workers, 0};
  loads.by_device = {train_s + device_batch_s, 0, 0, 0};
  if (model.host_device) {
    const double threads = model.device_threads;
    loads.by_cpu[3] = (cpu_batch_s + transfer_s + threads * train_s) / model.cores;
    loads.by_device[3] = threads * (device_batch_s + train_s) / model.cores;
  } else {
    loads.by_device[1] =
        least(Stage::device_batch, std::min(costs.device_batch_link_s, costs.device_batch_s));
  }
  return loads;
}

double busiest_s(const BatchLoads& loads, std::int64_t cpu_batches, std::int64_t device_batches) {
  double busiest = 0;
  for (std::size_t r = 0; r < loads.by_cpu.size(); ++r) {
    busiest = std::max(busiest, static_cast<double>(cpu_batches) * loads.by_cpu[r] +
                                    static_cast<double>(device_batches) * loads.by_device[r]);
  }
  return busiest;
}

/// The minimum over n_c. The maximum of straight lines is convex, so it is where the next one is not less.
double best_split_s(const BatchLoads& loads, std::int64_t batches) {
  const auto at = [&](std::int64_t cpu_batches) {
    return busiest_s(loads, cpu_batches, batches - cpu_batches);
  };
  std::int64_t least = 0;
  std::int64_t most = batches;
  while (least < most) {
    const auto middle = least + (most - least) / 2;
    if (at(middle + 1) < at(middle)) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return at(least);
}

double weighted(const Loads& weights, const Loads& loads) {
  double sum = 0;
  for (std::size_t r = 0; r < loads.size(); ++r) {
    sum += weights[r] * loads[r];
  }
  return sum;
}

/// Weights of the resources, adding up to 1. For any of them the weighted sum of the loads is at most the
/// busiest one; the best ones are one resource alone, or two for which the routes weigh the same.
std::vector<Loads> weightings(const BatchLoads& mean) {
  std::vector<Loads> all;
  for (std::size_t r = 0; r < mean.by_cpu.size(); ++r) {
    all.emplace_back()[r] = 1;
    const double slope = mean.by_cpu[r] - mean.by_device[r];
    for (std::size_t s = 0; s < r; ++s) {
      const double other = mean.by_cpu[s] - mean.by_device[s];
      if (slope * other < 0) {
        Loads& pair = all.emplace_back();
        pair[r] = other / (other - slope);
        pair[s] = 1 - pair[r];
      }
    }
  }
  return all;
}

/// When batches cost what they cost, even a schedule that knew it all beforehand would have to choose one of
/// two routes for each: by every weighting at least the cheaper one (linear programming's weak duality).
double clairvoyant_s(const MachineModel& model, plan::Route route, std::int64_t batches) {
  const auto weights = weightings(loads_of(model, model.costs));
  std::vector<double> sums(weights.size());
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const BatchLoads loads = loads_of(model, model.costs_of(batch));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double by_cpu = weighted(weights[i], loads.by_cpu);
      const double by_device = weighted(weights[i], loads.by_device);
      sums[i] += route == plan::Route::cpu      ? by_cpu
                 : route == plan::Route::device ? by_device
                                                : std::min(by_cpu, by_device);
    }
  }
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace

double lower_bound_s(const MachineModel& model, plan::Route route, std::int64_t batches) {
  if (model.costs_of) {
    return clairvoyant_s(model, route, batches);
  }
  const BatchLoads loads = loads_of(model, model.costs);
  switch (route) {
    case plan::Route::cpu:
      return busiest_s(loads, batches, 0);
    case plan::Route::device:
      return busiest_s(loads, 0, batches);
    case plan::Route::both:
      break;
  }
  return best_split_s(loads, batches);
}

}  // namespace gnomon::sim
