#include "tuner/space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "tuner/space/fields.h"

namespace gnomon::tuner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SpaceRequest small_request(bool host_device) {
  SpaceRequest request;
  request.cores = {2, host_device, 1};
  request.batches = 4;
  return request;
}

TEST(Fields, AreThoseOfTheTableAndGoRoundTrip) {
  const auto fields = plan_fields();
  const auto named = [&](const std::string& path) {
    return std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.path == path; });
  };
  ASSERT_NE(named("cache.budget"), fields.end());
  EXPECT_EQ(named("cache.budget")->range.max, 1);
  EXPECT_EQ(named("schedule")->names.at(3), "claim_ahead");
  EXPECT_EQ(named("name"), fields.end());
  for (const auto& preset : plan::presets()) {
    plan::Plan copy;
    copy.name = preset.name;
    copy.source = preset.source;
    set_field_values(copy, field_values(preset));
    EXPECT_EQ(copy, preset);
  }
}

/// Every plan that the field table allows with values from small lists, by brute force: fields that no rule
/// of the runtime's plans knows stay at their defaults.
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

TEST(SearchSpace, WorkersToTry) {
  EXPECT_THAT(worker_choices(1), ElementsAre(1));
  EXPECT_THAT(worker_choices(4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(worker_choices(20), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20));
}

TEST(SearchSpace, DeviceThreadsToTry) {
  EXPECT_THAT(thread_choices({1, true}), ElementsAre(1));
  EXPECT_THAT(thread_choices({6, true}), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(thread_choices({8, true}), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(thread_choices({8, false}), ElementsAre(1));
}

TEST(SearchSpace, HoldsEveryRunnablePlanOnce) {
  const auto request = small_request(true);
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
  auto request = small_request(false);
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
  auto request = small_request(false);
  request.cores.devices = 2;
  const auto runnable = Space(request).size();
  request.constraints = {exact_only()};
  const auto exact = Space(request).size();
  request.constraints = {};
  const Space all(request);
  EXPECT_LT(runnable, exact);
  EXPECT_LT(exact, all.size());
  std::mt19937_64 random(7);
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
  auto request = small_request(false);
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

TEST(SearchSpace, NeighboursAreOneStepAway) {
  const Space space(small_request(true));
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
  auto request = small_request(true);
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
  auto request = small_request(true);
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
  auto request = small_request(true);
  request.values = {{"shedule", {"pipelined"}}};
  EXPECT_THAT(message_of(request), HasSubstr("plan.shedule: is not a field"));
  request.values = {{"schedule", {"fast"}}};
  EXPECT_THAT(message_of(request), HasSubstr("plan.schedule: \"fast\" is not known; use one of sequential"));
  request.values = {{"workers", {"-1"}}};
  EXPECT_THAT(message_of(request), HasSubstr("plan.workers"));
}

}  // namespace
}  // namespace gnomon::tuner
