#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/philox.h"
#include "base/usable.h"
#include "plan/plan.h"
#include "profiles/beliefs.h"
#include "profiles/profile.h"
#include "sim/predict.h"
#include "tuner/evidence/contenders.h"
#include "tuner/evidence/regret.h"
#include "tuner/models/proposal_model.h"
#include "tuner/search/point_facts.h"
#include "tuner/search/search.h"
#include "tuner/space/space.h"
#include "tuner/tune.h"

namespace gnomon {
namespace {

/// A GPU behind a link, or threads of a host; epochs of so many uneven batches, stages in each other's way.
profiles::Profile profile_of(profiles::DeviceKind device, int cores, std::int64_t batches) {
  profiles::Profile profile;
  profile.machine.cpu.cores = cores;
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  profile.machine.device.kind = device;
  profile.machine.link.bandwidth_bytes_per_s = 1.2e10;
  auto& workload = profile.workload;
  workload.batches = batches;
  workload.batch_bytes = 2e7;
  const auto stage = [](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = 0.1 * mean_s};
  };
  workload.cpu_batch = stage(0.06);
  workload.transfer = stage(0.004);
  workload.device_batch = stage(0.012);
  workload.train = stage(0.011);
  workload.worker_efficiency = {{1, 1}, {cores, 0.7}};
  if (device == profiles::DeviceKind::cuda) {
    workload.device_batch_link_s = 0.007;
    profile.machine.device.memory_bytes = 1.6e10;
  } else {
    workload.train_speedup = workload.device_batch_speedup = {{1, 1}, {cores, 0.7 * cores}};
  }
  profile.machine.contention.train_beside_cpu_batch = 1.03;
  profile.machine.contention.cpu_batch_beside_train = 1.1;
  return profile;
}

/// A search by one strategy, told so many epochs.
class Told {
 public:
  Told(tuner::StrategyKind kind, std::size_t points)
      : profile_(profile_of(profiles::DeviceKind::cuda, 16, 60)),
        space_(tuner::make_space(request())),
        facts_(profile_, space_),
        strategy_(tuner::make_strategy(kind, {profile_, space_, facts_, 1})) {
    while (told_ < points) {
      tell(ask());
    }
  }

  std::vector<tuner::Point> ask() { return strategy_->ask(); }

 private:
  tuner::SpaceRequest request() const {
    tuner::SpaceRequest request;
    request.cores = {profile_.machine.cpu.cores, plan::DeviceKind::cuda, 1};
    request.batches = profile_.workload.batches;
    return request;
  }
  void tell(const std::vector<tuner::Point>& points) {
    for (const auto& point : points) {
      strategy_->tell(point, sim::predict_quickly(profile_, space_.plan_at(point)));
      ++told_;
    }
  }

  profiles::Profile profile_;
  tuner::Space space_;
  tuner::PointFacts facts_;
  std::unique_ptr<tuner::Strategy> strategy_;
  std::size_t told_ = 0;
};

/// One suggestion after so many evaluations: learning them all, then looking for the best expected
/// improvement. The kernel is fitted again at some sizes only: 213 is one of them, 200 is not.
void suggest(benchmark::State& state, tuner::StrategyKind kind) {
  for (auto _ : state) {
    state.PauseTiming();
    auto told = std::make_unique<Told>(kind, static_cast<std::size_t>(state.range(0)));
    state.ResumeTiming();
    benchmark::DoNotOptimize(told->ask());
    state.PauseTiming();
    told.reset();
    state.ResumeTiming();
  }
}

/// Training the ensemble of boosted trees again on so many evaluations.
void retrain_trees(benchmark::State& state) {
  base::RandomStream random({.seed = 4, .purpose = base::Purpose::test});
  std::vector<std::vector<double>> codes;
  std::vector<double> values;
  for (std::int64_t row = 0; row < state.range(0); ++row) {
    auto& code = codes.emplace_back();
    double value = 0;
    for (int column = 0; column < 12; ++column) {
      code.push_back(random.uniform());
      value += code.back() * code[static_cast<std::size_t>(column) / 2];
    }
    values.push_back(value);
  }
  const auto trees = tuner::make_trees_model(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(trees->learn(codes, values));
  }
}

/// All that `gnomon tune` does at its default budget, with as many processes as there are cores.
void tune(benchmark::State& state, profiles::DeviceKind device, int cores) {
  const auto profile = profile_of(device, cores, state.range(0));
  tuner::TuningOptions options;
  options.processes = base::usable_cores();
  for (auto _ : state) {
    benchmark::DoNotOptimize(tuner::tune(profile, options).best());
  }
}

/// A choice of what to measure next, without looking for contenders again.
void value_of_information(benchmark::State& state, profiles::DeviceKind device, int cores) {
  auto profile = profile_of(device, cores, state.range(0));
  profiles::add_beliefs(profile);
  for (auto& quantity : profiles::quantities_of(profile)) {
    if (std::ranges::find(profile.beliefs, quantity.name, &profiles::Belief::of) == profile.beliefs.end()) {
      profile.beliefs.push_back({quantity.name, 0.05, 4});
    }
  }
  const auto plans = tuner::contenders(profile, {});
  for (auto _ : state) {
    const tuner::RegretModel model(tuner::effects_of(profile, plans));
    double value_s = 0;
    for (std::size_t belief = 0; belief < profile.beliefs.size(); ++belief) {
      value_s += model.value_s(std::vector<tuner::Informed>{{belief, 0.5}});
    }
    benchmark::DoNotOptimize(value_s);
  }
  state.counters["plans"] = static_cast<double>(plans.size());
  state.counters["beliefs"] = static_cast<double>(profile.beliefs.size());
}

/// The plans that may be the fastest.
void contenders(benchmark::State& state, profiles::DeviceKind device, int cores) {
  auto profile = profile_of(device, cores, state.range(0));
  profiles::add_beliefs(profile);
  for (auto _ : state) {
    benchmark::DoNotOptimize(tuner::contenders(profile, {}));
  }
}

BENCHMARK_CAPTURE(value_of_information, host_2_cores, profiles::DeviceKind::host, 2)
    ->Arg(120)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(value_of_information, gpu_16_cores, profiles::DeviceKind::cuda, 16)
    ->Arg(1200)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(contenders, host_2_cores, profiles::DeviceKind::host, 2)
    ->Arg(120)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(contenders, gpu_16_cores, profiles::DeviceKind::cuda, 16)
    ->Arg(1200)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(suggest, gaussian_process, tuner::StrategyKind::gaussian_process)
    ->Arg(200)
    ->Arg(213)
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(suggest, trees, tuner::StrategyKind::trees)
    ->Arg(200)
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(retrain_trees)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tune, host_2_cores, profiles::DeviceKind::host, 2)
    ->Arg(120)
    ->Arg(1200)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(tune, gpu_16_cores, profiles::DeviceKind::cuda, 16)
    ->Arg(120)
    ->Arg(1200)
    ->Arg(12000)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace gnomon
