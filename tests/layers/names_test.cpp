#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

// What a system does is written in its plan: no source may ask which system it runs.

namespace gnomon::layers {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Names of presets that are names of published systems only, in no other use.
std::set<std::string> systems() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIR) / "plan" / "presets")) {
    names.insert(entry.path().stem().string());
  }
  names.erase("device");  // a route, too
  names.erase("gnomon");  // the program, too
  return names;
}

/// The string literals of a source, without its comments.
std::set<std::string> literals_of(const std::string& text) {
  static const std::regex comment("//[^\n]*");
  static const std::regex literal("\"([^\"\\\\\n]*)\"");
  const auto code = std::regex_replace(text, comment, "");
  std::set<std::string> found;
  for (std::sregex_iterator it(code.begin(), code.end(), literal), end; it != end; ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

TEST(SystemNames, AreFoundWhereTheyStand) {
  EXPECT_EQ(literals_of("if (plan.name == \"salient\") {}  // \"dgl\"\n"), std::set<std::string>{"salient"});
}

TEST(SystemNames, StandInPresetsOnly) {
  const auto names = systems();
  ASSERT_GE(names.size(), 26U);
  int sources = 0;
  for (const char* folder :
       {"base", "graph", "plan", "schedule", "kernels", "runtime", "profiles", "sim", "tuner"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu") {
        continue;
      }
      ++sources;
      for (const auto& literal : literals_of(text_of(entry.path()))) {
        EXPECT_FALSE(names.contains(literal)) << entry.path() << " names the system " << literal;
      }
    }
  }
  EXPECT_GT(sources, 100);
}

}  // namespace
}  // namespace gnomon::layers
