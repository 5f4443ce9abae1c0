#include "runtime/cache/presampling.h"

namespace gnomon::runtime {

bool needs_visits(plan::CachePolicy policy) {
  return policy == plan::CachePolicy::presample || policy == plan::CachePolicy::optimal ||
         policy == plan::CachePolicy::value_weight;
}

}  // namespace gnomon::runtime
