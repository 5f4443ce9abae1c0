#include "graph/store/scratch_file.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

TEST(ScratchFile, ReadsWhatWasAppendedAndLeavesNothingBehind) {
  const test::TemporaryDirectory directory;
  ScratchFile file(directory.path());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  const std::string first = "first";
  const std::string second = "second";
  EXPECT_EQ(file.append(std::as_bytes(std::span(first))), 0);
  EXPECT_EQ(file.append(std::as_bytes(std::span(second))), 5);
  EXPECT_EQ(file.size(), 11);
  const ScratchFile moved = std::move(file);
  std::string read(second.size(), ' ');
  moved.read(5, std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, second);
  EXPECT_THROW(moved.read(6, std::as_writable_bytes(std::span(read))), base::Failure);
}

TEST(ScratchFile, RefusesADirectoryThatIsNone) {
  EXPECT_THROW(ScratchFile("/nowhere/at/all"), base::Failure);
}

}  // namespace
}  // namespace gnomon::graph
