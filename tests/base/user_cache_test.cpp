#include "base/user_cache.h"

#include <gtest/gtest.h>

#include "tests/fixtures/temporary_directory.h"
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

TEST(UserCache, ItsDocumentsAreListedAndRemoved) {
  const test::TemporaryDirectory here;
  EXPECT_TRUE(documents_in(here / "absent").empty());
  here.write("b.json", "{}");
  here.write("a.json", "{}");
  here.write("c.json.tmp-17", "{");
  here.write("notes.txt", "mine");
  EXPECT_EQ(documents_in(here.path()),
            (std::vector<std::filesystem::path>{here / "a.json", here / "b.json"}));
  EXPECT_TRUE(remove_document(here / "a.json"));
  EXPECT_FALSE(remove_document(here / "a.json"));
  EXPECT_EQ(remove_documents(here.path()), 1);
  EXPECT_EQ(here.names(), std::vector<std::string>{"notes.txt"});
}

}  // namespace
}  // namespace gnomon::base
