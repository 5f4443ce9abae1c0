#include "sim/predict.h"

#include <limits>

#include "sim/consumption.h"
#include "sim/costs/costs.h"
#include "sim/costs/hops.h"
#include "sim/quick.h"

namespace gnomon::sim {

namespace {

/// The prediction of a plan that does not fit in memory.
Prediction impossible() {
  Prediction prediction;
  prediction.epoch_s = prediction.lower_bound_s = std::numeric_limits<double>::infinity();
  prediction.bound_by = "memory";
  return prediction;
}

void fill_saved_work(const profiles::WorkloadProfile& workload, const plan::Plan& plan,
                     Prediction& prediction) {
  if (plan.embeddings.reuse != plan::Reuse::hot) {
    return;
  }
  const HotUse hot = hot_use_of(workload, plan);
  const auto batches = static_cast<double>(batches_of(workload, plan));
  prediction.vertices_not_sampled = batches * hot.vertices * workload.batch_vertices;
  prediction.edges_not_aggregated = batches * hot.edges * bottom_of(workload).edges;
  prediction.bytes_not_gathered =
      *prediction.vertices_not_sampled * static_cast<double>(workload.feature_row_bytes);
}

/// `run` predicts a plan that fits in memory, given the resolved plan and its costs.
template <typename Run>
Prediction predict_where_it_fits(const profiles::Profile& profile, const plan::Plan& plan, const Run& run) {
  const auto resolved = resolve_on(profile, plan);
  const auto [costs, memory] = costs_of_plan(profile, resolved);
  auto prediction = memory.shortage != Shortage::none ? impossible() : run(resolved, costs);
  prediction.memory = memory;
  if (memory.shortage == Shortage::none) {
    prediction.consumption = consumption_of(profile, resolved, prediction);
    fill_saved_work(profile.workload, resolved, prediction);
  }
  return prediction;
}

}  // namespace

plan::Plan resolve_on(const profiles::Profile& profile, const plan::Plan& plan) {
  auto resolved = plan::resolve(plan, profiles::cores_of(profile), "plan \"" + plan.name + "\"");
  if (resolved.schedule == plan::Schedule::factored && resolved.samplers == 0 && resolved.devices > 1) {
    resolved.samplers = best_samplers(costs_of_plan(profile, resolved).costs, resolved.devices);
  }
  return resolved;
}

Prediction predict(Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   bool with_timeline, std::uint64_t seed) {
  return predict_where_it_fits(profile, plan, [&](const plan::Plan& resolved, const StageCosts& costs) {
    return simulator.run(resolved, machine_model(profile, resolved, costs, true, seed),
                         batches_of(profile.workload, resolved), with_timeline);
  });
}

Prediction predict_quickly(const profiles::Profile& profile, const plan::Plan& plan) {
  return predict_where_it_fits(profile, plan, [&](const plan::Plan& resolved, const StageCosts& costs) {
    return run_quickly(resolved, machine_model(profile, resolved, costs, false, 0),
                       batches_of(profile.workload, resolved));
  });
}

}  // namespace gnomon::sim
