#include "tuner/surrogate/samples.h"

#include <iterator>

#include "base/philox.h"
#include "plan/disk_plans.h"
#include "sim/predict.h"
#include "tuner/search/observed.h"
#include "tuner/sensitivity.h"

namespace gnomon::tuner {
namespace {

constexpr std::int64_t max_batches = 400;

SpaceRequest request_of(const profiles::Profile& profile) {
  SpaceRequest request;
  request.cores = profiles::cores_of(profile);
  request.batches = profile.workload.batches;
  request.constraints.push_back(fits_memory(profile));
  return request;
}

void add_samples(const profiles::Profile& whole, const SampleOptions& options,
                 std::vector<LearnedSample>& samples) {
  const auto profile = shortened(whole, max_batches);
  const auto space = make_space(request_of(profile));
  const auto add = [&](const plan::Plan& plan) {
    samples.push_back(sample_of(profile, plan, sim::predict_quickly(profile, plan)));
  };
  for (const auto& preset : plan::runnable_presets_in_memory()) {
    add(sim::resolve_on(profile, preset));
  }
  base::RandomStream random({.seed = options.seed, .purpose = base::Purpose::simulate, .epoch = 7});
  for (const auto& point : random_points(space, {}, random, static_cast<std::size_t>(options.plans))) {
    add(space.plan_at(point));
  }
}

}  // namespace

std::vector<LearnedSample> samples_of(const std::vector<profiles::Profile>& profiles,
                                      const SampleOptions& options, const base::Progress& progress) {
  std::vector<LearnedSample> samples;
  for (const auto& profile : profiles) {
    base::report(progress, "predicting plans", &profile - profiles.data(), std::ssize(profiles));
    add_samples(profile, options, samples);
  }
  return samples;
}

}  // namespace gnomon::tuner
