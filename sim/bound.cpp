#include "sim/bound.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/costs/model.h"
#include "sim/hardware/contention.h"

namespace gnomon::sim {
namespace {

using plan::Plan;
using plan::Route;
using plan::Schedule;
using schedule::Stage;

/// Resources. Loads are seconds of a resource's full capacity per batch.
enum At : std::size_t {
  at_device,   ///< the engines that train
  at_side,     ///< the engines that prepare beside training
  at_updates,  ///< updates, which are sequential, including the averaging of gradients
  at_link,     ///< a host device's copy engine
  at_peers,
  at_workers,  ///< all workers, also while they wait for the disk
  at_disk,
  at_cores,
  num_places
};
using Loads = std::array<double, num_places>;

/// The loads of a batch on either route.
struct BatchLoads {
  Loads by_cpu{};
  Loads by_device{};
};

int units(int devices, int per_unit) { return (devices + per_unit - 1) / per_unit; }

/// The loads of a plan's batches. Every stage occupies its engine for its time alone, since no neighbour
/// makes it faster. It may use less CPU time than alone if stages oversubscribe the cores.
class Loading {
 public:
  Loading(const MachineModel& model, const Plan& plan) : model_(model), plan_(plan) {
    for (std::size_t kind = 0; kind < num_kinds; ++kind) {
      best_crowdings_[kind] = best_crowding_of(static_cast<Kind>(kind));
    }
  }

  BatchLoads of(const StageCosts& costs) const {
    BatchLoads loads;
    loads.by_cpu[at_link] = costs.transfer_s;
    loads.by_cpu[at_workers] = costs.cpu_batch_s + costs.cpu_batch_disk_s;
    loads.by_cpu[at_disk] = costs.cpu_batch_disk_s * model_.disk_depth;
    loads.by_device[at_link] = link_s(costs.device_batch_link_s, costs.device_batch_s);
    loads.by_device[at_peers] = costs.device_batch_peer_s;
    loads.by_device[prepares_aside() ? at_side : at_device] = costs.device_batch_s;
    if (plan_.schedule == Schedule::factored) {
      loads.by_device[at_link] += model_.host_device ? 0 : costs.transfer_s;
    }
    for (Loads* route : {&loads.by_cpu, &loads.by_device}) {
      if (plan_.gathers_apart()) {
        (*route)[gathers_aside() ? at_side : at_device] += costs.device_gather_s;
        (*route)[at_link] += link_s(costs.device_gather_link_s, costs.device_gather_s);
        (*route)[at_peers] += costs.device_gather_peer_s;
      }
      (*route)[at_device] += costs.train_s;
      (*route)[at_updates] = costs.train_s + (plan_.switch_roles ? 0 : costs.all_reduce_s);
    }
    add_cores(costs, loads);
    divide(loads.by_cpu);
    divide(loads.by_device);
    return loads;
  }

  /// The loads of all groups of batches.
  Loads of_groups(std::int64_t batches) const {
    Loads loads{};
    const auto groups = static_cast<double>(groups_of(batches));
    const double prepare_s = groups * model_.costs.group_prepare_s * share_of_group();
    const double transfer_s = groups * model_.costs.group_transfer_s * model_.devices;
    loads[at_workers] = prepare_s;
    loads[at_link] = transfer_s;
    loads[at_disk] = groups * model_.costs.group_read_s * model_.disk_depth;
    loads[at_cores] = prepare_s * best_crowding(Kind::cpu) + copied_by_cores(transfer_s);
    divide(loads);
    return loads;
  }

 private:
  double best_crowding(Kind kind) const { return best_crowdings_[static_cast<std::size_t>(kind)]; }

  /// Upper bounds of the number of concurrent stages of each kind in this plan.
  KindCounts max_counts() const {
    const StageCosts& costs = model_.costs;
    KindCounts counts;
    counts.fill(model_.devices);
    const bool uses_workers = plan_.route != Route::device || costs.group_prepare_s > 0;
    counts[static_cast<std::size_t>(Kind::cpu)] = uses_workers ? model_.workers : 0;
    if (costs.transfer_s == 0 && costs.group_transfer_s == 0) {
      counts[static_cast<std::size_t>(Kind::copy)] = 0;
    }
    if (plan_.route == Route::cpu && !plan_.gathers_apart()) {
      counts[static_cast<std::size_t>(Kind::prepare)] = 0;
    }
    return counts;
  }

  double best_crowding_of(Kind kind) const {
    const KindCounts all = max_counts();
    if (model_.devices > 1 || prepares_aside() || gathers_aside()) {
      return sim::best_crowding(model_, kind, all);
    }
    // One lane prepares and trains, so only one of the two runs at a time.
    KindCounts training = all;
    KindCounts preparing = all;
    training[static_cast<std::size_t>(Kind::prepare)] = 0;
    preparing[static_cast<std::size_t>(Kind::train)] = 0;
    switch (kind) {
      case Kind::train:
        return sim::best_crowding(model_, kind, training);
      case Kind::prepare:
        return sim::best_crowding(model_, kind, preparing);
      default:
        return std::min(sim::best_crowding(model_, kind, training),
                        sim::best_crowding(model_, kind, preparing));
    }
  }

  double link_s(double part_s, double whole_s) const {
    return model_.host_device ? 0 : std::min(part_s, whole_s);
  }
  bool prepares_aside() const { return model_.prepare_share > 0; }
  bool gathers_aside() const { return prepares_aside() || model_.gathers_beside_training; }

  /// The workers' load of a group; each device has the same number of workers.
  double share_of_group() const {
    const int workers = std::max(1, model_.workers);
    return static_cast<double>(std::max(1, model_.workers / model_.devices) * model_.devices) / workers;
  }

  double copied_by_cores(double transfer_s) const {
    return model_.host_device ? transfer_s * best_crowding(Kind::copy) : 0;
  }
  /// The part of a device's preparation that uses cores; the rest waits for the link or for linked devices.
  double prepared_by_cores(double whole_s, double link_part_s, double peer_part_s) const {
    const double waiting_s = model_.host_device ? 0 : link_part_s + peer_part_s;
    return model_.prepare_threads * best_crowding(Kind::prepare) * std::max(0.0, whole_s - waiting_s);
  }

  void add_cores(const StageCosts& costs, BatchLoads& loads) const {
    loads.by_cpu[at_cores] = model_.worker_threads * costs.cpu_batch_s * best_crowding(Kind::cpu);
    if (!model_.on_cores()) {
      return;
    }
    const double gathering =
        plan_.gathers_apart()
            ? prepared_by_cores(costs.device_gather_s, costs.device_gather_link_s, costs.device_gather_peer_s)
            : 0;
    const double training = gathering + model_.device_threads * costs.train_s * best_crowding(Kind::train);
    loads.by_cpu[at_cores] += copied_by_cores(costs.transfer_s) + training;
    loads.by_device[at_cores] =
        prepared_by_cores(costs.device_batch_s, costs.device_batch_link_s, costs.device_batch_peer_s) +
        training;
  }

  /// Divides loads by the number of each resource.
  void divide(Loads& loads) const {
    const double devices = model_.devices;
    loads[at_device] /= devices;
    loads[at_side] /= devices;
    loads[at_updates] /= devices;
    loads[at_link] /= model_.host_device ? devices : units(model_.devices, model_.devices_per_link);
    loads[at_peers] /= units(model_.devices, model_.devices_per_clique);
    loads[at_workers] /= std::max(1, model_.workers);
    loads[at_disk] /= model_.disk_depth;
    loads[at_cores] /= model_.cores;
  }

  /// The minimum number of groups for `batches`.
  std::int64_t groups_of(std::int64_t batches) const {
    const std::int64_t steps = units(static_cast<int>(batches), model_.devices);
    if (plan_.schedule == Schedule::super_batch) {
      return (steps + plan_.super_batch - 1) / plan_.super_batch;
    }
    if (plan_.schedule != Schedule::macro_batch || batches == 0) {
      return 0;
    }
    const std::int64_t parts = plan_.macro.partitions;
    const std::int64_t in_group =
        std::max<std::int64_t>(1, (steps * plan_.macro.resident + parts - 1) / parts);
    return (steps + in_group - 1) / in_group;
  }

  const MachineModel& model_;
  const Plan& plan_;
  std::array<double, num_kinds> best_crowdings_{};
};

double busiest_s(const BatchLoads& loads, const Loads& fixed, std::int64_t cpu_batches,
                 std::int64_t device_batches) {
  double busiest = 0;
  for (std::size_t r = 0; r < num_places; ++r) {
    busiest = std::max(busiest, fixed[r] + static_cast<double>(cpu_batches) * loads.by_cpu[r] +
                                    static_cast<double>(device_batches) * loads.by_device[r]);
  }
  return busiest;
}

/// The minimum over n_c. The maximum of linear functions is convex, so the search stops when the value no
/// longer decreases.
double best_split_s(const BatchLoads& loads, const Loads& fixed, std::int64_t batches) {
  const auto at = [&](std::int64_t cpu_batches) {
    return busiest_s(loads, fixed, cpu_batches, batches - cpu_batches);
  };
  std::int64_t low = 0;
  std::int64_t high = batches;
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (at(middle + 1) < at(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return at(low);
}

double weighted(const Loads& weights, const Loads& loads) {
  double sum = 0;
  for (std::size_t r = 0; r < num_places; ++r) {
    sum += weights[r] * loads[r];
  }
  return sum;
}

/// Weights of the resources that sum to 1. For any weights, the weighted sum of the loads is at most the load
/// of the busiest resource. Optimal weights are on a single resource, or on two such that both routes have
/// the same weighted load.
std::vector<Loads> weightings(const BatchLoads& mean, Route route) {
  std::vector<Loads> all;
  for (std::size_t r = 0; r < num_places; ++r) {
    all.emplace_back()[r] = 1;
    const double slope = mean.by_cpu[r] - mean.by_device[r];
    for (std::size_t s = 0; s < r && route == Route::both; ++s) {
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

/// With individual batch costs, even a clairvoyant schedule must choose one of two routes for each batch:
/// under any weights, its load is at least that of the cheaper one (weak duality of linear programming).
double clairvoyant_s(const MachineModel& model, const Loading& loading, const Loads& fixed, Route route,
                     std::int64_t batches) {
  const auto weights = weightings(loading.of(model.costs), route);
  std::vector<double> sums;
  for (const Loads& each : weights) {
    sums.push_back(weighted(each, fixed));
  }
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const BatchLoads loads = loading.of(model.costs_of(batch));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double by_cpu = weighted(weights[i], loads.by_cpu);
      const double by_device = weighted(weights[i], loads.by_device);
      sums[i] += route == Route::cpu      ? by_cpu
                 : route == Route::device ? by_device
                                          : std::min(by_cpu, by_device);
    }
  }
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace

double lower_bound_s(const MachineModel& model, const Plan& plan, std::int64_t batches) {
  const Loading loading(model, plan);
  const Loads fixed = loading.of_groups(batches);
  if (model.costs_of) {
    return clairvoyant_s(model, loading, fixed, plan.route, batches);
  }
  const BatchLoads loads = loading.of(model.costs);
  switch (plan.route) {
    case Route::cpu:
      return busiest_s(loads, fixed, batches, 0);
    case Route::device:
      return busiest_s(loads, fixed, 0, batches);
    case Route::both:
      break;
  }
  return best_split_s(loads, fixed, batches);
}

double lower_bound_s(const MachineModel& model, Route route, std::int64_t batches) {
  Plan plan;
  plan.route = route;
  return lower_bound_s(model, plan, batches);
}

}  // namespace gnomon::sim
