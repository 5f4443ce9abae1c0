#include "base/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace gnomon::base {
namespace {

std::string failure_of(const std::string& program, const std::vector<std::string>& arguments) {
  try {
    output_of(program, arguments);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(OutputOf, ReturnsWhatAProgramPrints) {
  EXPECT_EQ(output_of("/bin/echo", {"two", "words, and spaces"}), "two words, and spaces\n");
  EXPECT_EQ(output_of("/bin/true", {}), "");
  EXPECT_EQ(output_of("/bin/sh", {"-c", "head -c 300000 /dev/zero"}).size(), 300000U);
}

TEST(OutputOf, NamesTheProgramThatFails) {
  EXPECT_THAT(failure_of("/no/such/program", {}), testing::HasSubstr("/no/such/program"));
  EXPECT_THAT(failure_of("/bin/sh", {"-c", "echo half; exit 3"}), testing::HasSubstr("exit code 3"));
  EXPECT_THAT(failure_of("/bin/sh", {"-c", "kill -9 $$"}), testing::HasSubstr("signal 9"));
}

}  // namespace
}  // namespace gnomon::base
