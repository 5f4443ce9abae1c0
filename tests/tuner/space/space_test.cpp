#include "tuner/space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "plan/disk_plans.h"
#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

using plan::DeviceKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SpaceRequest small_request(plan::DeviceKind device) {
  SpaceRequest request;
  request.cores = {2, device, 1};
  request.batches = 4;
  return request;
}

/// All plans with values from small lists that resolve() accepts, by brute force. Fields that make no
/// difference to plans of a host device keep their defaults.
std::set<std::string> brute_force(const SpaceRequest& request) {
  std::set<std::string> plans;
  const auto add = [&](const plan::Plan& plan) {
    try {
      auto resolved = plan::resolve(plan, request.cores, "plan");
      resolved.name.clear();
      plans.insert(base::to_document(resolved).dump());
      if (resolved.gather == plan::Gather::sampler) {
        resolved.fused = true;
        plans.insert(base::to_document(resolved).dump());
      }
    } catch (const base::InputError&) {
    }
  };
  const std::vector<int> sizes{1, 2, 3, 4};
  for (const int threads : {1, 2}) {
    plan::Plan plan;
    plan.device_threads = threads;
    add(plan);  // sequential, by the CPU
    plan.gather = plan::Gather::trainer;
    add(plan);
    plan = {};
    plan.device_threads = threads;
    plan.route = plan::Route::device;
    add(plan);
    for (const int workers : {1, 2}) {
      for (const int cpu_buffer : sizes) {
        for (const int device_buffer : sizes) {
          plan = {};
          plan.device_threads = threads;
          plan.workers = workers;
          plan.cpu_buffer = cpu_buffer;
          plan.device_buffer = device_buffer;
          plan.schedule = plan::Schedule::pipelined;
          for (const auto gather : {plan::Gather::trainer, plan::Gather::sampler}) {
            plan.gather = gather;
            plan.order = plan::Order::index;
            add(plan);
            plan.order = plan::Order::as_ready;
            add(plan);
          }
          plan.route = plan::Route::both;
          plan.schedule = plan::Schedule::dual_buffer;
          add(plan);
          plan.schedule = plan::Schedule::claim_ahead;
          plan.order = plan::Order::index;
          for (const int look_ahead : {0, 1, 2, 3, 4}) {
            plan.look_ahead = look_ahead;
            add(plan);
          }
        }
      }
    }
  }
  return plans;
}

TEST(SearchSpace, HoldsEveryRunnablePlanOnce) {
  const auto request = small_request(DeviceKind::host);
  const Space space(request);
  std::set<std::string> found;
  for (std::int64_t number = 0; number < space.size(); ++number) {
    const Point point = space.at(number);
    ASSERT_EQ(space.number_of(point), number);
    ASSERT_EQ(space.why_not(point), "");
    auto plan = space.plan_at(point);
    EXPECT_FALSE(plan.name.empty());
    ASSERT_EQ(space.nearest(plan), point);
    plan.name.clear();
    EXPECT_TRUE(found.insert(base::to_document(plan).dump()).second) << base::to_document(plan);
  }
  EXPECT_EQ(found, brute_force(request));
}

/// All points, each dimension chosen after those before it.
void choose_rest(const Space& space, Point& point, std::size_t next, std::vector<Point>& points) {
  if (next == point.size()) {
    points.push_back(point);
    return;
  }
  for (const auto& [position, plans] : space.choices_after(point, next)) {
    point[next] = position;
    const auto before = std::ssize(points);
    choose_rest(space, point, next + 1, points);
    EXPECT_EQ(std::ssize(points) - before, plans);
  }
  point[next] = -1;
}

TEST(SearchSpace, ChoicesAfterOneAnotherLeadToEveryPointOnce) {
  auto request = small_request(DeviceKind::cuda);
  request.constraints = {exact_only()};
  request.values = {{"workers", {"1", "2"}}, {"cpu_buffer", {"1", "4"}}, {"device_buffer", {"3"}},
                    {"look_ahead", {"0"}},   {"cache.budget", {"0.5"}},  {"prepare_share", {"0", "0.4"}},
                    {"super_batch", {"1"}},  {"cpu_share", {"0.2"}},     {"features", {"host"}}};
  const auto space = make_space(request);
  std::vector<Point> points;
  Point point(space.dimensions().size(), -1);
  choose_rest(space, point, 0, points);
  ASSERT_EQ(std::ssize(points), space.size());
  for (std::int64_t number = 0; number < space.size(); ++number) {
    EXPECT_EQ(points[static_cast<std::size_t>(number)], space.at(number));
  }
  // Nothing begins with a route that the schedule has not.
  const auto& dimensions = space.dimensions();
  ASSERT_EQ(dimensions[0].field.path, "schedule");
  ASSERT_EQ(dimensions[1].field.path, "route");
  const auto claim_ahead = std::find(dimensions[0].values.begin(), dimensions[0].values.end(), 3);
  point[0] = static_cast<int>(claim_ahead - dimensions[0].values.begin());
  const auto routes = space.choices_after(point, 1);
  ASSERT_EQ(routes.size(), 1U);
  EXPECT_EQ(dimensions[1].values[static_cast<std::size_t>(routes[0].position)], 2);
}

TEST(SearchSpace, SimulatedPlansAreMoreAndEveryOneIsRight) {
  auto request = small_request(DeviceKind::cuda);
  request.cores.devices = 2;
  const auto runnable = Space(request).size();
  request.constraints = {exact_only()};
  const auto exact = Space(request).size();
  request.constraints = {};
  const Space all(request);
  EXPECT_LT(runnable, exact);
  EXPECT_LT(exact, all.size());
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  int feasible = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto point = all.at(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all.size())));
    if (all.is_feasible(point)) {
      ++feasible;
      const auto plan = all.plan_at(point);
      EXPECT_NO_THROW(plan::check(plan, "plan"));
      EXPECT_EQ(plan.exact, !plan::changes_training(plan));
    }
  }
  EXPECT_GT(feasible, 300);
}

TEST(SearchSpace, PresetsOfPublishedSystemsAreInIt) {
  auto request = small_request(DeviceKind::cuda);
  request.cores.devices = 2;
  request.constraints = {};
  const Space space(request);
  for (const auto& preset : plan::presets()) {
    if (preset.cache.policy != plan::CachePolicy::optimal &&
        preset.cache.policy != plan::CachePolicy::random) {
      EXPECT_TRUE(space.nearest(preset).has_value()) << preset.name;
    }
  }
}

TEST(SearchSpace, HoldsThePlansThatReadADiskWhereTheDeviceRunsThem) {
  const auto host = plan::abilities_of(DeviceKind::host);
  auto request = small_request(DeviceKind::host);
  request.constraints = {runnable_only()};
  const Space in_memory(request);
  request.constraints = {runnable_only(host)};
  const Space space(request);
  int on_disk = 0;
  for (const auto& preset : plan::runnable_presets(host)) {
    if (plan::reads_disk(preset)) {
      ++on_disk;
      EXPECT_TRUE(space.nearest(preset).has_value()) << preset.name;
      EXPECT_FALSE(in_memory.nearest(preset).has_value()) << preset.name;
    }
  }
  EXPECT_EQ(on_disk, 4);
  // Every place of features and topology, and every policy of a host cache.
  std::set<std::string> homes;
  std::set<plan::CachePolicy> policies;
  for (const auto& point : space.family_starts()) {
    if (!space.is_feasible(point)) {
      continue;
    }
    const auto plan = space.plan_at(point);
    ASSERT_EQ(plan::why_not_executed(plan, host), "") << base::to_document(plan);
    homes.insert(std::string(base::name_of(plan.topology)) + " " + std::string(base::name_of(plan.features)));
    if (plan::has_host_cache(plan)) {
      policies.insert(plan.cache.policy);
    }
  }
  EXPECT_EQ(homes, (std::set<std::string>{"host host", "host disk", "disk host", "disk disk"}));
  EXPECT_EQ(policies, (std::set{plan::CachePolicy::out_degree, plan::CachePolicy::presample,
                                plan::CachePolicy::recent, plan::CachePolicy::optimal}));
}

TEST(SearchSpace, NeighboursAreOneStepAway) {
  const Space space(small_request(DeviceKind::host));
  for (std::int64_t number = 0; number < space.size(); ++number) {
    const Point here = space.at(number);
    std::set<Point> seen{here};
    for (const Point& there : space.neighbours(here)) {
      EXPECT_TRUE(seen.insert(there).second);
      EXPECT_NO_THROW(space.number_of(there));
    }
    EXPECT_GE(seen.size(), 4U);  // itself and three other schedules
  }
}

TEST(SearchSpace, EncodesNumbersOnTheirScales) {
  auto request = small_request(DeviceKind::host);
  request.cores.count = 64;
  request.batches = 100;
  const Space space(request);
  const auto plan = [&](int workers) {
    plan::Plan p = plan::find_plan("gnomon");
    p.workers = workers;
    return space.encode(*space.nearest(plan::resolve(p, request.cores, "plan")));
  };
  const auto& dimensions = space.dimensions();
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d].field.path == "workers") {
      EXPECT_TRUE(dimensions[d].log_scale);
      EXPECT_EQ(plan(1)[d], 0);
      EXPECT_EQ(plan(64)[d], 1);
      EXPECT_NEAR(plan(7)[d], std::log(8.0 / 2) / std::log(65.0 / 2), 1e-12);
    } else if (dimensions[d].field.path == "cache.budget") {
      EXPECT_EQ(plan(1)[d], -1);
    }
  }
}

std::string message_of(const SpaceRequest& request) {
  try {
    make_space(request);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SearchSpace, SaysWhichConstraintsExcludeEachOther) {
  auto request = small_request(DeviceKind::host);
  request.values = {{"schedule", {"dual_buffer"}}, {"route", {"cpu"}}, {"workers", {"1", "2"}}};
  EXPECT_THAT(message_of(request),
              AllOf(HasSubstr("\"route = cpu\" and \"schedule = dual_buffer\" exclude each"),
                    Not(HasSubstr("workers")), Not(HasSubstr("exact"))));
  request.values = {{"schedule", {"macro_batch"}}};
  request.constraints = {exact_only(), {"memory", [](const plan::Plan&) { return ""; }}};
  EXPECT_THAT(message_of(request),
              HasSubstr("\"exact plans only\" and \"schedule = macro_batch\" exclude each other"));
  request.values = {};
  request.constraints = {{"3 bytes of device memory", [](const plan::Plan&) { return "too large"; }}};
  EXPECT_THAT(message_of(request), HasSubstr("\"3 bytes of device memory\" excludes every plan"));
  request.values = {{"schedule", {"pipelined"}}};
  request.constraints = {};
  EXPECT_EQ(message_of(request), "");
}

TEST(SearchSpace, AskedValuesMustBeRight) {
  auto request = small_request(DeviceKind::host);
  request.values = {{"shedule", {"pipelined"}}};
  EXPECT_THAT(message_of(request), HasSubstr("plan.shedule: is not a field"));
  request.values = {{"schedule", {"fast"}}};
  EXPECT_THAT(message_of(request), HasSubstr("plan.schedule: \"fast\" is not known; use one of sequential"));
  request.values = {{"workers", {"-1"}}};
  EXPECT_THAT(message_of(request), HasSubstr("plan.workers"));
}

}  // namespace
}  // namespace gnomon::tuner
