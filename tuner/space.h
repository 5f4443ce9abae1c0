#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "plan/plan.h"

namespace gnomon::tuner {

/// More plans than this are not tried one by one: first workers and device threads are chosen with the
/// preset's buffers, then buffers and look-ahead.
inline constexpr std::size_t most_exhaustive = 600;

/// Worker counts to try: every one up to 16, then in steps of about an eighth; the last is all cores.
std::vector<int> worker_choices(int cores);

/// Device threads to try: the powers of two, and all cores; one where the device is a GPU.
std::vector<int> thread_choices(const plan::Cores& cores);

/// What a plan takes: cores, then buffers, then look-ahead. Less is better among equally fast plans.
inline auto resources(const plan::Plan& plan) {
  return std::tuple(plan.workers + plan.device_threads, plan.workers, plan.cpu_buffer + plan.device_buffer,
                    plan.cpu_buffer, plan.look_ahead);
}

/// The resolved plans that a preset stands for on such a machine, those with fewer resources first. Fields
/// that its schedule does not use stay as they are; so do a dual-buffer's buffers, which the dispatcher
/// chooses.
std::vector<plan::Plan> choices(const plan::Plan& preset, const plan::Cores& cores);

}  // namespace gnomon::tuner
