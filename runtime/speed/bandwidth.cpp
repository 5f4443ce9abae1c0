#include "runtime/speed/bandwidth.h"

#include <algorithm>

namespace gnomon::runtime {

double best_bandwidth(std::size_t bytes, const std::function<double()>& seconds) {
  constexpr int copies = 10;
  (void)seconds();  // warms up
  double best_s = seconds();
  for (int i = 1; i < copies; ++i) {
    best_s = std::min(best_s, seconds());
  }
  return static_cast<double>(bytes) / best_s;
}

}  // namespace gnomon::runtime
