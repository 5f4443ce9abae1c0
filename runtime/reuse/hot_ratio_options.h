#pragma once

#include <cstdint>
#include <vector>

namespace gnomon::runtime {

/// How the number of hot vertices changes while a run trains. By default it does not.
struct HotRatioOptions {
  /// Lower it after a super-batch during which the CPU did not finish the next one's refresh, otherwise raise
  /// it. The result then depends on timing, and can be repeated with the `counts` of a recorded run.
  bool adapt = false;
  /// The number of hot vertices of each super-batch by epoch, from a run's order.jsonl (run_log.h); empty:
  /// not replayed.
  std::vector<std::vector<std::int64_t>> counts{};
};

}  // namespace gnomon::runtime
