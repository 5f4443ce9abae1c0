#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "program.h"

namespace gnomon::apps {
namespace {

using ::testing::ElementsAre;

/// The contents of the fenced blocks of a Markdown text that begin with the line "```sh". Blocks that begin
/// with "```sh not-tested" (set-up, the test command itself, what takes minutes) are left out.
std::vector<std::string> shell_blocks(const std::string& markdown) {
  std::vector<std::string> blocks;
  std::istringstream lines(markdown);
  bool fenced = false;
  bool wanted = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      wanted = fenced && line == "```sh";
      if (wanted) {
        blocks.emplace_back();
      }
    } else if (wanted) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

TEST(Readme, BlocksAreFound) {
  EXPECT_THAT(
      shell_blocks(
          "a\n```sh\none\ntwo\n```\n```text\nno\n```\n```sh not-tested\nno\n```\n```sh\nthree\n```\n"),
      ElementsAre("one\ntwo\n", "three\n"));
}

// Every command that the README shows runs, block after block in one directory, as for someone who follows
// it.
TEST(Readme, CommandsRun) {
  const std::filesystem::path readme = std::filesystem::path(SOURCE_DIR) / "README.md";
  if (!std::filesystem::exists(readme)) {
    GTEST_SKIP() << "there is no README.md yet";
  }
  const auto blocks = shell_blocks(base::read_file(readme));
  ASSERT_FALSE(blocks.empty()) << "README.md shows no commands; or are their blocks not marked ```sh?";
  const Workplace place;
  place.write("gnomon.sh", "#!/bin/sh\nexec \"" + std::string(GNOMON_PROGRAM) + "\" \"$@\"\n");
  std::filesystem::permissions(place.path() / "gnomon.sh", std::filesystem::perms::owner_all);
  for (const auto& block : blocks) {
    const auto outcome = run_program_at("/bin/sh", {"-euc", block}, place.path());
    ASSERT_EQ(outcome.code, 0) << block << "\n" << outcome.out << outcome.error;
  }
}

}  // namespace
}  // namespace gnomon::apps
