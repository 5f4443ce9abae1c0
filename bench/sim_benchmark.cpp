#include <benchmark/benchmark.h>
#include <unistd.h>

#include <fstream>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/predict.h"

namespace gnomon {
namespace {

constexpr std::int64_t batches = 1200;

/// `uneven`: batches differ, and stages slow each other down.
profiles::Profile profile_of(profiles::DeviceKind device, bool uneven) {
  profiles::Profile profile;
  profile.machine.cpu.cores = 8;
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 1e10;
  profile.machine.device.kind = device;
  profile.machine.link.bandwidth_bytes_per_s = 1e10;
  profile.machine.disk = {.bandwidth_bytes_per_s = 2e9, .random_reads_per_s = 5e5};
  auto& workload = profile.workload;
  workload.batches = batches;
  const auto stage = [&](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = uneven ? 0.1 * mean_s : 0};
  };
  workload.cpu_batch = stage(0.05);
  workload.transfer = stage(0.002);
  workload.device_batch = stage(0.008);
  workload.train = stage(0.01);
  if (device == profiles::DeviceKind::cuda) {
    workload.device_batch_link_s = 0.006;
  }
  if (uneven) {
    profile.machine.contention.train_beside_cpu_batch = 1.02;
    profile.machine.contention.cpu_batch_beside_train = 1.1;
  }
  return profile;
}

/// Epochs of 1,200 batches of one preset in full detail; argument: whether batches differ and stages slow
/// each other down.
void simulate_epochs(benchmark::State& state, const char* preset, profiles::DeviceKind device) {
  const auto profile = profile_of(device, state.range(0) != 0);
  sim::Simulator simulator;
  const plan::Plan plan = plan::find_plan(preset);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sim::predict(simulator, profile, plan).epoch_s);
  }
  state.SetItemsProcessed(state.iterations() * batches);
  state.counters["epochs_per_s"] = {static_cast<double>(state.iterations()), benchmark::Counter::kIsRate};
}

/// Predicts the same epochs with predict_quickly().
void predict_epochs_quickly(benchmark::State& state, const char* preset, profiles::DeviceKind device) {
  const auto profile = profile_of(device, state.range(0) != 0);
  const plan::Plan plan = plan::find_plan(preset);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sim::predict_quickly(profile, plan).epoch_s);
  }
  state.counters["epochs_per_s"] = {static_cast<double>(state.iterations()), benchmark::Counter::kIsRate};
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Measures how much memory 100,000 simulations leak, after the first thousand.
void simulate_a_hundred_thousand(benchmark::State& state) {
  auto profile = profile_of(profiles::DeviceKind::host, true);
  profile.workload.batches = 20;
  sim::Simulator simulator;
  const plan::Plan plan = plan::find_plan("gnomon");
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      benchmark::DoNotOptimize(sim::predict(simulator, profile, plan).epoch_s);
    }
  };
  for (auto _ : state) {
    run(1000);
    const double before = resident_bytes();
    run(100000);
    state.counters["grown_bytes"] = resident_bytes() - before;
  }
}

BENCHMARK_CAPTURE(simulate_epochs, salient_cuda, "salient", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(simulate_epochs, morphgl_cuda, "morphgl", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(simulate_epochs, gnomon_cuda, "gnomon", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(simulate_epochs, gnomon_host, "gnomon", profiles::DeviceKind::host)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, salient_cuda, "salient", profiles::DeviceKind::cuda)
    ->Arg(0)
    ->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, morphgl_cuda, "morphgl", profiles::DeviceKind::cuda)
    ->Arg(0)
    ->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, gnomon_cuda, "gnomon", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, gnomon_host, "gnomon", profiles::DeviceKind::host)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, salient_host, "salient", profiles::DeviceKind::host)
    ->Arg(0)
    ->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, hanoi_cuda, "hanoi", profiles::DeviceKind::cuda)->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(predict_epochs_quickly, ducati_delta_cuda, "ducati-delta", profiles::DeviceKind::cuda)
    ->Arg(0)
    ->Arg(1);
BENCHMARK(simulate_a_hundred_thousand)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace gnomon
