// gnomon_run with programs of the tests in the place of gnomon. python/tests runs the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "python/c_api/gnomon.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::c_api {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class GnomonRun : public testing::Test {
 protected:
  /// Runs a request with this shell script as the program.
  gnomon_status run(const std::string& script, const char* request, gnomon_progress progress = nullptr) {
    const auto program = directory_.path() / "program";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    char* text = nullptr;
    const auto status = gnomon_run(program.c_str(), request, progress, &steps, &text);
    result = text == nullptr ? "" : text;
    gnomon_text_free(text);
    return status;
  }

  std::string result;
  std::string steps;  ///< that were reported

 private:
  test::TemporaryDirectory directory_;
};

constexpr const char* show_arguments = "for each in \"$@\"; do printf '<%s>' \"$each\"; done";

TEST_F(GnomonRun, MakesACommandLineOfTheRequest) {
  const char* request =
      R"({"command": "tune", "arguments": ["p.json", 3],
          "options": {"device_memory": "8GiB", "front": true, "simulated": false, "seed": 7, "machine": null,
                      "set": ["a=1,2", "b=3"]}})";
  ASSERT_EQ(run(show_arguments, request), GNOMON_OK) << gnomon_last_error();
  EXPECT_EQ(result,
            "<tune><p.json><3><--device-memory=8GiB><--front><--seed=7><--set=a=1,2><--set=b=3><--json>");
}

TEST_F(GnomonRun, DocumentsStandForFiles) {
  ASSERT_EQ(run("cat \"$2\"; echo; echo \"$2\"",
                R"({"command": "explore", "arguments": [{"machine": {"x": 1.5}}]})"),
            GNOMON_OK);
  EXPECT_TRUE(result.starts_with("{\"machine\":{\"x\":1.5}}\n")) << result;
  const auto file = result.substr(result.find('\n') + 1);
  EXPECT_FALSE(fs::exists(file.substr(0, file.size() - 1)));
}

TEST_F(GnomonRun, ErrorsAreThoseOfTheCommand) {
  EXPECT_EQ(run("echo 'note: read' >&2; echo 'gnomon tune: --budget: is wrong' >&2; exit 2",
                R"({"command": "tune"})"),
            GNOMON_INVALID_INPUT);
  EXPECT_STREQ(gnomon_last_error(), "--budget: is wrong");
  EXPECT_EQ(run("echo 'gnomon tune: disk full' >&2; exit 1", R"({"command": "tune"})"), GNOMON_FAILURE);
  EXPECT_STREQ(gnomon_last_error(), "disk full");
  EXPECT_EQ(run("kill -9 $$", R"({"command": "tune"})"), GNOMON_FAILURE);
  EXPECT_THAT(gnomon_last_error(), HasSubstr("signal 9"));
  for (const char* request : {"[]", "{", R"({"command": 3})", R"({"command": "tune", "argument": []})",
                              R"({"command": "tune", "options": {"seed": [[1]]}})"}) {
    EXPECT_EQ(run("true", request), GNOMON_INVALID_INPUT) << request;
  }
}

TEST_F(GnomonRun, ProgressIsPassedOnAndCancels) {
  const auto note = [](void* data, const char* step, std::int64_t done, std::int64_t total) {
    auto& seen = *static_cast<std::string*>(data);
    const auto line = std::string(step) + " " + std::to_string(done) + "/" + std::to_string(total) + "\n";
    if (*step != '\0' && !seen.ends_with(line)) {
      seen += line;
    }
    return std::int32_t{done == 3};
  };
  const std::string report = "printf '1 4 first step\\n3 4 second\\n' >&$GNOMON_REPORT_FILE; ";
  EXPECT_EQ(run(report + "trap 'exit 1' INT; while :; do sleep 0.05; done", R"({"command": "tune"})", note),
            GNOMON_CANCELLED);
  EXPECT_EQ(steps, "first step 1/4\nsecond 3/4\n");
}

}  // namespace
}  // namespace gnomon::c_api
