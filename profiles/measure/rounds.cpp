#include "profiles/measure/rounds.h"

#include <algorithm>
#include <initializer_list>

#include "base/doubling.h"
#include "base/usable.h"
#include "nn/caching_allocator.h"
#include "profiles/measure/machine.h"
#include "schedule/timeline.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

/// Minimum number of rounds before medians of ratios are trusted.
constexpr std::int64_t min_rounds = 15;

}  // namespace

bool Measured::converged(const StopRule& rule) const {
  return rounds >= min_rounds && std::all_of(alone.begin(), alone.end(), [&](const Series& series) {
           return series.count() == 0 || rule.converged(series);
         });
}

Rounds::Rounds(const graph::Graph& graph, const plan::Job& job, int cores,
               const runtime::DeviceOptions& device, const std::atomic<bool>* stop)
    : cores_(cores),
      device_kind_(device.kind),
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
  pass_s_ = before_s;
  make_parts();
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

/// Whether there is memory for the slots of pipelines, too.
bool Rounds::runs_pipelines() const {
  return measures_pipelines(device_kind_, cores_) && 2 * (cores_ + 8) <= max_slots_;
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
  return in_turn({stage}, position, 1).front().seconds();
}

/// Runs `count` positions from `first` on, one at a time.
double Rounds::mean_s(Stage stage, std::int64_t first, std::int64_t count) {
  return schedule::mean_time(in_turn({stage}, first, count), stage);
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
        first[stage].add(span.seconds());
      } else if (span.batch >= begin + warm_ups) {
        measured.of(span.stage).add(span.seconds());
        others[stage].add(span.seconds());
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
      measured.partial[static_cast<std::size_t>(span.stage)].add(span.seconds() / full_s);
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
  measured.structure_transfer.add(schedule::mean_time(spans, Stage::transfer) / alone_s(Stage::transfer));
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
    const double sample_s = schedule::mean_time(spans, Stage::cpu_batch);
    if (threads > 1) {
      measured.cpu_sample_speedup[threads].add(alone_s / sample_s);
      continue;
    }
    alone_s = sample_s;
    for (const StageSpan& span : spans) {
      measured.cpu_sample.add(span.seconds());
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
      measured.device_sample.add(span.seconds());
    }
  }
  measured.fused_train.add(schedule::mean_time(spans, Stage::train) / alone_s(Stage::train));
  bench_.fuse(false);
}

/// The sizes of the first round's mini-batches are learned; launches are recorded with the first mini-batch
/// of each round by which they have grown, which does not count.
void Rounds::measure_graphs(Measured& measured, std::int64_t epoch) {
  bench_.use_graphs(true);
  bench_.begin(epoch, next_batches(device_run()));
  const auto spans = device_in_turn(0);
  if (has_learned_graphs_) {
    measured.graphs_train.add(schedule::mean_time(spans, Stage::train) / alone_s(Stage::train));
  }
  has_learned_graphs_ = true;
  bench_.use_graphs(false);
}

}  // namespace gnomon::profiles
