#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "plan/exactness.h"
#include "plan/plan.h"
#include "tuner/search/candidate.h"

namespace gnomon::tuner {

/// The relative standard error of predicted epochs that is assumed of a profile without a measured one
/// (profiles::Profile::prediction_error, by `gnomon validate --correct`). It is above the root mean square
/// errors of the plans in bench/results/validate.json and validate_threads.json.
inline constexpr double prediction_error = 0.06;

/// The relative difference below which predicted epochs count as equal: half of the measured prediction
/// error. Without a measured one, half of the assumed error if all stages share the cores and their caches,
/// otherwise the precision of a profile.
constexpr double same_epoch(const plan::Cores& cores, std::optional<double> measured_error = {}) {
  if (measured_error) {
    return *measured_error / 2;
  }
  return plan::runs_on_cores(cores.device) ? prediction_error / 2 : 0.01;
}

/// Returns the plan with buffers of a few mini-batches, as in published systems, and an adaptive look-ahead.
/// Real times vary more than measured ones, and the processor's caches do not hold many mini-batches. Neither
/// field changes the training.
plan::Plan with_usual_buffers(plan::Plan plan);

/// Why a faster candidate is not the preferred one.
enum class PassedOverFor : std::uint8_t {
  exactness,  ///< its guarantee is weaker than required
  disk,       ///< as fast within the error of predictions, but it reads the disk
  threads,    ///< as fast within the error of predictions, but with more threads without a core of their own
  buffers,    ///< as fast within the error of predictions, but with larger buffers beyond the usual
};

struct PassedOver {
  Candidate candidate;
  PassedOverFor reason = PassedOverFor::exactness;
};

/// Returns the index of the preferred candidate among those that guarantee `required`: of those as fast as
/// the fastest (same_epoch), the one that reads the fewest arrays from the disk, whose speed depends on who
/// else uses it; of these the one with the fewest threads without a core of their own, as oversubscribed
/// plans are the hardest to predict; then the one with the smallest buffers beyond the usual; then the
/// fastest. Throws Failure if no candidate qualifies. Precondition: `candidates` is not empty.
std::size_t preferred(const std::vector<Candidate>& candidates, const plan::Cores& cores,
                      std::optional<double> measured_error = {},
                      plan::Exactness required = plan::Exactness::approximate);

/// The candidates that are faster than the preferred one, the fastest first, and why each is not preferred.
std::vector<PassedOver> passed_over(const std::vector<Candidate>& candidates, const Candidate& best,
                                    const plan::Cores& cores, plan::Exactness required);

}  // namespace gnomon::tuner

namespace gnomon::base {
template <>
struct EnumNames<tuner::PassedOverFor> {
  static constexpr std::array<std::pair<tuner::PassedOverFor, std::string_view>, 4> values{
      {{tuner::PassedOverFor::exactness, "exactness"},
       {tuner::PassedOverFor::disk, "disk"},
       {tuner::PassedOverFor::threads, "threads"},
       {tuner::PassedOverFor::buffers, "buffers"}}};
};
}  // namespace gnomon::base
