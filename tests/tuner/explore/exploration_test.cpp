#include "tuner/explore/exploration.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/fixtures/profiles.h"
#include "tests/fixtures/speeds.h"

namespace gnomon::tuner {
namespace {

ExplorationRow row_of(const std::string& name, double epoch_s, std::optional<double> price,
                      const std::string& why_not_run = "") {
  ExplorationRow row;
  row.plan.name = name;
  row.prediction.emplace();
  row.prediction->epoch_s = epoch_s;
  row.prediction->consumption.price = price;
  row.why_not_run = why_not_run;
  return row;
}

std::vector<std::string> names(const std::vector<ExplorationRow>& rows, RowOrder order) {
  std::vector<std::string> names;
  for (const auto* row : sorted(rows, order)) {
    names.push_back(row->plan.name);
  }
  return names;
}

TEST(SortedRows, RunnableOnesComeFirstByEpochOrPrice) {
  std::vector<ExplorationRow> rows = {row_of("simulated", 0.5, 0.1, "needs a GPU"),
                                      row_of("fast, dear", 1, 3), row_of("fastest, no price", 0.9, {}),
                                      row_of("slow, cheap", 4, 2), row_of("slower, as cheap", 5, 2)};
  rows.emplace_back();
  rows.back().plan.name = "impossible";
  rows.back().why_not = "does not fit";
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(rows, RowOrder::epoch), (Names{"fastest, no price", "fast, dear", "slow, cheap",
                                                 "slower, as cheap", "simulated", "impossible"}));
  EXPECT_EQ(names(rows, RowOrder::price), (Names{"slow, cheap", "slower, as cheap", "fast, dear",
                                                 "fastest, no price", "simulated", "impossible"}));
}

ExploredProfile profile_with_speeds() {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 30, {0.02, 0, 0.02, 0.04});
  profile.workload.feature_columns = 64;
  profile.workload.feature_row_bytes = 256;
  profile.workload.batch_vertices = 500;
  profile.workload.batch_edges = 2000;
  profile.workload.job.fanouts = {20, 8};
  profile.workload.job.hidden = 32;
  profile.machine_speeds = test::uniform_speeds(1e9);
  return {.document = base::to_document(profile), .where = "p.json", .names = {}};
}

/// The rows of sweeps of the profile's fields, with epochs of mini-batches that are prepared and trained in
/// turn.
std::vector<ExplorationRow> swept(const std::vector<Sweep>& sweeps) {
  ExplorationRequest request{
      .profiles = {profile_with_speeds()}, .plans = plans_of("device"), .sweeps = sweeps};
  request.quickly = true;
  return explore(request, {});
}

TEST(ExploredModels, ChangeTrainingAndNothingElse) {
  const auto rows = swept({{"workload.job.hidden", {"32", "256"}}, {"workload.job.epochs", {"5"}}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].prediction->epoch_s, 30 * (0.02 + 0.04), 1e-9) << "as it was measured";
  EXPECT_TRUE(rows[0].extrapolations.empty());
  EXPECT_EQ(rows[0].epochs, 5);
  const auto profile = changed_profile(profile_with_speeds(), {{"workload.job.hidden", "256"}});
  EXPECT_GT(profile.workload.train.mean_s, 0.06);
  EXPECT_NEAR(rows[1].prediction->epoch_s, 30 * (0.02 + profile.workload.train.mean_s), 1e-9);
  EXPECT_EQ(rows[1].extrapolations,
            std::vector<std::string>{
                "another model than measured (hidden 32): training by counts of operations and "
                "the machine's speeds"});
}

TEST(ExploredModels, MayDifferInSeveralFields) {
  const auto profile = changed_profile(profile_with_speeds(), {{"workload.job.model", "gat"},
                                                               {"workload.job.heads", "2"},
                                                               {"plan.workers", "1"},
                                                               {"workload.batches", "7"}});
  EXPECT_EQ(profile.workload.job.model, plan::ModelKind::gat);
  EXPECT_EQ(profile.workload.job.heads, 2);
  EXPECT_EQ(profile.workload.batches, 7);
  EXPECT_NE(profile.workload.train.mean_s, 0.04);
}

}  // namespace
}  // namespace gnomon::tuner
