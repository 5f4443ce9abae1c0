#include "python/c_api/sampling.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "kernels/cpu/sample/split.h"
#include "kernels/sampling_input.h"
#include "python/c_api/status.h"

namespace gnomon::c_api {
namespace {

void check_range(const char* field, std::int64_t value, std::int64_t min, std::int64_t max) {
  if (value < min || value > max) {
    throw base::InputError(field, std::to_string(value) + " is out of range; use " + std::to_string(min) +
                                      " to " + std::to_string(max));
  }
}

/// Drops the hops from the first fanout of 0 on, which have no vertices to expand.
void cut_empty_hops(Sampling& sampling) {
  const auto zero = std::find(sampling.fanouts.begin(), sampling.fanouts.end(), 0);
  const bool expands_again =
      std::any_of(zero, sampling.fanouts.end(), [](int fanout) { return fanout != 0; });
  if (expands_again && sampling.rule.expansion == kernels::cpu::Expansion::every_hop) {
    throw base::InputError("fanouts", "a 0 is only allowed at the end if every hop expands all vertices");
  }
  for (auto fanout = zero; fanout != sampling.fanouts.end(); ++fanout) {
    check_range("fanouts", *fanout, -1, kernels::max_fanout);
  }
  sampling.empty_hops = static_cast<std::size_t>(sampling.fanouts.end() - zero);
  sampling.fanouts.erase(zero, sampling.fanouts.end());
}

}  // namespace

Sampling read_sampling(const gnomon_sampling& given) {
  constexpr std::int64_t max_hops = 255;  // of a random stream's level
  check_range("num_hops", given.num_hops, 1, max_hops);
  require(given.fanouts, "fanouts");
  check_range("expansion", given.expansion, GNOMON_EXPAND_ONCE, GNOMON_EXPAND_EVERY_HOP);
  check_range("subgraph", given.subgraph, GNOMON_DIRECTIONAL, GNOMON_INDUCED);
  check_range("threads_per_batch", given.threads_per_batch, 1, kernels::cpu::max_parts);
  Sampling sampling;
  sampling.fanouts.assign(given.fanouts, given.fanouts + given.num_hops);
  sampling.seed = given.seed;
  sampling.rule.expansion = given.expansion == GNOMON_EXPAND_ONCE ? kernels::cpu::Expansion::once
                                                                  : kernels::cpu::Expansion::every_hop;
  cut_empty_hops(sampling);
  if (!sampling.fanouts.empty()) {
    kernels::check_fanouts(sampling.fanouts);
  }
  sampling.rule.replace = given.replace != 0;
  sampling.disjoint = given.disjoint != 0;
  sampling.induced = given.subgraph == GNOMON_INDUCED;
  sampling.threads_per_batch = given.threads_per_batch;
  sampling.pin_threads = given.pin_threads != 0;
  if (sampling.disjoint && sampling.induced) {
    throw base::InputError("disjoint", "cannot be combined with induced subgraphs");
  }
  if (sampling.disjoint && given.expansion == GNOMON_EXPAND_EVERY_HOP) {
    throw base::InputError("disjoint", "needs vertices that are expanded once");
  }
  return sampling;
}

}  // namespace gnomon::c_api
