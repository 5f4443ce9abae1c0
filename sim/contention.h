#pragma once

#include <algorithm>
#include <array>

#include "profiles/profile.h"
#include "schedule/machine.h"

namespace gnomon::sim {

/// How many stages of each kind run.
using StageCounts = std::array<int, schedule::num_stages>;

/// What neighbours can make a stage gain at most, where a profile measured that they speed it up.
inline constexpr double least_slowdown = 0.5;

/// Calls visit(neighbour, slowdown) for each kind of stage that `stage` feels beside it.
template <class Visit>
void for_each_neighbour(const profiles::Contention& contention, schedule::Stage stage, Visit&& visit) {
  using schedule::Stage;
  switch (stage) {
    case Stage::cpu_batch:
      visit(Stage::train, contention.cpu_batch_beside_train);
      visit(Stage::device_batch, contention.cpu_batch_beside_device_batch);
      break;
    case Stage::transfer:
      visit(Stage::train, contention.transfer_beside_train);
      break;
    case Stage::device_batch:
      visit(Stage::cpu_batch, contention.device_batch_beside_cpu_batch);
      break;
    case Stage::train:
      visit(Stage::cpu_batch, contention.train_beside_cpu_batch);
      visit(Stage::transfer, contention.train_beside_transfer);
      break;
  }
}

/// How much longer a stage takes beside these neighbours (profiles::Contention).
inline double slowdown(const profiles::Contention& contention, schedule::Stage stage,
                       const StageCounts& running) {
  double sum = 1;
  for_each_neighbour(contention, stage, [&](schedule::Stage neighbour, double each) {
    sum += running[static_cast<std::size_t>(neighbour)] * (each - 1);
  });
  return std::max(least_slowdown, sum);
}

/// The least that slowdown() can be with so many workers: 1 unless neighbours speed the stage up.
inline double best_slowdown(const profiles::Contention& contention, schedule::Stage stage, int workers) {
  double sum = 1;
  for_each_neighbour(contention, stage, [&](schedule::Stage neighbour, double each) {
    sum += (neighbour == schedule::Stage::cpu_batch ? workers : 1) * std::min(0.0, each - 1);
  });
  return std::max(least_slowdown, sum);
}

}  // namespace gnomon::sim
