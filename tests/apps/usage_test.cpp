#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/command.h"
#include "program.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : all_commands()) {
    names.emplace_back(command.name);
  }
  return names;
}

TEST(Usage, HelpListsEveryCommand) {
  const auto outcome = run_gnomon({"--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.error, "");
  for (const auto& name : command_names()) {
    EXPECT_THAT(outcome.out, HasSubstr("\n  " + name + " "));
  }
}

TEST(Usage, VersionIsOneLine) {
  const auto outcome = run_gnomon({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, ::testing::MatchesRegex("gnomon [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

class EveryCommand : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryCommand, HelpEndsWithAnExampleOfItself) {
  const auto outcome = run_gnomon({GetParam(), "--help"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, HasSubstr("Usage: gnomon " + GetParam()));
  const auto example = outcome.out.find("\nExample:\n  gnomon " + GetParam());
  ASSERT_NE(example, std::string::npos) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin() + static_cast<std::ptrdiff_t>(example), outcome.out.end(), '\n'),
            3);
}

TEST_P(EveryCommand, UnknownFlagIsOneLineAndCode2) {
  const auto outcome = run_gnomon({GetParam(), "--no-such-flag"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("gnomon " + GetParam() + ": "));
  EXPECT_THAT(outcome.error, HasSubstr("--help"));
}

INSTANTIATE_TEST_SUITE_P(Usage, EveryCommand, ::testing::ValuesIn(command_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Usage, NoCommandAndUnknownCommandSayWhatToDo) {
  EXPECT_EQ(run_gnomon({}).code, 2);
  const auto outcome = run_gnomon({"frobnicate"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "gnomon: \"frobnicate\" is not a command; see gnomon --help\n");
  EXPECT_EQ(run_gnomon({"trian"}).error, "gnomon: \"trian\" is not a command; did you mean train?\n");
}

TEST(Usage, AGraphStoreIsNoProfile) {
  const Workplace place;
  place.write("store/meta.json", "{}");
  const auto outcome = run_gnomon({"tune", "store"}, place.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("PROFILE: \"store\" is a graph store; profile it first"));
  place.write("g.npz", "");
  for (const char* command : {"info", "convert"}) {
    EXPECT_THAT(run_gnomon({command, "g.npz", "out"}, place.path()).error,
                HasSubstr(command == std::string("info") ? "one argument too many"
                                                         : "g.npz: is a file, not a graph store"));
  }
}

TEST(Usage, MachineFactsAreADocument) {
  const auto outcome = run_gnomon({"info", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto document = base::Json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "gnomon.info/1");
  EXPECT_GE(document["machine"]["cores"].get<int>(), 1);
  EXPECT_GT(document["machine"]["memory_bytes"].get<double>(), 1e6);
  EXPECT_FALSE(document["build"]["cuda_reason"].get<std::string>().empty());
  EXPECT_THAT(run_gnomon({"info"}).out, HasSubstr(document["build"]["libtorch"].get<std::string>()));
}

// The program that answers at once must not load LibTorch.
TEST(Usage, GnomonDoesNotNeedLibTorch) {
  const auto outcome = run_program_at("/usr/bin/env", {"ldd", GNOMON_PROGRAM}, "/");
  if (outcome.code != 0) {
    GTEST_SKIP() << "needs ldd: " << outcome.error;
  }
  EXPECT_THAT(outcome.out, HasSubstr("libsimgrid"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("torch")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("libc10")));
}

TEST(Usage, FullOutputIsAFailure) {
  const auto outcome =
      run_program_at("/bin/sh", {"-c", std::string(GNOMON_PROGRAM) + " info >/dev/full"}, "/");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "gnomon info: standard output: cannot be written\n");
}

}  // namespace
}  // namespace gnomon::apps
