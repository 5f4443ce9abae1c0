#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bench/repeated_gather.h"
#include "kernels/device/gather-inl.h"
#include "tests/kernels/gather_contract.h"
#include "tests/kernels/gather_on_device.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

using graph::VertexId;

struct ThreeHostThreads {
  HostExecutor executor{3};
};

template <device::Reads How, bool Cached, bool ByPlace = false>
using GatherOnHost = GatherOnDevice<ThreeHostThreads, How, Cached, ByPlace>;

using Shifted = GatherOnHost<device::Reads::shifted, false>;
using Straight = GatherOnHost<device::Reads::straight, false>;
using ShiftedCached = GatherOnHost<device::Reads::shifted, true>;

using ByPlaceCached = GatherOnHost<device::Reads::shifted, true, true>;

INSTANTIATE_TYPED_TEST_SUITE_P(DeviceByPlace, GatherContract, ByPlaceCached);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceShifted, GatherContract, Shifted);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceStraight, GatherContract, Straight);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCached, GatherContract, ShiftedCached);

/// A unit of a row that tells when it is read, as a device's memory system would see it.
struct Watched {
  struct Read {
    std::int64_t thread;
    const Watched* at;
  };
  static inline std::vector<Read> reads;
  static inline std::int64_t thread;

  Watched& operator=(const Watched& other) {
    reads.push_back({thread, &other});
    return *this;
  }
  std::uint32_t value = 0;
};

/// How many requests of one line each a warp makes for a row: those of its threads' reads in one round that
/// fall into one line of 128 bytes are one.
std::size_t requests_for_row(std::int64_t row, std::int64_t units, bool is_shifted) {
  alignas(128) static Watched all[4096];
  std::vector<Watched> out(static_cast<std::size_t>(units));
  const device::passes::GatherRows<Watched> body{all, nullptr,    nullptr, units,
                                                 0,   is_shifted, &row,    out.data()};
  Watched::reads.clear();
  for (Watched::thread = 0; Watched::thread < 32; ++Watched::thread) {
    body(Watched::thread);
  }
  EXPECT_EQ(std::ssize(Watched::reads), units);
  std::set<std::pair<std::int64_t, std::int64_t>> requests;
  for (const auto& read : Watched::reads) {
    const std::int64_t unit = read.at - (all + row * units);
    const std::int64_t shift = ((read.thread - unit) % 32 + 32) % 32;
    requests.emplace((unit + shift) / 32, (read.at - all) / 32);
  }
  return requests.size();
}

TEST(DeviceGather, ShiftedReadsMakeOneRequestALine) {
  // Rows of 200 bytes: row 3 begins 88 bytes into a line and ends 32 bytes into the third one.
  EXPECT_EQ(requests_for_row(3, 50, true), 3U);
  EXPECT_EQ(requests_for_row(3, 50, false), 4U);
  // Rows of 516 bytes: row 5 begins 20 bytes into a line.
  EXPECT_EQ(requests_for_row(5, 129, true), 5U);
  EXPECT_EQ(requests_for_row(5, 129, false), 9U);
  // Rows that begin at lines.
  EXPECT_EQ(requests_for_row(7, 64, true), 2U);
  EXPECT_EQ(requests_for_row(7, 64, false), 2U);
}

TEST(DeviceGather, TwoNarrowRowsShareAWarp) {
  alignas(128) static Watched all[4096];
  const std::vector<std::int64_t> rows{3, 9};
  std::vector<Watched> out(32);
  const device::passes::GatherRows<Watched> body{all, nullptr, nullptr, 16, 0, true, rows.data(), out.data()};
  EXPECT_EQ(body.lanes, 16);
  Watched::reads.clear();
  for (Watched::thread = 0; Watched::thread < 32; ++Watched::thread) {
    body(Watched::thread);
  }
  ASSERT_EQ(Watched::reads.size(), 32U);
  for (const auto& read : Watched::reads) {
    EXPECT_EQ((read.at - all) / 16, rows[static_cast<std::size_t>(read.thread / 16)]);
  }
}

/// All of the known rows, those of lower places first; a place is a range of at most a thousandth of the
/// table.
TEST(DeviceGather, OrdersRowsByTheirPlaces) {
  constexpr std::int64_t table_rows = 1'000'000;
  constexpr std::int64_t known = 4000;
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> vertices(5000);
  std::generate(vertices.begin(), vertices.end(),
                [&] { return static_cast<std::int64_t>(random() % table_rows); });
  HostExecutor executor(3);
  const auto order =
      device::passes::order_by_place(executor, vertices.data(), std::ssize(vertices), &known, table_rows);
  std::set<std::int32_t> numbers(order.data, order.data + known);
  EXPECT_EQ(std::ssize(numbers), known);
  EXPECT_EQ(*numbers.rbegin(), known - 1);
  std::int64_t highest = 0;
  for (std::int64_t i = 0; i < known; ++i) {
    const std::int64_t vertex = vertices[static_cast<std::size_t>(order.data[i])];
    EXPECT_GT(vertex, highest - table_rows / 1000) << i;
    highest = std::max(highest, vertex);
  }
}

/// Rows beyond the known ones stay as they are.
TEST(DeviceGather, CopiesTheKnownRowsByPlace) {
  constexpr std::int64_t known = 3000;
  std::vector<std::int32_t> table(100'000);
  std::iota(table.begin(), table.end(), 0);
  const test::RandomSeed seed(8);
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> vertices(4096);
  std::generate(vertices.begin(), vertices.end(),
                [&] { return static_cast<std::int64_t>(random() % table.size()); });
  std::vector<std::int32_t> out(vertices.size(), -1);
  HostExecutor executor(2);
  device::gather_rows_by_place(executor,
                               {reinterpret_cast<const std::byte*>(table.data()), 4, nullptr, nullptr},
                               std::ssize(table), device::Reads::straight, vertices.data(),
                               std::ssize(vertices), reinterpret_cast<std::byte*>(out.data()), &known);
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], i < known ? vertices[i] : -1) << i;
  }
}

TEST(DeviceGather, CountsVisitsAndDegrees) {
  const auto graph = test::skewed_graph(100, 3);
  HostExecutor executor(3);
  std::vector<VertexId> vertices;
  std::vector<std::uint32_t> expected(100);
  const test::RandomSeed seed(4);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    vertices.push_back(static_cast<VertexId>(random() % 100));
    ++expected[static_cast<std::size_t>(vertices.back())];
  }
  std::vector<std::uint32_t> visits(100);
  device::count_visits(executor, vertices.data(), std::ssize(vertices), visits.data());
  EXPECT_EQ(visits, expected);

  const device::Topology topology{{graph.indptr.data(), graph.indices.wide().data(), nullptr, nullptr},
                                  100,
                                  nullptr,
                                  {},
                                  nullptr,
                                  nullptr};
  std::vector<float> degrees(vertices.size());
  device::gather_degrees(executor, topology, vertices.data(), std::ssize(vertices), degrees.data());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    ASSERT_EQ(degrees[i], static_cast<float>(graph.degree(vertices[i])));
  }
}

// What the benchmarks of a GPU gather (bench/repeated_gather.h).

/// Calls a function after each kernel.
class NotingExecutor : public HostExecutor {
 public:
  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    HostExecutor::for_each(count, body);
    after_launch();
  }
  std::function<void()> after_launch = [] {};
};

/// A row is its number, so that a gather's output tells which rows it has read.
TEST(RepeatedGather, ReadsOtherRowsEachTimeAndWaitsOnce) {
  constexpr std::int64_t num_rows = 1 << 22;
  std::vector<std::int64_t> rows(num_rows);
  for (std::int64_t row = 0; row < num_rows; ++row) {
    rows[static_cast<std::size_t>(row)] = row;
  }
  NotingExecutor executor;
  bench::RepeatedGather<NotingExecutor> gather(executor, num_rows, sizeof(std::int64_t));
  std::vector<std::set<std::int64_t>> read;
  executor.after_launch = [&] {
    std::vector<std::int64_t> found(gather.rows_of_gather);
    std::memcpy(found.data(), gather.last(), found.size() * sizeof(std::int64_t));
    read.emplace_back(found.begin(), found.end());
  };
  int waits = 0;
  gather.run({reinterpret_cast<const std::byte*>(rows.data()), sizeof(std::int64_t), nullptr, nullptr},
             device::Reads::straight, [&] { ++waits; });
  EXPECT_EQ(waits, 1);
  ASSERT_EQ(std::ssize(read), gather.gathers);
  // Of two gathers, at most a few rows are the same by chance: 200,000 of 4 million are a twentieth.
  for (std::size_t i = 1; i < read.size(); ++i) {
    std::vector<std::int64_t> again;
    std::set_intersection(read[i - 1].begin(), read[i - 1].end(), read[i].begin(), read[i].end(),
                          std::back_inserter(again));
    EXPECT_LT(std::ssize(again), gather.rows_of_gather / 10) << i;
  }
  EXPECT_EQ(gather.bytes(), 2'000'000 * 8) << "more rows than a GPU's cache has room for";
}

}  // namespace
}  // namespace gnomon::kernels
