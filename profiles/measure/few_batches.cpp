#include "profiles/measure/few_batches.h"

#include <algorithm>
#include <numeric>

#include "base/median.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {

using schedule::Stage;
using schedule::StageSpan;

std::vector<StageSpan> run_few(Bench& bench, std::initializer_list<Stage> stages,
                               const AccessOptions& options) {
  constexpr std::int64_t between_looks = 4;  // at the clock
  std::vector<std::int64_t> order(
      static_cast<std::size_t>(std::min(bench.batches(), few_warm_ups + few_measured)));
  std::iota(order.begin(), order.end(), 0);
  bench.begin(0, order);
  std::vector<StageSpan> spans;
  const Stopwatch watch;
  for (std::int64_t first = 0; first < std::ssize(order); first += between_looks) {
    throw_if_stopped(options.stop);
    if (first > 0 && watch.seconds() >= options.time_limit_s) {
      break;
    }
    const auto more = bench.in_turn(stages, first, std::min(between_looks, std::ssize(order) - first));
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return spans;
}

double median_s(const std::vector<StageSpan>& spans, Stage stage) {
  std::vector<double> measured;
  std::vector<double> all;
  for (const StageSpan& span : spans) {
    if (span.stage == stage) {
      all.push_back(span.end_s - span.begin_s);
      if (span.batch >= few_warm_ups) {
        measured.push_back(all.back());
      }
    }
  }
  return base::median(measured.empty() ? all : measured);
}

}  // namespace gnomon::profiles
