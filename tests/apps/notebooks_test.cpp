#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "program.h"

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path folder = fs::path(SOURCE_DIR) / "notebooks";

std::vector<fs::path> notebooks() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ipynb") {
      paths.push_back(entry.path());
    }
  }
  return paths;
}

/// The environment that notebooks/run.py tells how to make, or else any Python.
std::string python() {
  const auto own = fs::path(SOURCE_DIR) / "build" / "notebooks" / "bin" / "python";
  return fs::exists(own) ? own.string() : "python3";
}

TEST(Notebooks, ReadOnlyWhatGnomonWrote) {
  EXPECT_GE(notebooks().size(), 5U);
  for (const auto& path : notebooks()) {
    const auto document = base::Json::parse(base::read_file(path));
    for (const auto& cell : document["cells"]) {
      std::string source;
      for (const auto& line : cell["source"]) {
        source += line.get<std::string>();
      }
      if (cell["cell_type"] == "code") {
        EXPECT_THAT(source, Not(HasSubstr("open("))) << path;
        EXPECT_THAT(source, Not(HasSubstr("read_"))) << path;
        EXPECT_TRUE(cell["outputs"].empty()) << path << ": outputs stay out of the repository";
      }
    }
  }
}

TEST(Notebooks, Run) {
  const Workplace place;
  const auto outcome = run_program_at(
      "/bin/sh",
      {"-c",
       "command -v \"$0\" >/dev/null || { echo no \"$0\" >&2; exit 77; }; exec \"$0\" \"$@\" --files files",
       python(), (folder / "run.py").string(), GNOMON_PROGRAM},
      place.path());
  if (outcome.code == 77) {
    GTEST_SKIP() << outcome.error;
  }
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  for (const auto& path : notebooks()) {
    EXPECT_THAT(outcome.out, HasSubstr(path.filename().string() + ": "));
  }
}

}  // namespace
}  // namespace gnomon::apps
