#include "runtime/macro/spare_arrays.h"

#include <utility>

namespace gnomon::runtime {

void SpareArrays::put(MacroArrays arrays) {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(arrays));
}

MacroArrays SpareArrays::take() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) {
    return {};
  }
  MacroArrays arrays = std::move(spare_.back());
  spare_.pop_back();
  arrays.indptr.clear();
  arrays.whole_degrees.clear();
  return arrays;
}

}  // namespace gnomon::runtime
