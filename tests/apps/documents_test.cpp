#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "program.h"

namespace gnomon::apps {
namespace {

using ::testing::ElementsAre;

/// The contents of the fenced blocks of a Markdown text that begin with the line "```sh". Blocks that begin
/// with "```sh not-tested" (set-up, the test command itself, commands that need a download) are left out.
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

/// The README and the pages of docs, relative to the source directory.
std::vector<std::string> documents() {
  std::vector<std::string> names{"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(SOURCE_DIR) / "docs")) {
    if (entry.path().extension() == ".md") {
      names.push_back("docs/" + entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const std::string& document) {
  return base::read_file(std::filesystem::path(SOURCE_DIR) / document);
}

/// The targets of a Markdown text's relative links, without anchors.
std::vector<std::string> linked_files(const std::string& markdown) {
  std::vector<std::string> files;
  for (std::size_t at = markdown.find("]("); at != std::string::npos; at = markdown.find("](", at + 2)) {
    const std::size_t end = markdown.find_first_of(")#", at + 2);
    const std::string target = markdown.substr(at + 2, end - at - 2);
    if (!target.empty() && !target.starts_with("http")) {
      files.push_back(target);
    }
  }
  return files;
}

TEST(Documents, BlocksAreFound) {
  EXPECT_THAT(
      shell_blocks(
          "a\n```sh\none\ntwo\n```\n```text\nno\n```\n```sh not-tested\nno\n```\n```sh\nthree\n```\n"),
      ElementsAre("one\ntwo\n", "three\n"));
}

TEST(Documents, LinksAreFound) {
  EXPECT_THAT(linked_files("[a](docs/a.md), [b](b.md#part), [c](#here), [d](https://x.y) ![e](e.png)"),
              ElementsAre("docs/a.md", "b.md", "e.png"));
}

TEST(Documents, ReadmeShowsCommands) {
  EXPECT_GE(shell_blocks(text_of("README.md")).size(), 3U) << "are their blocks marked ```sh?";
}

/// The words that follow `option` in a text, up to one that is no name.
std::vector<std::string> words_after(const std::string& text, const std::string& option) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  bool follows = false;
  for (std::string word; stream >> word;) {
    follows = word == option || (follows && std::isalpha(static_cast<unsigned char>(word.front())) != 0);
    if (follows && word != option) {
      words.push_back(word);
    }
  }
  return words;
}

/// Its commands take too long for a test.
TEST(Documents, DevelopNamesPresetsAndTestsThatExist) {
  const auto text = text_of("docs/develop.md");
  const auto presets = text_of("CMakePresets.json");
  const auto tests = text_of("tests/CMakeLists.txt");
  EXPECT_THAT(words_after("a --target b c && d --target e", "--target"), ElementsAre("b", "c", "e"));
  const auto names = words_after(text, "--preset");
  EXPECT_GE(names.size(), 9U);
  for (const auto& name : names) {
    EXPECT_NE(presets.find("{\"name\": \"" + name + "\""), std::string::npos) << name;
  }
  const auto targets = words_after(text, "--target");
  EXPECT_GE(targets.size(), 3U);
  for (const auto& target : targets) {
    EXPECT_NE(tests.find("gnomon_test(" + target.substr(target.find('_') + 1) + " "), std::string::npos)
        << target;
  }
}

class Document : public testing::TestWithParam<std::string> {};

// Every command that a document shows runs, block after block in one directory, as for someone who follows
// it.
TEST_P(Document, CommandsRun) {
  const Workplace place;
  place.write("gnomon.sh", "#!/bin/sh\nexec \"" + std::string(GNOMON_PROGRAM) + "\" \"$@\"\n");
  std::filesystem::permissions(place.path() / "gnomon.sh", std::filesystem::perms::owner_all);
  for (const auto& block : shell_blocks(text_of(GetParam()))) {
    const auto outcome = run_program_at("/bin/sh", {"-euc", block}, place.path());
    ASSERT_EQ(outcome.code, 0) << block << "\n" << outcome.out << outcome.error;
  }
}

TEST_P(Document, LinksLeadSomewhere) {
  const auto folder = (std::filesystem::path(SOURCE_DIR) / GetParam()).parent_path();
  for (const auto& file : linked_files(text_of(GetParam()))) {
    EXPECT_TRUE(std::filesystem::exists(folder / file)) << GetParam() << " links " << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Document, testing::ValuesIn(documents()), [](const auto& document) {
  std::string name = document.param.substr(0, document.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace gnomon::apps
