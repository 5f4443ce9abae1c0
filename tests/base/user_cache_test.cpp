#include "base/user_cache.h"

#include <gtest/gtest.h>

#include "tests/fixtures/variable.h"

namespace gnomon::base {
namespace {

TEST(UserCache, IsWhereTheEnvironmentSays) {
  const test::Variable xdg("XDG_CACHE_HOME", "/caches");
  const test::Variable home("HOME", "/home/me");
  {
    const test::Variable own("GNOMON_CACHE", "/mine");
    EXPECT_EQ(user_cache().directory, "/mine");
    EXPECT_EQ(user_cache().of("history"), "/mine/history");
  }
  const test::Variable unset("GNOMON_CACHE", std::nullopt);
  EXPECT_EQ(user_cache().directory, "/caches/gnomon");
  const test::Variable relative("XDG_CACHE_HOME", "caches");
  EXPECT_EQ(user_cache().directory, "/home/me/.cache/gnomon");
  const test::Variable nowhere("HOME", std::nullopt);
  EXPECT_EQ(user_cache().of("history"), "");
  EXPECT_EQ(user_cache().why_none, "neither XDG_CACHE_HOME nor HOME names a directory");
  EXPECT_FALSE(user_cache().is_off);
}

TEST(UserCache, CanBeOff) {
  for (const char* value : {"off", ""}) {
    const test::Variable own("GNOMON_CACHE", value);
    EXPECT_TRUE(user_cache().is_off);
    EXPECT_EQ(user_cache().directory, "");
  }
}

}  // namespace
}  // namespace gnomon::base
