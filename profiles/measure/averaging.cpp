#include "profiles/measure/averaging.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "base/median.h"
#include "nn/learner.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

/// Gradients of arbitrary values, as the optimiser's time does not depend on them.
void fill_gradients(nn::Learner& learner) {
  for (const auto& weight : learner.model().parameters()) {
    weight.mutable_grad() = weight.detach().mul(1e-3);
  }
}

double seconds_of(const std::function<void()>& act) {
  const Stopwatch watch;
  act();
  return watch.seconds();
}

}  // namespace

AveragingTimes measure_averaging(const plan::Job& job, std::int64_t columns, std::int64_t classes,
                                 double time_limit_s) {
  constexpr std::size_t min_steps = 3;
  constexpr std::size_t max_steps = 200;
  constexpr std::size_t other_values = std::size_t{1} << 21;
  const Stopwatch watch;
  nn::Learner first(job, columns, classes);
  nn::Learner second(job, columns, classes);
  const std::array both{&first, &second};
  std::vector<double> updates, averages;
  // As a training step between two updates would, evicts the tensors from the processor's caches.
  std::vector<float> other(other_values);
  while (updates.size() < min_steps || (updates.size() < max_steps && watch.seconds() < time_limit_s)) {
    fill_gradients(first);
    fill_gradients(second);
    std::fill(other.begin(), other.end(), static_cast<float>(updates.size()));
    const double average_s = seconds_of([&] { nn::average_gradients(both); });
    updates.push_back(seconds_of([&] { first.update(0); }));
    averages.push_back(average_s + seconds_of([&] { nn::copy_model(first, second); }));
  }
  return {base::median(updates), base::median(averages)};
}

}  // namespace gnomon::profiles
