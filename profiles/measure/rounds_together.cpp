#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "profiles/measure/machine.h"
#include "profiles/measure/rounds.h"
#include "profiles/measure/slowdown.h"
#include "profiles/measure/steady.h"
#include "schedule/timeline.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

}  // namespace

/// Runs all pairs of stages that can run concurrently. Two of the shorter stages run beside each training,
/// because a slowdown is only visible while the stages overlap.
void Rounds::measure_side_by_side(Measured& measured, std::int64_t epoch) {
  const std::int64_t several = chunk_ + 1;  // including the warm-up
  const std::int64_t on_device = 0;
  const std::int64_t on_cpu = on_device + several;
  const std::int64_t on_cpu_twice = on_cpu + several;
  const std::int64_t on_device_again = on_cpu_twice + chunk_ + several;
  const std::int64_t on_cpu_again = on_device_again + several;
  bench_.begin(epoch, next_batches(has_link() ? on_cpu_again + several : on_device_again));
  side_by_side({{Stage::cpu_batch, on_cpu, chunk_}, measured.cpu_batch_beside_device_batch},
               {{Stage::device_batch, on_device, chunk_}, measured.device_batch_beside_cpu_batch});
  side_by_side({{Stage::cpu_batch, on_cpu_twice, 2 * chunk_}, measured.cpu_batch_beside_train},
               {{Stage::train, on_device, chunk_}, measured.train_beside_cpu_batch});
  if (!has_link()) {
    return;
  }
  side_by_side({{Stage::cpu_batch, on_cpu_again, chunk_}, measured.cpu_batch_beside_transfer},
               {{Stage::transfer, on_cpu, chunk_}, measured.transfer_beside_cpu_batch});
  if (on_cores()) {  // a GPU's stages are measured in pipelines
    mean_s(Stage::device_batch, on_device_again, several);
    side_by_side({{Stage::transfer, on_cpu_twice, 2 * chunk_}, measured.transfer_beside_train},
                 {{Stage::train, on_device_again, chunk_}, measured.train_beside_transfer});
    measure_aside(measured, epoch);
  }
}

/// What a GPU's stages take beside each other, from the middle of pipelined epochs: a few stages side by side
/// take what threads need to wake up, too. That copies and preparation share the link is modelled apart.
void Rounds::measure_pipelines(Measured& measured, std::int64_t epoch) {
  throw_if_stopped(stop_);
  const auto add = [](Ratio& ratio, std::optional<double> value) {
    if (value) {
      ratio.add(*value);
    }
  };
  const int workers = cores_ - 1;
  const std::int64_t slots = workers + 8;  // with those that wait
  const auto count = std::min(max_slots_, 3 * slots);
  const auto run_workers = [&] {
    return bench_.pipelined({plan::Route::cpu, workers, 0}, epoch, next_batches(count));
  };
  if (!std::exchange(pipelines_are_warm_, true)) {
    run_workers();
    device_pipeline(epoch);
  }
  const auto by_workers = steady_part(run_workers());
  add(measured.workers_beside_device, mean_ratio(by_workers, Stage::cpu_batch, alone_s(Stage::cpu_batch)));
  add(measured.transfer_beside_workers, mean_ratio(by_workers, Stage::transfer, alone_s(Stage::transfer)));
  add(measured.train_beside_workers, mean_ratio(by_workers, Stage::train, alone_s(Stage::train)));

  const double prepare_s = measure_share(measured, epoch, gpu_copy_warm_ups, gpu_copies);
  const auto by_device = device_pipeline(epoch);
  add(measured.device_batch_beside_train,
      slowdown_beside(by_device, Stage::device_batch, prepare_s, Stage::train));
  add(measured.train_beside_device_batch,
      slowdown_beside(by_device, Stage::train, alone_s(Stage::train), Stage::device_batch));
  bench_.prepare_aside(0);
}

/// Runs a GPU's preparation while workers on all cores but one prepare a mini-batch.
void Rounds::measure_beside_workers(Measured& measured, std::int64_t epoch) {
  const std::int64_t workers = cores_ - 1;
  const std::int64_t count = 2 * gpu_copies;
  bench_.begin(epoch, next_batches(count + workers));
  beside_workers(Stage::device_batch, count, count, measured.device_batch_beside_workers);
  mean_s(Stage::train, 0, count);
}

/// Runs the stage of positions 0 … count-1 while each worker prepares one of those from `on_cpu` on. The
/// first positions do not count: meanwhile threads wake up.
void Rounds::beside_workers(Stage stage, std::int64_t count, std::int64_t on_cpu, Ratio& slowdown) {
  throw_if_stopped(stop_);
  const int workers = cores_ - 1;
  auto spans = bench_.together(
      std::array{Bench::Work{Stage::cpu_batch, on_cpu, workers}, Bench::Work{stage, 0, count}}, workers);
  StageSpan all = spans[0].front();  // while all of them work
  for (const StageSpan& span : spans[0]) {
    all.begin_s = std::max(all.begin_s, span.begin_s);
    all.end_s = std::min(all.end_s, span.end_s);
  }
  spans[1].erase(spans[1].begin(), spans[1].begin() + count / 2);
  Slowdown beside;
  for (const StageSpan& span : spans[1]) {
    beside.add(alone_s(stage), span, std::array{all});
  }
  if (const auto value = beside.value()) {
    slowdown.add(*value);
  }
}

/// The mean time of `count` preparations on a share of the device's thread slots. What the share alone does
/// to preparation is a ratio of its own; on the host's cores the number of threads tells it.
double Rounds::measure_share(Measured& measured, std::int64_t epoch, std::int64_t warm_ups,
                             std::int64_t count) {
  bench_.prepare_aside(measured_prepare_share);
  bench_.begin(epoch, next_batches(2 * (warm_ups + count)));
  const double prepare_s =
      schedule::mean_time(warm_in_turn({Stage::device_batch}, 0, warm_ups, count), Stage::device_batch);
  if (!on_cores()) {
    measured.prepare_share.add(prepare_s / alone_s(Stage::device_batch));
  }
  return prepare_s;
}

/// The device prepares beside training on a share of its thread slots.
void Rounds::measure_aside(Measured& measured, std::int64_t epoch) {
  const std::int64_t count = 2 * chunk_;
  const double prepare_s = measure_share(measured, epoch, 1, count);
  side_by_side({{Stage::device_batch, count + 1, count}, measured.device_batch_beside_train, prepare_s},
               {{Stage::train, 0, count}, measured.train_beside_device_batch});
  bench_.prepare_aside(0);
}

void Rounds::side_by_side(const Neighbour& first, const Neighbour& second) {
  const auto warmed_up = [this](Bench::Work work) {
    alone(work.stage, work.first++);
    return work;
  };
  const auto spans = bench_.together(std::array{warmed_up(first.work), warmed_up(second.work)});
  const auto add = [&](const Neighbour& neighbour, const auto& own, const auto& beside) {
    const double usual_s = neighbour.usual_s > 0 ? neighbour.usual_s : alone_s(neighbour.work.stage);
    Slowdown slowdown;
    for (const StageSpan& span : own) {
      slowdown.add(usual_s, span, beside);
    }
    if (const auto value = slowdown.value()) {
      neighbour.slowdown.add(*value);
    }
  };
  add(first, spans[0], spans[1]);
  add(second, spans[1], spans[0]);
}

/// Two devices prepare concurrently, and then train concurrently.
void Rounds::measure_devices(Measured& measured, std::int64_t epoch) {
  const std::int64_t count = 4 * chunk_;
  bench_.use_devices(2);
  if (!std::exchange(second_device_is_warm_, true)) {
    bench_.begin(epoch, next_batches(count));
    for (std::int64_t on_second = 1; on_second < count; on_second += 2) {
      alone(Stage::device_batch, on_second);
      alone(Stage::train, on_second);
    }
  }
  bench_.begin(epoch, next_batches(count));
  beside_itself(Stage::device_batch, count, measured.device_batch_beside_device_batch);
  beside_itself(Stage::train, count, measured.train_beside_train);
  bench_.use_devices(1);
}

/// Runs a stage of positions 0 … count-1, which alternate between two devices, on both concurrently.
void Rounds::beside_itself(Stage stage, std::int64_t count, Ratio& slowdown) {
  throw_if_stopped(stop_);
  const auto spans = bench_.together(std::array{Bench::Work{stage, 0, count}}).front();
  std::array<std::vector<StageSpan>, 2> of_device;
  for (const StageSpan& span : spans) {
    of_device.at(static_cast<std::size_t>(span.device)).push_back(span);
  }
  Slowdown both;
  for (const StageSpan& span : spans) {
    both.add(alone_s(stage), span, of_device.at(static_cast<std::size_t>(1 - span.device)));
  }
  if (const auto value = both.value()) {
    slowdown.add(*value);
  }
}

/// All workers start a mini-batch at once, followed by two more if memory allows. Only the second ones count,
/// because the first have cold caches, and some workers are idle during the last. The first round for a
/// number of workers warms up their memory.
void Rounds::measure_workers(Measured& measured, std::int64_t epoch, int workers) {
  throw_if_stopped(stop_);
  const std::int64_t count = std::min<std::int64_t>(3 * workers, max_slots_);
  const std::int64_t first = count == 3 * workers ? workers : 0;
  const auto together_s = [&] {
    bench_.begin(epoch, next_batches(count));
    const auto spans = bench_.together(std::array{Bench::Work{Stage::cpu_batch, 0, count}}, workers).front();
    double sum_s = 0;
    for (std::int64_t i = first; i < first + workers; ++i) {
      sum_s += spans[static_cast<std::size_t>(i)].seconds() / workers;
    }
    return sum_s;
  };
  if (warm_workers_ < workers) {
    together_s();
    warm_workers_ = workers;
  }
  measured.worker_efficiency[workers].add(alone_s(Stage::cpu_batch) / together_s());
}

/// A host device prepares and trains on several threads; the first batch warms up their memory. A team with a
/// thread on each core then also trains beside a worker.
void Rounds::measure_threads(Measured& measured, std::int64_t epoch, int threads) {
  const std::int64_t beside = chunk_ + 1;
  const std::int64_t on_cpu = beside + chunk_ + 1;
  bench_.use_device_threads(threads);
  bench_.begin(epoch, next_batches(on_cpu + 2 * chunk_ + 1));
  const auto spans = device_in_turn(0);
  const double train_s = schedule::mean_time(spans, Stage::train);
  measured.device_batch_speedup[threads].add(alone_s(Stage::device_batch) /
                                             schedule::mean_time(spans, Stage::device_batch));
  measured.train_speedup[threads].add(alone_s(Stage::train) / train_s);
  if (threads == cores_) {
    in_turn({Stage::device_batch}, beside, on_cpu - beside);
    side_by_side({{Stage::cpu_batch, on_cpu, 2 * chunk_}, measured.cpu_batch_beside_team},
                 {{Stage::train, beside, chunk_}, measured.team_beside_cpu_batch, train_s});
  }
  bench_.use_device_threads(1);
}

/// Several threads share mini-batches, one at a time; the first one warms up their memory.
void Rounds::measure_sharing(Measured& measured, std::int64_t epoch, int threads) {
  bench_.share_batches(threads);
  bench_.begin(epoch, next_batches(chunk_ + 1));
  const double cpu_batch_s =
      schedule::mean_time(warm_in_turn({Stage::cpu_batch}, 0, 1, chunk_), Stage::cpu_batch);
  bench_.share_batches(1);
  measured.cpu_batch_speedup[threads].add(alone_s(Stage::cpu_batch) / cpu_batch_s);
}

}  // namespace gnomon::profiles
