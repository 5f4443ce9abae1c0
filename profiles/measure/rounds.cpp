#include "profiles/measure/rounds.h"

#include <algorithm>

#include "profiles/measure/machine.h"
#include "profiles/measure/slowdown.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

/// Mini-batches of one kind in a round: few, so that there are many rounds and all times of one round belong
/// to one moment of the machine.
constexpr std::int64_t chunk = 2;
constexpr std::int64_t min_rounds = 3;

double seconds(const StageSpan& span) { return span.end_s - span.begin_s; }

/// 1, 2, 4, … and `max` itself.
std::vector<int> doubling(int max) {
  std::vector<int> counts;
  for (int count = 1; count < max; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(max);
  return counts;
}

}  // namespace

bool Measured::converged(const StopRule& rule) const {
  return rounds >= min_rounds && std::all_of(alone.begin(), alone.end(), [&](const Series& series) {
           return series.count() == 0 || rule.converged(series);
         });
}

Rounds::Rounds(const graph::Graph& graph, const plan::Job& job, int cores,
               const runtime::DeviceOptions& device, const std::atomic<bool>* stop)
    : cores_(cores), stop_(stop), bench_(graph, job, 1, device) {
  for (const int count : doubling(cores)) {
    if (count > 1) {
      benches_.emplace(count, std::make_unique<Bench>(graph, job, count));
    }
  }
}

void Rounds::run(Measured& measured, const std::function<bool()>& out_of_time) {
  const std::int64_t epoch = round_++;
  measure_alone(measured, epoch);
  if (!out_of_time()) {
    measure_fused(measured, epoch);
  }
  if (cores_ > 1 && !out_of_time()) {
    measure_side_by_side(measured, epoch);
  }
  for (const auto& [count, bench] : benches_) {
    if (!out_of_time()) {
      measure_workers(measured, epoch, *bench, count);
    }
    if (!out_of_time() && !has_link()) {
      measure_threads(measured, epoch, count);
    }
    if (!out_of_time()) {
      measure_sharing(measured, epoch, count);
    }
  }
  ++measured.rounds;
}

Resident Rounds::measure_resident() {
  constexpr std::int64_t batches = 8;
  bench_.hold_data(plan::Home::device);
  const auto prepare_s = [&](bool fused) {
    bench_.fuse(fused);
    bench_.begin(round_, next_batches(2 * batches));
    (void)mean_s(Stage::device_batch, 0, batches);  // warms up
    return mean_s(Stage::device_batch, batches, batches);
  };
  Resident resident;
  resident.device_batch_s = prepare_s(false);
  resident.device_sample_s = prepare_s(true);
  return resident;
}

std::vector<std::int64_t> Rounds::next_batches(std::int64_t count) {
  std::vector<std::int64_t> batches(static_cast<std::size_t>(count));
  for (auto& batch : batches) {
    batch = next_batch_++ % bench_.batches();
  }
  return batches;
}

double Rounds::alone(Bench& bench, Stage stage, std::int64_t position) const {
  throw_if_stopped(stop_);
  return seconds(bench.alone(stage, position));
}

/// Runs `count` positions from `first` on, one after another.
double Rounds::mean_s(Stage stage, std::int64_t first, std::int64_t count) {
  double sum_s = 0;
  for (std::int64_t i = first; i < first + count; ++i) {
    sum_s += alone(bench_, stage, i);
  }
  return sum_s / static_cast<double>(count);
}

void Rounds::count_batch(Measured& measured, std::int64_t position) const {
  const auto size = bench_.device_slot_size(position);
  measured.vertices.add(static_cast<double>(size.vertices));
  measured.edges.add(static_cast<double>(size.edges));
  measured.bytes.add(static_cast<double>(size.bytes));
}

/// The first half of the mini-batches takes the CPU route, the second the device route. Their mean times stay
/// in alone_s_ for the ratios of this round, which are taken on other mini-batches, because a repeated
/// mini-batch finds part of its data in the caches.
void Rounds::measure_alone(Measured& measured, std::int64_t epoch) {
  bench_.begin(epoch, next_batches(2 * chunk));
  alone_s_.fill(0);
  const auto add = [&](Stage stage, std::int64_t position) {
    const double time_s = alone(bench_, stage, position);
    measured.of(stage).add(time_s);
    alone_s_[static_cast<std::size_t>(stage)] += time_s / (stage == Stage::train ? 2 * chunk : chunk);
  };
  for (std::int64_t i = 0; i < chunk; ++i) {
    add(Stage::cpu_batch, i);
    if (has_link()) {
      add(Stage::transfer, i);
    } else {
      alone(bench_, Stage::transfer, i);  // takes no time: a host device reads the batch where it is
    }
    count_batch(measured, i);
    add(Stage::train, i);
    add(Stage::device_batch, chunk + i);
    count_batch(measured, chunk + i);
    add(Stage::train, chunk + i);
  }
}

/// Trains on stored feature rows; the device route samples.
void Rounds::measure_fused(Measured& measured, std::int64_t epoch) {
  bench_.fuse(true);
  bench_.begin(epoch, next_batches(chunk));
  for (std::int64_t i = 0; i < chunk; ++i) {
    measured.device_sample.add(alone(bench_, Stage::device_batch, i));
  }
  measured.fused_train.add(mean_s(Stage::train, 0, chunk) / alone_s(Stage::train));
  bench_.fuse(false);
}

/// Runs every two stages that a machine can run at once. Beside each training run two of the shorter stages,
/// because a slowdown shows only where the stages overlap.
void Rounds::measure_side_by_side(Measured& measured, std::int64_t epoch) {
  const std::int64_t on_device = 0;
  const std::int64_t on_device_again = chunk;
  const std::int64_t on_cpu = 2 * chunk;
  const std::int64_t on_cpu_again = 3 * chunk;
  const std::int64_t on_cpu_twice = 4 * chunk;
  bench_.begin(epoch, next_batches(6 * chunk));
  side_by_side({{Stage::cpu_batch, on_cpu, chunk}, measured.cpu_batch_beside_device_batch},
               {{Stage::device_batch, on_device, chunk}, measured.device_batch_beside_cpu_batch});
  side_by_side({{Stage::cpu_batch, on_cpu_twice, 2 * chunk}, measured.cpu_batch_beside_train},
               {{Stage::train, on_device, chunk}, measured.train_beside_cpu_batch});
  if (!has_link()) {
    return;
  }
  side_by_side({{Stage::cpu_batch, on_cpu_again, chunk}, measured.cpu_batch_beside_transfer},
               {{Stage::transfer, on_cpu, chunk}, measured.transfer_beside_cpu_batch});
  side_by_side({{Stage::transfer, on_cpu_again, chunk}, measured.transfer_beside_device_batch},
               {{Stage::device_batch, on_device_again, chunk}, measured.device_batch_beside_transfer});
  side_by_side({{Stage::transfer, on_cpu_twice, 2 * chunk}, measured.transfer_beside_train},
               {{Stage::train, on_device_again, chunk}, measured.train_beside_transfer});
  measure_aside(measured, epoch);
}

/// The device prepares beside training, each on half of its multiprocessors. Training has only its half: that
/// is no contention and is divided out.
void Rounds::measure_aside(Measured& measured, std::int64_t epoch) {
  constexpr double share = 0.5;
  bench_.prepare_aside(share);
  bench_.begin(epoch, next_batches(4 * chunk));
  const double prepare_s = mean_s(Stage::device_batch, 0, 2 * chunk);
  Ratio training;
  side_by_side({{Stage::device_batch, 2 * chunk, 2 * chunk}, measured.device_batch_beside_train, prepare_s},
               {{Stage::train, 0, 2 * chunk}, training});
  if (const auto slowdown = training.value()) {
    measured.train_beside_device_batch.add(*slowdown * (1 - share));
  }
  bench_.prepare_aside(0);
}

void Rounds::side_by_side(const Neighbour& first, const Neighbour& second) {
  throw_if_stopped(stop_);
  const auto spans = bench_.together(std::array{first.work, second.work});
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

/// All workers start a mini-batch at once and another one after it. Only the first ones count, because other
/// workers idle during the last.
void Rounds::measure_workers(Measured& measured, std::int64_t epoch, Bench& bench, int workers) {
  throw_if_stopped(stop_);
  bench.begin(epoch, next_batches(2 * workers));
  const auto spans = bench.together(std::array{Bench::Work{Stage::cpu_batch, 0, 2 * workers}}).front();
  double together_s = 0;
  for (int i = 0; i < workers; ++i) {
    together_s += seconds(spans[static_cast<std::size_t>(i)]) / workers;
  }
  measured.worker_efficiency[workers].add(alone_s(Stage::cpu_batch) / together_s);
}

/// A host device prepares and trains on several threads; the first batch is the warm-up of their memory. A
/// team with a thread on each core then also trains beside a worker.
void Rounds::measure_threads(Measured& measured, std::int64_t epoch, int threads) {
  const std::int64_t beside = chunk + 1;
  const std::int64_t on_cpu = beside + chunk;
  bench_.use_device_threads(threads);
  bench_.begin(epoch, next_batches(on_cpu + 2 * chunk));
  alone(bench_, Stage::device_batch, 0);
  const double prepare_s = mean_s(Stage::device_batch, 1, on_cpu - 1);
  alone(bench_, Stage::train, 0);
  const double train_s = mean_s(Stage::train, 1, chunk);
  measured.device_batch_speedup[threads].add(alone_s(Stage::device_batch) / prepare_s);
  measured.train_speedup[threads].add(alone_s(Stage::train) / train_s);
  if (threads == cores_) {
    side_by_side({{Stage::cpu_batch, on_cpu, 2 * chunk}, measured.cpu_batch_beside_team},
                 {{Stage::train, beside, chunk}, measured.team_beside_cpu_batch, train_s});
  }
  bench_.use_device_threads(1);
}

/// Several threads share mini-batches, one after another; the first is the warm-up of their memory.
void Rounds::measure_sharing(Measured& measured, std::int64_t epoch, int threads) {
  bench_.share_batches(threads);
  bench_.begin(epoch, next_batches(chunk + 1));
  alone(bench_, Stage::cpu_batch, 0);
  const double cpu_batch_s = mean_s(Stage::cpu_batch, 1, chunk);
  bench_.share_batches(1);
  measured.cpu_batch_speedup[threads].add(alone_s(Stage::cpu_batch) / cpu_batch_s);
}

}  // namespace gnomon::profiles
