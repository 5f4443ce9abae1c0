#include "plan/abilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "plan/plan.h"
#include "plan/rules.h"

namespace gnomon::plan {
namespace {

const Abilities host = abilities_of(DeviceKind::host);
const Abilities gpu = abilities_of(DeviceKind::cuda);
const Abilities emulated = abilities_of(DeviceKind::emulated);

/// The names of the abilities that are wanted, each judged as the only one that is set.
template <class IsWanted>
std::set<std::string> names(IsWanted is_wanted) {
  std::set<std::string> found;
  Abilities abilities;
  const auto visit = [&](const char* name, bool& ability) {
    ability = true;
    if (is_wanted(abilities)) {
      found.insert(name);
    }
    ability = false;
  };
  Abilities::fields(abilities, visit);
  return found;
}

/// Whether a rule accepts the only ability that is set.
bool is_needed(const Abilities& one) {
  return std::any_of(rules().begin(), rules().end(), [&](const Rule& rule) {
    return std::any_of(rule.needs.begin(), rule.needs.end(), [&](const Need& need) {
      return std::any_of(need.any_of.begin(), need.any_of.end(),
                         [&](bool Abilities::*ability) { return one.*ability; });
    });
  });
}

std::set<std::string> declared_by(const Abilities& device) {
  std::set<std::string> found;
  const auto visit = [&](const char* name, const bool& ability) {
    if (ability) {
      found.insert(name);
    }
  };
  Abilities::fields(device, visit);
  return found;
}

TEST(Abilities, EachIsNeededByARule) {
  EXPECT_EQ(names(is_needed), names([](const Abilities&) { return true; }));
}

TEST(Abilities, EachIsDeclaredByADeviceOrListedHere) {
  // What only the simulator executes so far. A device that learns one of these takes it off the list.
  const std::set<std::string> simulated_only{"dynamic_caches"};
  auto declared = declared_by(host);
  declared.merge(declared_by(gpu));
  declared.merge(declared_by(emulated));
  declared.merge(declared_by(emulated));
  std::set<std::string> missing;
  for (const auto& name : names([](const Abilities&) { return true; })) {
    if (!declared.contains(name)) {
      missing.insert(name);
    }
  }
  EXPECT_EQ(missing, simulated_only);
}

TEST(Abilities, AnEmulatedDeviceExecutesWhatAGpuComputesAndThereMayBeSeveral) {
  auto several = gpu;
  several.several_devices = true;
  several.divided_roles = true;
  several.peer_reads = true;
  several.macro_batches = true;
  several.recorded_steps = false;  // nobody launches kernels there
  EXPECT_EQ(emulated, several);
  EXPECT_TRUE(runs_on_cores(DeviceKind::emulated));
  EXPECT_TRUE(has_link(DeviceKind::emulated));
  EXPECT_TRUE(runs_on_cores(DeviceKind::host));
  EXPECT_FALSE(has_link(DeviceKind::host));
  EXPECT_FALSE(runs_on_cores(DeviceKind::cuda));
  EXPECT_TRUE(has_link(DeviceKind::cuda));
}

TEST(Abilities, RefusalsNameTheField) {
  EXPECT_EQ(why_not_executed(find_plan("salient"), host), "");
  EXPECT_EQ(why_not_executed(find_plan("gnomon"), host), "");
  EXPECT_EQ(why_not_executed(find_plan("joestar-2"), host), "");
  EXPECT_EQ(why_not_executed(find_plan("joestar-2"), emulated), "");
  auto two = find_plan("joestar-1");
  two.devices = 2;
  EXPECT_EQ(why_not_executed(two, emulated), "schedule \"macro_batch\" on several devices");
  EXPECT_EQ(why_not_executed(find_plan("hanoi"), emulated), "topology \"disk\"");
  EXPECT_EQ(why_not_executed(find_plan("joestar-2"), gpu), "schedule \"macro_batch\"");
  EXPECT_EQ(why_not_executed(find_plan("gnnlab"), host), "topology \"device\"");
  EXPECT_EQ(why_not_executed(find_plan("ducati"), host), "cache.policy \"value_weight\"");
  EXPECT_EQ(why_not_executed(find_plan("pagraph"), host), "cache.policy \"out_degree\"");
  EXPECT_EQ(why_not_executed(find_plan("pytorch-direct"), host), "prepare_share above 0");
  EXPECT_LT(runnable_presets().size(), presets().size());
  auto biased = find_plan("gnomon");
  biased.exact = false;
  biased.bias = 4;
  EXPECT_EQ(why_not_executed(biased, host), "bias above 1 without a cache");
  biased.cache.policy = CachePolicy::out_degree;
  EXPECT_EQ(why_not_executed(biased, host), "cache.policy \"out_degree\"") << "all vertices alike";
  biased.cache.budget = 0.1;
  EXPECT_EQ(why_not_executed(biased, host), "");
  biased.cache.topology = true;
  EXPECT_EQ(why_not_executed(biased, host), "cache.policy \"out_degree\"");
  biased.cache.topology = false;
  EXPECT_EQ(why_not_executed(biased, emulated), "");
  biased.cache.budget = 1;
  EXPECT_EQ(why_not_executed(biased, emulated),
            "bias above 1 unless the cache has policy \"out_degree\", place \"device\", features only and a "
            "budget below 1");
  biased.cache.budget = 0.1;
  for (const char* mode : {"a3gnn-sequential", "a3gnn-mode1", "a3gnn-mode2"}) {
    for (const auto& device : {host, emulated, gpu}) {
      EXPECT_EQ(why_not_executed(find_plan(mode), device), "") << mode;
    }
  }
  biased.bias = 1;
  EXPECT_EQ(why_not_executed(biased, host), "cache.policy \"out_degree\"");
}

TEST(Abilities, TheHostReadsTheDisk) {
  EXPECT_EQ(why_not_executed(find_plan("ns-ext"), host), "");
  EXPECT_EQ(why_not_executed(find_plan("ginex"), host), "");
  EXPECT_EQ(why_not_executed(find_plan("ns-ext"), gpu), "topology \"disk\"");
  auto plan = find_plan("ns-ext");
  plan.cache.policy = CachePolicy::presample;
  EXPECT_EQ(why_not_executed(plan, host),
            "cache.topology with topology \"disk\" unless cache.policy is \"recent\"");
  plan.cache.topology = false;
  EXPECT_EQ(why_not_executed(plan, host), "");
  plan.cache.policy = CachePolicy::value_weight;
  EXPECT_EQ(why_not_executed(plan, host), "cache.policy \"value_weight\" with cache.place \"host\"");
  plan.cache = {.policy = CachePolicy::presample};
  EXPECT_EQ(why_not_executed(plan, host), "cache.policy \"presample\"") << "place \"device\"";
  plan.cache = {};
  plan.gather = Gather::trainer;
  EXPECT_EQ(why_not_executed(plan, host), "features \"disk\" with gather \"trainer\"");
}

TEST(Abilities, OnlyAGpuReplaysSteps) {
  auto plan = find_plan("device");
  plan.graphs = true;
  EXPECT_EQ(why_not_executed(plan, gpu), "");
  EXPECT_EQ(why_not_executed(plan, host), "graphs");
  EXPECT_EQ(why_not_executed(plan, emulated), "graphs");
  plan.fused = true;
  EXPECT_EQ(why_not_executed(plan, gpu), "graphs with fused");
  plan = find_plan("gas");
  plan.graphs = true;
  EXPECT_EQ(why_not_executed(plan, gpu), "graphs with embeddings.reuse");
}

TEST(Abilities, AGpuExecutesWhatNeedsOne) {
  for (const char* name : {"dgl-uva", "pytorch-direct", "quiver", "t_sota", "sota", "ducati", "ducati-delta",
                           "morphgl", "salient", "gnomon", "gnnlab", "pagraph"}) {
    EXPECT_EQ(why_not_executed(resolve(find_plan(name), {2, DeviceKind::cuda}, name), gpu), "") << name;
  }
  auto orch = resolve(find_plan("neutronorch"), {2, DeviceKind::cuda}, "neutronorch");
  EXPECT_EQ(why_not_executed(orch, gpu), "");
  EXPECT_EQ(why_not_executed(orch, host), "");
  orch.fused = true;
  EXPECT_EQ(why_not_executed(orch, gpu), "embeddings.reuse \"hot\" with fused");
  orch.fused = false;
  orch.devices = 2;
  EXPECT_EQ(why_not_executed(orch, emulated), "embeddings.reuse \"hot\" on several devices");
  EXPECT_EQ(why_not_executed(resolve(find_plan("quiver"), {2, DeviceKind::cuda, 2}, "two"), gpu),
            "devices other than 1");
  EXPECT_GT(runnable_presets(gpu).size(), runnable_presets().size());
}

std::string refusal(const char* preset, const Abilities& device) {
  try {
    check_executed(find_plan(preset), device, "p.json");
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Abilities, HistoricalEmbeddingsTakeTheCpuRouteOfOneDevice) {
  auto plan = find_plan("gas");
  for (const auto& device : {host, emulated, gpu}) {
    EXPECT_EQ(why_not_executed(plan, device), "");
  }
  plan.devices = 2;
  EXPECT_EQ(why_not_executed(plan, emulated), "embeddings.reuse \"all\" on several devices");
  plan.devices = 1;
  plan.schedule = Schedule::sequential;
  plan.route = Route::device;
  EXPECT_EQ(why_not_executed(plan, host), "embeddings.reuse \"all\" unless the route is \"cpu\"");
}

TEST(Abilities, RefusalsSayWhichDeviceExecutesThePlan) {
  EXPECT_EQ(refusal("salient", host), "");
  EXPECT_EQ(refusal("ducati", gpu), "");
  EXPECT_EQ(refusal("ducati", host),
            "p.json: this device does not execute cache.policy \"value_weight\"; one of kind \"emulated\" or "
            "\"cuda\" does");
  EXPECT_EQ(refusal("hanoi", host), "");
  EXPECT_EQ(
      refusal("joestar-1", gpu),
      "p.json: this device does not execute schedule \"macro_batch\"; one of kind \"host\" or \"emulated\" "
      "does");
}

}  // namespace
}  // namespace gnomon::plan
