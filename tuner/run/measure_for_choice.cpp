#include "tuner/run/measure_for_choice.h"

#include <utility>

#include "base/process_memory.h"
#include "base/usable.h"
#include "profiles/measure/known_machine.h"
#include "tuner/run/learned_profile.h"

namespace gnomon::tuner {
namespace {

bool may_need_the_disk(const graph::Graph& graph) {
  const auto bytes = static_cast<double>(graph.features.bytes()) +
                     static_cast<double>(graph.indptr.size_bytes() + graph.indices.bytes().size());
  return bytes > base::usable_memory_bytes() / 2;
}

}  // namespace

ChoiceProfile measure_for_choice(const graph::Graph& graph, const plan::Job& job,
                                 profiles::MeasureOptions options, const TuningOptions& tuning,
                                 MeasureOrder order) {
  if (tuning.approximate || tuning.simulated || may_need_the_disk(graph)) {
    options.all = options.precise = true;
  }
  if (!options.machine) {
    options.memory_before = base::process_memory();
    options.machine = profiles::known_machine(
                          {.device = options.device, .stop = options.stop, .progress = options.progress})
                          .machine;
  }
  MeasurementChoice choice(tuning, regret_tolerance, order);
  options.choose = [&choice](const profiles::Profile& profile,
                             std::span<const profiles::Measurement> measurements,
                             double seconds_left) { return choice(profile, measurements, seconds_left); };
  ChoiceProfile result;
  result.profile = profiles::measure(graph, job, options);
  learn_from_history(result.profile);
  if (order == MeasureOrder::value) {
    result.regret = choice.relative_regret();
  }
  return result;
}

}  // namespace gnomon::tuner
