#include "profiles/measure/rounds.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/doubling.h"
#include "base/median.h"
#include "base/usable.h"
#include "nn/caching_allocator.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/slowdown.h"
#include "profiles/measure/steady.h"
#include "schedule/timeline.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

/// Minimum number of rounds before medians of ratios are trusted, and before the stages alone get half of the
/// time.
constexpr std::int64_t min_rounds = 15;
constexpr std::int64_t min_ratio_rounds = 3;

/// On a GPU: mini-batches that are prepared and trained in turn, and those before them in which the thread
/// that starts the kernels, which has slept, gets faster. These runs take some tens of milliseconds.
constexpr std::int64_t gpu_chunk = 16;
constexpr std::int64_t gpu_warm_ups = 8;
/// The same of stages after which the mini-batches stay in the GPU's memory.
constexpr std::int64_t gpu_copies = 6;
constexpr std::int64_t gpu_copy_warm_ups = 2;

double seconds(const StageSpan& span) { return span.end_s - span.begin_s; }

double mean_of(const std::vector<StageSpan>& spans, Stage stage) {
  return schedule::mean_times(spans)[static_cast<std::size_t>(stage)];
}

}  // namespace

bool Measured::converged(const StopRule& rule) const {
  return rounds >= min_rounds && std::all_of(alone.begin(), alone.end(), [&](const Series& series) {
           return series.count() == 0 || rule.converged(series);
         });
}

Rounds::Rounds(const graph::Graph& graph, const plan::Job& job, int cores,
               const runtime::DeviceOptions& device, const std::atomic<bool>* stop)
    : cores_(cores),
      on_cores_(plan::runs_on_cores(device.kind)),
      devices_(device.devices),
      stop_(stop),
      num_seeds_(std::ssize(graph.train)),
      batch_size_(job.batch_size),
      bench_(graph, job, cores, device) {}

std::optional<double> Rounds::partial_share() const {
  const std::int64_t rest = num_seeds_ % batch_size_;
  return batches() > 1 && rest > 0 ? std::optional(static_cast<double>(rest) / batch_size_) : std::nullopt;
}

/// Runs one mini-batch of each route through all its stages, and returns the total time.
double Rounds::pass() {
  bench_.begin(round_, next_batches(2));
  double sum_s = alone(Stage::cpu_batch, 0) + alone(Stage::transfer, 0);
  max_batch_bytes_ = std::max(max_batch_bytes_, bench_.device_slot_size(0).bytes);
  sum_s += alone(Stage::train, 0);
  return sum_s + alone(Stage::device_batch, 1) + alone(Stage::train, 1);
}

double Rounds::warm_up(const std::function<bool()>& out_of_time) {
  constexpr double level = 0.9;         // relative to the previous pass
  constexpr double quick_pass_s = 0.1;  // rounds of two mini-batches of each route are then short
  constexpr double short_pass_s = 0.02;
  constexpr double share_of_memory = 0.25;
  double before_s = pass();
  for (bool falls = true; falls && !out_of_time();) {
    const double now_s = pass();
    falls = now_s < level * before_s;
    before_s = now_s;
  }
  // Few mini-batches, so that there are many rounds, and all times of a round see the same state of the
  // machine.
  chunk_ = before_s > quick_pass_s ? 1 : before_s > short_pass_s ? 2 : 4;
  device_chunk_ = on_cores() ? chunk_ : gpu_chunk;
  device_warm_ups_ = on_cores() ? 1 : gpu_warm_ups;
  max_slots_ = static_cast<std::int64_t>(share_of_memory * base::usable_memory_bytes()) /
               std::max<std::int64_t>(1, max_batch_bytes_);
  peak_bytes_ = device().peak_bytes();
  if (has_link()) {
    warm_slots();
  }
  return before_s / 2;  // a pass prepares and trains two mini-batches
}

/// Uses all slots once that later measurements use: pinning the memory of one takes longer than a mini-batch.
void Rounds::warm_slots() {
  const std::int64_t count = std::min<std::int64_t>(3 * cores_, max_slots_);
  const int workers = static_cast<int>(std::min<std::int64_t>(cores_, count));
  if (workers > 0) {
    bench_.begin(round_, next_batches(count));
    bench_.together(std::array{Bench::Work{Stage::cpu_batch, 0, count}}, workers);
  }
}

/// Whether stages are measured beside each other in pipelines instead of a few side by side: on a GPU, whose
/// stages are short beside what a thread needs to wake up.
bool Rounds::measures_pipelines() const {
  return !on_cores() && cores_ > 2 && 2 * (cores_ + 8) <= max_slots_;
}

std::vector<Rounds::Part> Rounds::ratio_parts() {
  std::vector<Part> parts;
  if (partial_share()) {
    parts.emplace_back([this](Measured& measured, std::int64_t epoch) { measure_partial(measured, epoch); });
  }
  if (has_link()) {
    parts.emplace_back(
        [this](Measured& measured, std::int64_t epoch) { measure_structure(measured, epoch); });
    parts.emplace_back([this](Measured& measured, std::int64_t epoch) { measure_sampling(measured, epoch); });
  }
  parts.emplace_back([this](Measured& measured, std::int64_t epoch) { measure_fused(measured, epoch); });
  if (bench_.executes_graphs()) {
    parts.emplace_back([this](Measured& measured, std::int64_t epoch) { measure_graphs(measured, epoch); });
  }
  if (measures_pipelines()) {
    parts.emplace_back(
        [this](Measured& measured, std::int64_t epoch) { measure_pipelines(measured, epoch); });
    parts.emplace_back(
        [this](Measured& measured, std::int64_t epoch) { measure_beside_workers(measured, epoch); });
  } else if (cores_ > 1) {
    parts.emplace_back(
        [this](Measured& measured, std::int64_t epoch) { measure_side_by_side(measured, epoch); });
  }
  if (on_cores() && devices_ > 1 && cores_ > 1) {
    parts.emplace_back([this](Measured& measured, std::int64_t epoch) { measure_devices(measured, epoch); });
  }
  for (const int count : base::doubling(cores_)) {
    if (count == 1) {
      continue;
    }
    if (count <= max_slots_) {
      parts.emplace_back(
          [this, count](Measured& measured, std::int64_t epoch) { measure_workers(measured, epoch, count); });
    }
    if (on_cores()) {
      parts.emplace_back(
          [this, count](Measured& measured, std::int64_t epoch) { measure_threads(measured, epoch, count); });
    }
    parts.emplace_back(
        [this, count](Measured& measured, std::int64_t epoch) { measure_sharing(measured, epoch, count); });
  }
  return parts;
}

void Rounds::run(Measured& measured, const std::function<bool()>& out_of_time) {
  const std::int64_t epoch = round_++;
  const Stopwatch watch;
  measure_alone(measured, epoch);
  time_alone_s_ += watch.seconds();
  if (measured.rounds < min_ratio_rounds || time_on_ratios_s_ <= time_alone_s_) {
    for (const auto& part : ratio_parts()) {
      if (out_of_time()) {
        break;
      }
      const Stopwatch part_watch;
      part(measured, epoch);
      time_on_ratios_s_ += part_watch.seconds();
    }
  }
  ++measured.rounds;
}

/// The mean times to prepare, or to only sample, some mini-batches on the device, and to train them in
/// between, as in an epoch: on the host's cores training and preparation share a cache.
schedule::StageTimes Rounds::times_in_turn(bool fused) {
  constexpr std::int64_t on_cores_batches = 4;
  const std::int64_t batches = on_cores() ? on_cores_batches : gpu_chunk;
  const std::int64_t warm_ups = on_cores() ? 1 : gpu_warm_ups;
  bench_.fuse(fused);
  bench_.begin(round_, next_batches(warm_ups + batches));
  return schedule::mean_times(warm_in_turn({Stage::device_batch, Stage::train}, 0, warm_ups, batches));
}

Resident Rounds::measure_resident(double time_limit_s) {
  bench_.forget_graphs();
  bench_.hold_data(plan::Home::device);
  auto resident = prepared(time_limit_s);
  resident.train_slowdown = train_beside_preparation(*resident.train_s);
  return resident;
}

/// The slowdown of a GPU's training beside preparation, from pipelined epochs, given its usual time; none of
/// other devices.
std::optional<double> Rounds::train_beside_preparation(double usual_s) {
  constexpr int epochs = 5;
  Ratio slowdown;
  for (int i = 0; i < epochs && !on_cores(); ++i) {
    const auto value = slowdown_beside(device_pipeline(round_), Stage::train, usual_s, Stage::device_batch);
    if (value) {
      slowdown.add(*value);
    }
  }
  return slowdown.value();
}

/// The middle of an epoch that prepares on the device, beside training.
std::vector<StageSpan> Rounds::device_pipeline(std::int64_t epoch) {
  constexpr std::int64_t batches = 72;
  return steady_part(
      bench_.pipelined({plan::Route::device, 1, measured_prepare_share}, epoch, next_batches(batches)));
}

/// The medians of times_in_turn().
Resident Rounds::prepared(double time_limit_s) {
  constexpr std::size_t most_rounds = 40;
  times_in_turn(false);  // warms up, and fills caches
  times_in_turn(true);
  (void)device().take_cache_use();
  std::vector<double> whole_s;
  std::vector<double> sample_s;
  std::vector<double> train_s;
  constexpr auto preparing = static_cast<std::size_t>(Stage::device_batch);
  constexpr auto training = static_cast<std::size_t>(Stage::train);
  const Stopwatch watch;
  do {
    const auto whole = times_in_turn(false);
    whole_s.push_back(whole[preparing]);
    train_s.push_back(whole[training]);
    sample_s.push_back(times_in_turn(true)[preparing]);
  } while (whole_s.size() < 2 || (whole_s.size() < most_rounds && watch.seconds() < time_limit_s));
  return {base::median(whole_s), base::median(sample_s), base::median(train_s)};
}

Resident Rounds::measure_cached(double time_limit_s) {
  constexpr double least_hits = 0.1;  // of which less is lost in the noise
  bench_.forget_graphs();
  const auto before = prepared(time_limit_s / 3);
  bench_.cache(true, false);
  const auto rows = prepared(time_limit_s / 3);
  const double row_hits = device().take_cache_use().row_hit_share().value_or(0);
  const auto train_slowdown = train_beside_preparation(alone_s(Stage::train));
  bench_.cache(false, true);
  const auto lists = prepared(time_limit_s / 3);
  const double list_hits = device().take_cache_use().list_hit_share().value_or(0);
  bench_.cache(false, false);
  const auto saved = [](double alone_s, double cached_s, double hits) {
    return hits < least_hits ? alone_s : std::clamp((alone_s - cached_s) / hits, 0.0, alone_s);
  };
  const double gather_s = std::max(0.0, before.device_batch_s - before.device_sample_s);
  const double gather_link_s =
      std::min(gather_s, saved(before.device_batch_s, rows.device_batch_s, row_hits));
  const double sample_link_s = saved(before.device_sample_s, lists.device_sample_s, list_hits);
  return {std::max(0.0, before.device_batch_s - gather_link_s - sample_link_s),
          before.device_sample_s - sample_link_s,
          {},
          train_slowdown};
}

std::vector<std::int64_t> Rounds::next_batches(std::int64_t count) {
  const std::int64_t full = batches() - (partial_share() ? 1 : 0);
  std::vector<std::int64_t> next(static_cast<std::size_t>(count));
  for (auto& batch : next) {
    batch = next_batch_++ % full;
  }
  return next;
}

std::vector<StageSpan> Rounds::in_turn(std::initializer_list<Stage> stages, std::int64_t first,
                                       std::int64_t count) {
  throw_if_stopped(stop_);
  return bench_.in_turn(stages, first, count);
}

/// Bench::in_turn() for some positions whose spans are left out, and the measured ones after them.
std::vector<StageSpan> Rounds::warm_in_turn(std::initializer_list<Stage> stages, std::int64_t first,
                                            std::int64_t warm_ups, std::int64_t measured) {
  auto spans = in_turn(stages, first, warm_ups + measured);
  spans.erase(spans.begin(), spans.begin() + warm_ups * static_cast<std::ptrdiff_t>(stages.size()));
  return spans;
}

/// The device prepares and trains device_run() mini-batches in turn.
std::vector<StageSpan> Rounds::device_in_turn(std::int64_t first) {
  return warm_in_turn({Stage::device_batch, Stage::train}, first, device_warm_ups_, device_chunk_);
}

/// Prepares mini-batches that are not measured.
void Rounds::prepare_on_cpu(std::int64_t first, std::int64_t count) {
  throw_if_stopped(stop_);
  if (count > 0) {
    const auto workers = on_cores() ? 1 : std::min<std::int64_t>(cores_, count);
    bench_.together(std::array{Bench::Work{Stage::cpu_batch, first, count}}, static_cast<int>(workers));
  }
}

double Rounds::alone(Stage stage, std::int64_t position) {
  return seconds(in_turn({stage}, position, 1).front());
}

/// Runs `count` positions from `first` on, one at a time.
double Rounds::mean_s(Stage stage, std::int64_t first, std::int64_t count) {
  return mean_of(in_turn({stage}, first, count), stage);
}

void Rounds::count_batch(Measured& measured, std::int64_t position) const {
  const auto size = bench_.device_slot_size(position);
  measured.max_batch_bytes = std::max(measured.max_batch_bytes, size.bytes);
  measured.vertices.add(static_cast<double>(size.vertices));
  measured.edges.add(static_cast<double>(size.edges));
  measured.bytes.add(static_cast<double>(size.bytes));
}

/// Some mini-batches take the CPU route, then others the device route, one at a time, as in epochs of plans
/// with one route. The first one of each route is recorded separately, because its caches were last used by
/// the ratios or the other route. The mean times of the others are kept in alone_s_ for this round's ratios,
/// which use different mini-batches, because a repeated one would find part of its data in the caches. A
/// GPU's training is that of the device route, which is long enough for the thread that starts its kernels.
void Rounds::measure_alone(Measured& measured, std::int64_t epoch) {
  const std::int64_t on_cpu = chunk_ + 1;
  const std::int64_t copied = on_cores() ? on_cpu : std::max(on_cpu, gpu_copy_warm_ups + gpu_copies);
  bench_.begin(epoch, next_batches(copied + device_run()));
  std::array<Series, schedule::num_basic_stages> first, others;
  const auto add = [&](const std::vector<StageSpan>& spans, std::int64_t begin, std::int64_t warm_ups) {
    for (const StageSpan& span : spans) {
      const auto stage = static_cast<std::size_t>(span.stage);
      if (span.batch == begin) {
        first[stage].add(seconds(span));
      } else if (span.batch >= begin + warm_ups) {
        measured.of(span.stage).add(seconds(span));
        others[stage].add(seconds(span));
      }
    }
  };
  add(in_turn({Stage::cpu_batch}, 0, on_cpu), 0, 1);
  prepare_on_cpu(on_cpu, copied - on_cpu);
  const std::int64_t at_a_time = on_cores() ? 1 : copied;
  for (std::int64_t position = 0; position < copied; position += at_a_time) {
    const auto copies = in_turn({Stage::transfer}, position, at_a_time);
    if (has_link()) {  // else the device reads mini-batches where they are
      add(copies, 0, on_cores() ? 1 : gpu_copy_warm_ups);
    }
    for (std::int64_t held = position; held < position + at_a_time; ++held) {
      count_batch(measured, held);  // before training returns the slot
    }
    const auto trainings = in_turn({Stage::train}, position, at_a_time);
    if (on_cores()) {
      add(trainings, 0, 1);
    }
  }
  add(in_turn({Stage::device_batch, Stage::train}, copied, device_run()), copied, device_warm_ups_);
  for (std::size_t stage = 0; stage < others.size(); ++stage) {
    alone_s_[stage] = others[stage].mean();
    if (alone_s_[stage] > 0) {
      measured.first[stage].add(first[stage].mean() / alone_s_[stage]);
    }
  }
  const auto memory = nn::tensor_bytes();
  measured.training_bytes = std::max(measured.training_bytes, memory.peak_held - memory.used);
}

/// The epoch's last mini-batch after a full one, on both routes.
void Rounds::measure_partial(Measured& measured, std::int64_t epoch) {
  auto order = next_batches(4);
  order[1] = order[3] = batches() - 1;
  bench_.begin(epoch, order);
  const auto add = [&](const StageSpan& span) {
    if (const double full_s = alone_s(span.stage); full_s > 0) {
      measured.partial[static_cast<std::size_t>(span.stage)].add(seconds(span) / full_s);
    }
  };
  add(in_turn({Stage::cpu_batch}, 0, 2).back());
  add(in_turn({Stage::transfer}, 0, 2).back());
  const auto size = bench_.device_slot_size(1);
  measured.partial_vertices.add(static_cast<double>(size.vertices) / measured.vertices.mean());
  measured.partial_edges.add(static_cast<double>(size.edges) / measured.edges.mean());
  measured.partial_bytes.add(static_cast<double>(size.bytes) / measured.bytes.mean());
  add(in_turn({Stage::train}, 0, 2).back());
  add(in_turn({Stage::device_batch, Stage::train}, 2, 2)[2]);
}

/// Copies mini-batches of which the CPU gathers no features.
void Rounds::measure_structure(Measured& measured, std::int64_t epoch) {
  const std::int64_t warm_ups = on_cores() ? 1 : gpu_copy_warm_ups;
  const std::int64_t count = on_cores() ? chunk_ : gpu_copies;
  bench_.gather_on_device(true);
  bench_.begin(epoch, next_batches(warm_ups + count));
  prepare_on_cpu(0, warm_ups + count);
  const auto spans = warm_in_turn({Stage::transfer, Stage::device_gather, Stage::train}, 0, warm_ups, count);
  measured.structure_transfer.add(mean_of(spans, Stage::transfer) / alone_s(Stage::transfer));
  bench_.gather_on_device(false);
}

/// Workers sample mini-batches whose features the device gathers: one thread alone, then several that share
/// each.
void Rounds::measure_sampling(Measured& measured, std::int64_t epoch) {
  bench_.gather_on_device(true);
  double alone_s = 0;
  for (const int threads : base::doubling(cores_)) {
    bench_.share_batches(threads);
    bench_.begin(epoch, next_batches(chunk_ + 1));
    const auto spans = warm_in_turn({Stage::cpu_batch}, 0, 1, chunk_);
    const double sample_s = mean_of(spans, Stage::cpu_batch);
    if (threads > 1) {
      measured.cpu_sample_speedup[threads].add(alone_s / sample_s);
      continue;
    }
    alone_s = sample_s;
    for (const StageSpan& span : spans) {
      measured.cpu_sample.add(seconds(span));
    }
  }
  bench_.share_batches(1);
  bench_.gather_on_device(false);
}

/// Trains on stored feature rows, with the device route's samples.
void Rounds::measure_fused(Measured& measured, std::int64_t epoch) {
  bench_.fuse(true);
  bench_.begin(epoch, next_batches(device_run()));
  const auto spans = device_in_turn(0);
  for (const StageSpan& span : spans) {
    if (span.stage == Stage::device_batch) {
      measured.device_sample.add(seconds(span));
    }
  }
  measured.fused_train.add(mean_of(spans, Stage::train) / alone_s(Stage::train));
  bench_.fuse(false);
}

/// The sizes of the first round's mini-batches are learned; launches are recorded with the first mini-batch
/// of each round by which they have grown, which does not count.
void Rounds::measure_graphs(Measured& measured, std::int64_t epoch) {
  bench_.use_graphs(true);
  bench_.begin(epoch, next_batches(device_run()));
  const auto spans = device_in_turn(0);
  if (has_learned_graphs_) {
    measured.graphs_train.add(mean_of(spans, Stage::train) / alone_s(Stage::train));
  }
  has_learned_graphs_ = true;
  bench_.use_graphs(false);
}

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
      mean_of(warm_in_turn({Stage::device_batch}, 0, warm_ups, count), Stage::device_batch);
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
      sum_s += seconds(spans[static_cast<std::size_t>(i)]) / workers;
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
  const double train_s = mean_of(spans, Stage::train);
  measured.device_batch_speedup[threads].add(alone_s(Stage::device_batch) /
                                             mean_of(spans, Stage::device_batch));
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
  const double cpu_batch_s = mean_of(warm_in_turn({Stage::cpu_batch}, 0, 1, chunk_), Stage::cpu_batch);
  bench_.share_batches(1);
  measured.cpu_batch_speedup[threads].add(alone_s(Stage::cpu_batch) / cpu_batch_s);
}

}  // namespace gnomon::profiles
