#include "runtime/emulated/zero_copy_reads.h"

#include <gtest/gtest.h>

#include <vector>

namespace gnomon::runtime::emulated {
namespace {

using kernels::device::Reads;

/// Mapped memory that begins a line.
class ZeroCopyReadsTest : public ::testing::Test {
 protected:
  ZeroCopyReadsTest() { mapped_.add(at(0), 4096); }
  const std::byte* at(std::int64_t offset) const { return memory_ + offset; }
  ZeroCopyReads row(std::int64_t offset, std::int64_t bytes, Reads reads, int line_bytes = 128) const {
    Coalescer coalescer(mapped_, peers_, line_bytes);
    coalescer.read_row(at(offset), bytes, reads);
    return coalescer.finish().host;
  }
  alignas(128) std::byte memory_[8192] = {};
  MappedRanges mapped_, peers_;
};

TEST_F(ZeroCopyReadsTest, RowsReadTheLinesThatTheyTouch) {
  EXPECT_EQ(row(0, 512, Reads::shifted), (ZeroCopyReads{4, 512}));
  EXPECT_EQ(row(0, 512, Reads::straight), (ZeroCopyReads{4, 512}));
  // ceil((64 + 400) / 128) lines; only the first and the last request are of a part of a line.
  EXPECT_EQ(row(64, 400, Reads::shifted), (ZeroCopyReads{4, 416}));
  // Each of the four pieces of 128 bytes but the last, which is of 16, is split in two.
  EXPECT_EQ(row(64, 400, Reads::straight), (ZeroCopyReads{7, 416}));
  EXPECT_EQ(row(100, 40, Reads::shifted), (ZeroCopyReads{2, 64}));
  EXPECT_EQ(row(8, 8, Reads::straight), (ZeroCopyReads{1, 32}));
}

TEST_F(ZeroCopyReadsTest, SmallerRequestsAreMore) {
  EXPECT_EQ(row(0, 512, Reads::shifted, 64), (ZeroCopyReads{8, 512}));
  EXPECT_EQ(row(0, 512, Reads::shifted, 32), (ZeroCopyReads{16, 512}));
  EXPECT_EQ(row(32, 400, Reads::shifted, 64), (ZeroCopyReads{7, 416}));
  // Each of the warp's reads of 128 bytes begins and ends in the middle of a request.
  EXPECT_EQ(row(32, 256, Reads::straight, 64), (ZeroCopyReads{6, 256}));
}

TEST_F(ZeroCopyReadsTest, NeighbouringReadsOfOneLineAreOneRequest) {
  Coalescer coalescer(mapped_, peers_, 128);
  for (const std::int64_t offset : {0, 4, 8, 40, 200, 204, 0}) {
    coalescer.read(at(offset), 4);
  }
  // Sectors 0 and 1 of the first line, one of the second, and the first line again.
  EXPECT_EQ(coalescer.finish().host, (ZeroCopyReads{3, 64 + 32 + 32}));
}

TEST_F(ZeroCopyReadsTest, TheDevicesOwnMemoryIsNotReadOverTheLink) {
  EXPECT_EQ(row(4096, 512, Reads::shifted), ZeroCopyReads{});
  mapped_.add(at(4096), 4096);
  EXPECT_EQ(row(4096, 512, Reads::shifted), (ZeroCopyReads{4, 512}));
  mapped_.remove(at(0));
  EXPECT_EQ(row(0, 512, Reads::shifted), ZeroCopyReads{});
  EXPECT_EQ(row(4096, 512, Reads::shifted), (ZeroCopyReads{4, 512}));
}

}  // namespace
}  // namespace gnomon::runtime::emulated
