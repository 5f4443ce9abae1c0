#pragma once

#include <mutex>
#include <vector>

#include "runtime/macro/macro_batch.h"

namespace gnomon::runtime {

/// Arrays of ended macro-batches for the next ones, which then need no new pages. Thread-safe.
class SpareArrays {
 public:
  void put(MacroArrays arrays);
  /// Empty arrays, with the memory of the last ones that were put if there are any.
  MacroArrays take();

 private:
  std::mutex mutex_;
  std::vector<MacroArrays> spare_;
};

}  // namespace gnomon::runtime
