#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "plan/fields.h"
#include "plan/rules.h"

namespace gnomon::plan {
namespace {

/// The cells of docs/plans.md that the table of rules decides. The cells behind them are prose.
std::string row_of(const Rule& rule, double value) {
  return "| `" + rule.field.path + "` | " + value_text(rule.field, value) + " | " + range_text(rule.field) +
         " |";
}

TEST(PlanDocument, NamesEveryFieldWithItsDefaultAndRange) {
  const auto path = std::filesystem::path(SOURCE_DIR) / "docs" / "plans.md";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "there is no docs/plans.md";
  }
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto defaults = field_values(Plan{});
  for (std::size_t i = 0; i < rules().size(); ++i) {
    const auto row = row_of(rules()[i], defaults[i]);
    EXPECT_NE(text.find("\n" + row), std::string::npos) << "docs/plans.md has no row that begins with\n"
                                                        << row;
  }
}

}  // namespace
}  // namespace gnomon::plan
