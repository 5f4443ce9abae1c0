#include "tuner/explore/exploration.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace gnomon::tuner
