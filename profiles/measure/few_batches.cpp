#include "profiles/measure/few_batches.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/median.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {

using schedule::Stage;
using schedule::StageSpan;

namespace {

/// Mini-batches that are run at once, between two looks at the clock. The first one finds caches that were
/// last used by another bench.
constexpr std::int64_t batches_at_once = 4;

bool is_measured(std::int64_t batch) { return batch >= few_warm_ups && batch % batches_at_once != 0; }

/// Some mini-batches of an epoch of a bench, which are run batches_at_once by batches_at_once.
class Run {
 public:
  Run(Bench& bench, std::initializer_list<Stage> stages) : bench_(bench), stages_(stages) { restart(); }

  void restart() {
    std::vector<std::int64_t> order(
        static_cast<std::size_t>(std::min(bench_.batches(), few_warm_ups + few_measured)));
    std::iota(order.begin(), order.end(), 0);
    count_ = std::ssize(order);
    next_ = 0;
    bench_.begin(0, order);
  }

  bool is_done() const { return next_ == count_; }

  void run_some() {
    const auto more = bench_.in_turn(stages_, next_, std::min(batches_at_once, count_ - next_));
    spans_.insert(spans_.end(), more.begin(), more.end());
    next_ = std::min(next_ + batches_at_once, count_);
  }

  std::vector<StageSpan> take_spans() { return std::move(spans_); }

 private:
  Bench& bench_;
  std::initializer_list<Stage> stages_;
  std::int64_t count_ = 0, next_ = 0;
  std::vector<StageSpan> spans_;
};

/// The times of a stage in the measured mini-batches, or in all.
std::vector<double> measured_s(const std::vector<StageSpan>& spans, Stage stage) {
  std::vector<double> measured;
  std::vector<double> all;
  for (const StageSpan& span : spans) {
    if (span.stage == stage) {
      all.push_back(span.seconds());
      if (is_measured(span.batch)) {
        measured.push_back(all.back());
      }
    }
  }
  return measured.empty() ? all : measured;
}

}  // namespace

std::vector<StageSpan> run_few(Bench& bench, std::initializer_list<Stage> stages,
                               const AccessOptions& options) {
  const Stopwatch watch;
  Run run(bench, stages);
  do {
    throw_if_stopped(options.stop);
    run.run_some();
  } while (!run.is_done() && watch.seconds() < options.time_limit_s);
  return run.take_spans();
}

std::pair<std::vector<StageSpan>, std::vector<StageSpan>> run_beside(Bench& first, Bench& second,
                                                                     std::initializer_list<Stage> stages,
                                                                     const AccessOptions& options) {
  constexpr int min_turns = 3;
  const Stopwatch watch;
  std::array runs{Run(first, stages), Run(second, stages)};
  for (int turns = 1; true; ++turns) {
    for (Run& run : runs) {
      throw_if_stopped(options.stop);
      run.run_some();
    }
    if (turns >= min_turns && watch.seconds() >= options.time_limit_s) {
      return {runs[0].take_spans(), runs[1].take_spans()};
    }
    if (runs[0].is_done() || runs[1].is_done()) {
      std::for_each(runs.begin(), runs.end(), [](Run& run) { run.restart(); });
    }
  }
}

runtime::BatchSize first_size(Bench& bench, std::initializer_list<Stage> preparation) {
  bench.begin(0, {0});
  bench.in_turn(preparation, 0);
  const auto size = bench.device_slot_size(0);
  bench.in_turn({Stage::train}, 0);
  return size;
}

double median_s(const std::vector<StageSpan>& spans, Stage stage) {
  return base::median(measured_s(spans, stage));
}

double lower_quartile_s(const std::vector<StageSpan>& spans, Stage stage) {
  auto seconds = measured_s(spans, stage);
  std::sort(seconds.begin(), seconds.end());
  return seconds.empty() ? 0 : seconds[(seconds.size() - 1) / 4];
}

}  // namespace gnomon::profiles
