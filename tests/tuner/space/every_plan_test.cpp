#include <gtest/gtest.h>

#include <random>

#include "sim/predict.h"
#include "tests/random_seed.h"
#include "tests/sim/random_profiles.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {
namespace {

/// Everything that a plan may need, so that no plan of the space is left out for want of a number.
profiles::Profile profile_of(profiles::DeviceKind device, int devices, std::mt19937_64& random) {
  auto profile = test::random_profile(random, 24, 0.2);
  profile.machine.cpu.cores = 4;
  profile.machine.device.kind = device;
  profile.machine.device.count = devices;
  profile.machine.device.memory_bytes.reset();
  return profile;
}

// Whatever a search may ask of the simulator comes to an end, approximate and simulated plans included.
TEST(Space, EveryPlanEnds) {
  const test::RandomSeed seed(1717);
  std::mt19937_64 random(seed);
  sim::Simulator simulator;
  for (const auto& [device, devices] :
       {std::pair(plan::DeviceKind::host, 1), std::pair(plan::DeviceKind::cuda, 1),
        std::pair(plan::DeviceKind::cuda, 4)}) {
    const auto profile = profile_of(device, devices, random);
    SpaceRequest request;
    request.cores = profiles::cores_of(profile);
    request.batches = profile.workload.batches;
    request.constraints = {fits_memory(profile)};
    const auto space = make_space(request);
    std::vector<Point> points = space.family_starts();
    for (int i = 0; i < 1000; ++i) {
      points.push_back(
          space.at(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.size()))));
    }
    int ended = 0;
    for (const auto& point : points) {
      if (!space.is_feasible(point)) {
        continue;
      }
      const auto plan = space.plan_at(point);
      ASSERT_NO_THROW({
        EXPECT_GT(sim::predict_quickly(profile, plan).epoch_s, 0);
        EXPECT_GT(sim::predict(simulator, profile, plan).epoch_s, 0);
      }) << base::to_document(plan);
      ++ended;
    }
    EXPECT_GT(ended, 200) << base::name_of(device) << " " << devices;
  }
}

}  // namespace
}  // namespace gnomon::tuner
