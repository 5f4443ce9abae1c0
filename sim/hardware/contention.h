#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "profiles/profile.h"
#include "schedule/machine.h"
#include "sim/costs/model.h"

namespace gnomon::sim {

/// Kinds of stages with the same contention. `none`: no contention.
enum class Kind : std::uint8_t { cpu, copy, prepare, train, none };
inline constexpr std::size_t num_kinds = 4;

inline Kind kind_of(schedule::Stage stage) {
  using schedule::Stage;
  switch (stage) {
    case Stage::cpu_batch:
    case Stage::group_prepare:
      return Kind::cpu;
    case Stage::transfer:
    case Stage::group_transfer:
      return Kind::copy;
    case Stage::device_batch:
    case Stage::device_gather:
      return Kind::prepare;
    case Stage::train:
      return Kind::train;
    default:
      return Kind::none;
  }
}

/// The number of running stages of each kind.
using KindCounts = std::array<int, num_kinds>;

/// The currently running stages.
class RunningStages {
 public:
  explicit RunningStages(int devices) : on_(static_cast<std::size_t>(devices)) {}

  void add(schedule::Stage stage, int device, int change) {
    const Kind kind = kind_of(stage);
    if (kind != Kind::none) {
      all_[static_cast<std::size_t>(kind)] += change;
      on_[static_cast<std::size_t>(device)][static_cast<std::size_t>(kind)] += change;
    }
  }
  /// Adds `change` to the number of busy threads of work of this kind on the cores.
  void add_threads(Kind kind, int change) { threads_[static_cast<std::size_t>(kind)] += change; }
  const KindCounts& everywhere() const { return all_; }
  const KindCounts& threads() const { return threads_; }
  const KindCounts& on(int device) const { return on_[static_cast<std::size_t>(device)]; }

 private:
  KindCounts all_{};
  KindCounts threads_{};
  std::vector<KindCounts> on_;
};

/// Slowdown of `kind` by one neighbour of kind `beside` (profiles::Contention): 1 if it was not measured.
inline double coefficient(const profiles::Contention& given, Kind kind, Kind beside) {
  using Given = profiles::Contention;
  using Field = std::optional<double> Given::*;
  static constexpr Field none = nullptr;
  static constexpr Field table[num_kinds][num_kinds] = {
      {none, &Given::cpu_batch_beside_transfer, &Given::cpu_batch_beside_device_batch,
       &Given::cpu_batch_beside_train},
      {&Given::transfer_beside_cpu_batch, none, none, &Given::transfer_beside_train},
      {&Given::device_batch_beside_cpu_batch, none, &Given::device_batch_beside_device_batch,
       &Given::device_batch_beside_train},
      {&Given::train_beside_cpu_batch, &Given::train_beside_transfer, &Given::train_beside_device_batch,
       &Given::train_beside_train}};
  const Field field = table[static_cast<std::size_t>(kind)][static_cast<std::size_t>(beside)];
  return field == none ? 1 : (given.*field).value_or(1);
}

/// Slowdown of `kind` by workers on all cores but one; none if it was not measured.
inline std::optional<double> coefficient_of_workers(const profiles::Contention& given, Kind kind) {
  switch (kind) {
    case Kind::copy:
      return given.transfer_beside_workers;
    case Kind::prepare:
      return given.device_batch_beside_workers;
    case Kind::train:
      return given.train_beside_workers;
    default:
      return std::nullopt;
  }
}

/// What `count` neighbours of kind `beside` add to the time of a stage of this kind that takes 1 alone.
/// Slowdowns add up, but for those by workers that were measured together: between one and `cores` - 1 of
/// these it is linear. A neighbour measured to speed the stage up has no effect, as nothing is predicted to
/// be faster than alone.
inline double added_by(const profiles::Contention& given, Kind kind, Kind beside, int count, int cores) {
  const double by_one = std::max(0.0, coefficient(given, kind, beside) - 1);
  const auto measured = beside == Kind::cpu ? coefficient_of_workers(given, kind) : std::nullopt;
  if (!measured || count < 1 || cores < 3) {
    return count * by_one;
  }
  const double by_all = std::max(0.0, *measured - 1);
  const double first = std::min(by_one, by_all);
  const double share = std::min(1.0, (count - 1.0) / (cores - 2.0));
  return first + (by_all - first) * share;
}

/// The slowdown of a CPU mini-batch beside `counts` neighbours, of which other workers are some, by a device
/// that works: between one worker and `cores` - 1, with which it was measured, it is linear.
inline double slowdown_of_workers(const profiles::Contention& given, const KindCounts& counts, int cores) {
  const auto count = [&](Kind kind) { return counts[static_cast<std::size_t>(kind)]; };
  const bool works = count(Kind::copy) + count(Kind::prepare) + count(Kind::train) > 0;
  if (!given.workers_beside_device || !works || cores < 3) {
    return 1;
  }
  const double by_all = std::max(0.0, *given.workers_beside_device - 1);
  return 1 + by_all * std::min(1.0, count(Kind::cpu) / (cores - 2.0));
}

/// The slowdown of a stage of this kind beside `counts` neighbours on a machine of so many cores.
inline double contention_slowdown(const profiles::Contention& given, Kind kind, const KindCounts& counts,
                                  int cores) {
  double sum = 1;
  for (std::size_t beside = 0; beside < num_kinds; ++beside) {
    sum += added_by(given, kind, static_cast<Kind>(beside), counts[beside], cores);
  }
  return kind == Kind::cpu ? std::max(sum, slowdown_of_workers(given, counts, cores)) : sum;
}

/// The number of cores that a stage of this kind uses; with a GPU, only CPU work uses cores.
int threads_of(const MachineModel& model, Kind kind);

/// The slowdown of work of this kind on oversubscribed cores in addition to its fair share of them, given the
/// number of threads of each kind, some of which wait for each other (profiles::Contention::crowded_team).
/// May be below 1, but never makes work faster than alone.
double crowding(const MachineModel& model, Kind kind, const KindCounts& threads);

/// Returns the minimum of crowding() for at most `counts` concurrent stages of each kind: 1 unless they
/// oversubscribe the cores and were measured to get more than their fair share.
double best_crowding(const MachineModel& model, Kind kind, const KindCounts& counts);

/// The slowdown of a stage that demands `share` of the host's memory bandwidth if the running stages demand
/// more than there is: bandwidth is divided with max-min fairness.
double memory_slowdown(const std::array<double, num_kinds>& shares, const KindCounts& counts, double share);

bool is_contended(const MachineModel& model);

/// The slowdown of a stage by all running stages, without crowding(); at least 1. Stages of other devices
/// matter only for CPU work, for host memory and if devices compute on the host's cores.
double slowdown(const MachineModel& model, schedule::Stage stage, int device, const RunningStages& running);

}  // namespace gnomon::sim
