#include <benchmark/benchmark.h>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"

namespace gnomon {
namespace {

constexpr std::int64_t batches = 1200;

/// Epochs of 1,200 batches of one preset; argument: whether batches differ and stages slow each other down.
void simulate_epochs(benchmark::State& state, const char* preset, profiles::DeviceKind device) {
  profiles::Profile profile;
  profile.machine.cpu.cores = 8;
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 1e10;
  profile.machine.device.kind = device;
  auto& workload = profile.workload;
  workload.batches = batches;
  const bool contended = state.range(0) != 0;
  const double relative = contended ? 0.1 : 0;
  const auto stage = [&](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = relative * mean_s};
  };
  workload.cpu_batch = stage(0.05);
  workload.transfer = stage(0.002);
  workload.device_batch = stage(0.008);
  workload.train = stage(0.01);
  if (device == profiles::DeviceKind::cuda) {
    workload.device_batch_link_s = 0.006;
  }
  if (contended) {
    profile.machine.contention.train_beside_cpu_batch = 1.02;
    profile.machine.contention.cpu_batch_beside_train = 1.1;
  }
  sim::Simulator simulator;
  const plan::Plan plan = plan::find_plan(preset);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sim::predict(simulator, profile, plan).epoch_s);
  }
  state.SetItemsProcessed(state.iterations() * batches);
}

BENCHMARK_CAPTURE(simulate_epochs, salient_cuda, "salient", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(simulate_epochs, morphgl_cuda, "morphgl", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(simulate_epochs, gnomon_cuda, "gnomon", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(simulate_epochs, gnomon_host, "gnomon", profiles::DeviceKind::host)->Arg(0)->Arg(1);

}  // namespace
}  // namespace gnomon
