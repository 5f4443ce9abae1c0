#include "profiles/measure/steady.h"

#include <algorithm>
#include <iterator>

#include "profiles/measure/slowdown.h"

namespace gnomon::profiles {

using schedule::Stage;
using schedule::StageSpan;

namespace {

std::vector<StageSpan> spans_of(std::span<const StageSpan> spans, Stage stage) {
  std::vector<StageSpan> found;
  std::copy_if(spans.begin(), spans.end(), std::back_inserter(found),
               [stage](const StageSpan& span) { return span.stage == stage; });
  return found;
}

}  // namespace

std::vector<StageSpan> steady_part(std::span<const StageSpan> epoch) {
  auto trainings = spans_of(epoch, Stage::train);
  std::sort(trainings.begin(), trainings.end(),
            [](const StageSpan& a, const StageSpan& b) { return a.begin_s < b.begin_s; });
  std::vector<StageSpan> steady;
  if (trainings.size() < 3) {
    return steady;
  }
  const double begin_s = trainings[trainings.size() / 3].begin_s;
  const double end_s = trainings[2 * trainings.size() / 3].begin_s;
  std::copy_if(epoch.begin(), epoch.end(), std::back_inserter(steady),
               [=](const StageSpan& span) { return span.begin_s >= begin_s && span.begin_s < end_s; });
  return steady;
}

std::optional<double> mean_ratio(std::span<const StageSpan> spans, Stage stage, double alone_s) {
  const auto of_stage = spans_of(spans, stage);
  double sum_s = 0;
  for (const StageSpan& span : of_stage) {
    sum_s += span.seconds();
  }
  return of_stage.empty() || alone_s <= 0
             ? std::nullopt
             : std::optional(sum_s / (static_cast<double>(of_stage.size()) * alone_s));
}

std::optional<double> slowdown_beside(std::span<const StageSpan> spans, Stage stage, double alone_s,
                                      Stage beside) {
  const auto neighbours = spans_of(spans, beside);
  Slowdown slowdown;
  for (const StageSpan& span : spans_of(spans, stage)) {
    slowdown.add(alone_s, span, neighbours);
  }
  return slowdown.value();
}

}  // namespace gnomon::profiles
