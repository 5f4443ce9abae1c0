#include <algorithm>

#include "base/median.h"
#include "profiles/measure/rounds.h"
#include "profiles/measure/steady.h"
#include "schedule/timeline.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

}  // namespace

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

}  // namespace gnomon::profiles
