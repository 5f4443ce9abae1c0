#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

// docs/files.md lists the schema of every document that the sources read or write.

namespace gnomon::layers {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The schemas, such as gnomon.plan/1, that stand alone between two of these characters.
std::set<std::string> schemas_between(char quote, const std::string& text) {
  static const std::regex schema("gnomon\\.[a-z_]+/[0-9]+");
  const std::string begin = quote + std::string("gnomon.");
  std::set<std::string> found;
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const auto end = text.find(quote, at + 1);
    auto quoted = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    if (std::regex_match(quoted, schema)) {
      found.insert(std::move(quoted));
    }
  }
  return found;
}

/// The schemas in the string literals of all sources but tests. A record that has its program's name is left
/// out, as docs/files.md states the rule instead of the names.
std::set<std::string> schemas_in_sources() {
  std::set<std::string> found;
  for (const char* folder : {"apps", "base", "bench", "graph", "kernels", "nn", "plan", "profiles", "python",
                             "reproduce", "runtime", "schedule", "serve", "sim", "tuner"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
      const auto& path = entry.path();
      static const std::set<fs::path> sources{".cpp", ".h", ".js", ".py"};
      const bool is_test = path.string().find("/python/tests/") != std::string::npos;
      if (is_test || !sources.contains(path.extension())) {
        continue;
      }
      auto schemas = schemas_between('"', content_of(path));
      if (std::string_view(folder) == "bench") {
        schemas.erase("gnomon." + path.stem().string() + "/1");
      }
      found.merge(schemas);
    }
  }
  return found;
}

TEST(Schemas, AreFoundBetweenQuotes) {
  EXPECT_THAT(schemas_between('"', "schema = \"gnomon.plan/1\"; // gnomon.job/1, \"gnomon.job/1 and\""),
              testing::ElementsAre("gnomon.plan/1"));
}

TEST(Schemas, AreAllListedInTheDocuments) {
  const auto path = fs::path(SOURCE_DIR) / "docs" / "files.md";
  if (!fs::exists(path)) {
    GTEST_SKIP() << "there is no docs/files.md";
  }
  const auto listed = schemas_between('`', content_of(path));
  const auto used = schemas_in_sources();
  ASSERT_GT(used.size(), 25U);
  for (const auto& schema : used) {
    EXPECT_TRUE(listed.contains(schema)) << "docs/files.md does not list " << schema;
  }
  for (const auto& schema : listed) {
    EXPECT_TRUE(used.contains(schema)) << "docs/files.md lists " << schema << ", which no source has";
  }
}

}  // namespace
}  // namespace gnomon::layers
