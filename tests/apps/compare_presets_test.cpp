#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/disk_plans.h"
#include "plan/exactness.h"
#include "plan/plan.h"
#include "program.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::apps {
namespace {

using base::Json;

/// The presets for which `is_wanted` holds.
template <class IsWanted>
std::set<std::string> presets_that(IsWanted is_wanted) {
  std::set<std::string> names;
  for (const auto& preset : plan::presets()) {
    if (is_wanted(preset)) {
      names.insert(preset.name);
    }
  }
  return names;
}

bool trains_the_same_bits(const plan::Plan& preset) {
  const auto plan = plan::resolve(preset, {2, plan::DeviceKind::emulated}, preset.name);
  return !plan::reads_disk(plan) && plan::exactness_of(plan) == plan::Exactness::bits;
}

/// The question of a user who does not know which system is best for a graph: all of them run on an emulated
/// device but those that read a disk, and exact ones train the same.
TEST(ComparePresets, RunsAllThatNeedNoDisk) {
  const Workplace workplace;
  graph::generate(test::tiny_partition(), workplace.path() / "tiny");
  const auto json_of = [&](std::vector<std::string> words) {
    for (const char* word :
         {"--epochs", "1", "--fanouts", "4,3", "--batch-size", "50", "--hidden", "8", "--json"}) {
      words.emplace_back(word);
    }
    const auto outcome = run_gnomon(words, workplace.path());
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return base::parse_json(outcome.out, "stdout");
  };
  const auto json = json_of({"compare", "tiny", "--device", "emulated", "--device-memory", "64MB", "--link",
                             "2GB/s", "--rounds", "1", "--time-limit", "0.5"});
  std::set<std::string> refused, of_bits, hashes;
  for (const auto& row : json["presets"]) {
    const auto name = row["preset"].get<std::string>();
    if (row["runs"] == false) {
      refused.insert(name);
      EXPECT_THAT(row["why_not"].get<std::string>(),
                  testing::HasSubstr("\"disk\"; one of kind \"host\" does"));
      continue;
    }
    EXPECT_GT(row["predicted_s"], 0) << name;
    EXPECT_GT(row["measured_s"], 0) << name;
    EXPECT_GT(row["measured_device_bytes"], 0) << name;
    if (row["exact"] == "bits") {
      of_bits.insert(name);
      hashes.insert(row["weights_hash"].get<std::string>());
    }
  }
  EXPECT_EQ(refused, presets_that(plan::reads_disk));
  EXPECT_EQ(of_bits, presets_that(trains_the_same_bits));
  EXPECT_GE(of_bits.size(), 12U);
  const auto on_host = json_of({"train", "tiny", "--plan", "device"});
  EXPECT_EQ(hashes, std::set{on_host["weights_hash"].get<std::string>()});
}

}  // namespace
}  // namespace gnomon::apps
