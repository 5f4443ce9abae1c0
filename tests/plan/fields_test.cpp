#include "plan/fields.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/rules.h"

namespace gnomon::plan {
namespace {

TEST(Fields, AreThoseOfTheTableAndGoRoundTrip) {
  const auto fields = plan_fields();
  const auto named = [&](const std::string& path) {
    return std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.path == path; });
  };
  ASSERT_NE(named("cache.budget"), fields.end());
  EXPECT_EQ(named("cache.budget")->range.max, 1);
  EXPECT_EQ(named("schedule")->names.at(3), "claim_ahead");
  EXPECT_EQ(named("name"), fields.end());
  for (const auto& preset : presets()) {
    Plan copy;
    copy.name = preset.name;
    copy.source = preset.source;
    set_field_values(copy, field_values(preset));
    EXPECT_EQ(copy, preset);
  }
}

TEST(Fields, ValuesAndRangesAreWrittenAsInDocuments) {
  const auto range = [](const char* path) { return range_text(rule_of(path).field); };
  EXPECT_EQ(range("workers"), "0 to 4096");
  EXPECT_EQ(range("prepare_share"), "0 to 0.95");
  EXPECT_EQ(range("device_memory_bytes"), "0 to 1e+15");
  EXPECT_EQ(range("order"), "index, as_ready");
  EXPECT_EQ(range("cache.sharded"), "false, true");
  EXPECT_EQ(value_text(rule_of("order").field, 1), "as_ready");
  EXPECT_EQ(value_text(rule_of("cache.sharded").field, 0), "false");
  EXPECT_EQ(value_text(rule_of("cpu_share").field, 0.5), "0.5");
  EXPECT_EQ(value_text(rule_of("bias").field, 1), "1");
}

}  // namespace
}  // namespace gnomon::plan
