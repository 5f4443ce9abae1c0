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

/// Stages that slow others down, and are slowed down, alike. `none`: not at all.
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

/// How many stages of each kind run.
using KindCounts = std::array<int, num_kinds>;

/// The stages that run now.
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
  /// The pieces of work of that kind that run on the cores keep `change` more threads busy.
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
      {&Given::transfer_beside_cpu_batch, none, &Given::transfer_beside_device_batch,
       &Given::transfer_beside_train},
      {&Given::device_batch_beside_cpu_batch, &Given::device_batch_beside_transfer,
       &Given::device_batch_beside_device_batch, &Given::device_batch_beside_train},
      {&Given::train_beside_cpu_batch, &Given::train_beside_transfer, &Given::train_beside_device_batch,
       &Given::train_beside_train}};
  const Field field = table[static_cast<std::size_t>(kind)][static_cast<std::size_t>(beside)];
  return field == none ? 1 : (given.*field).value_or(1);
}

/// How much longer a stage of this kind takes beside `counts` neighbours: slowdowns add up. A neighbour that
/// was measured to speed the stage up counts as none: nothing is predicted to be faster than alone.
inline double contention_slowdown(const profiles::Contention& given, Kind kind, const KindCounts& counts) {
  double sum = 1;
  for (std::size_t beside = 0; beside < num_kinds; ++beside) {
    sum += counts[beside] * std::max(0.0, coefficient(given, kind, static_cast<Kind>(beside)) - 1);
  }
  return sum;
}

/// Cores that one stage of this kind keeps busy; with a GPU only CPU work keeps any.
int threads_of(const MachineModel& model, Kind kind);

/// How much longer work of this kind takes on the cores than by its fair share of them, while that many
/// threads of each kind run there, more than there are cores, and some wait for each other
/// (profiles::Contention::crowded_team). May be below 1, but not so far that work becomes faster than alone.
double crowding(const MachineModel& model, Kind kind, const KindCounts& threads);

/// Returns the minimum of crowding() while at most `counts` stages of each kind run at once: 1 unless they
/// oversubscribe the cores and were measured to gain on their fair share.
double best_crowding(const MachineModel& model, Kind kind, const KindCounts& counts);

/// How much longer a stage takes that asks for `share` of the host memory's bandwidth, when all that run ask
/// for more than there is: each gets what it asks for or an equal part of the rest, whichever is less
/// (max-min fairness).
double memory_slowdown(const std::array<double, num_kinds>& shares, const KindCounts& counts, double share);

bool is_contended(const MachineModel& model);

/// How much longer a stage takes on this machine beside everything that runs, apart from crowding(). Stages
/// of another device count only for CPU work, for host memory and where devices compute on the host's cores.
/// At least 1.
double slowdown(const MachineModel& model, schedule::Stage stage, int device, const RunningStages& running);

}  // namespace gnomon::sim
