#include "base/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Host, FactsAreReadFromTheSystemsFiles) {
  const test::TemporaryDirectory root;
  root.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU\nmodel name\t: another\n");
  root.write("proc/driver/nvidia/gpus/0000:41:00.0/information", "Model: \t\t NVIDIA B\nIRQ: 5\n");
  root.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA A\n");
  root.write("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_EQ(cpu_model(root.path()), "A CPU");
  EXPECT_THAT(gpu_models(root.path()), ElementsAre("NVIDIA A", "NVIDIA B"));
  EXPECT_EQ(kernel_release(root.path()), "6.1.0-28-amd64");
  EXPECT_EQ(transparent_huge_pages(root.path()), "madvise");
}

TEST(Host, UnknownFactsAreEmpty) {
  const test::TemporaryDirectory root;
  EXPECT_EQ(cpu_model(root.path()), "");
  EXPECT_THAT(gpu_models(root.path()), IsEmpty());
  EXPECT_EQ(kernel_release(root.path()), "");
  EXPECT_EQ(transparent_huge_pages(root.path()), "");
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "]always[\n");
  EXPECT_EQ(transparent_huge_pages(root.path()), "");
}

TEST(Host, HasAKernel) { EXPECT_FALSE(kernel_release().empty()); }

}  // namespace
}  // namespace gnomon::base
