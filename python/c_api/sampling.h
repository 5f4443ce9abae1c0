#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/sample/hop.h"
#include "python/c_api/gnomon.h"

namespace gnomon::c_api {

/// What a loader samples: gnomon_sampling, checked.
struct Sampling {
  std::vector<int> fanouts;    ///< of the hops before the first fanout of 0
  std::size_t empty_hops = 0;  ///< number of dropped hops
  std::uint64_t seed = 0;
  kernels::cpu::SamplingRule rule;
  bool disjoint = false;
  bool induced = false;
  int threads_per_batch = 1;
  bool pin_threads = false;
};

/// Throws InputError, naming the field, for values out of range and for fields that exclude each other.
Sampling read_sampling(const gnomon_sampling& given);

}  // namespace gnomon::c_api
