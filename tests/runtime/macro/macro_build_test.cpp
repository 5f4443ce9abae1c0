#include "runtime/macro/macro_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "base/index.h"
#include "kernels/cpu/member_ranks.h"
#include "tests/random_seed.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

constexpr std::int64_t num_vertices = 200;

/// Hubs whose lists are ascending random vertices.
ResidentHubs random_hubs(std::mt19937_64& random) {
  ResidentHubs hubs;
  std::set<VertexId> chosen;
  while (chosen.size() < 12) {
    chosen.insert(static_cast<VertexId>(random() % num_vertices));
  }
  hubs.vertices.assign(chosen.begin(), chosen.end());
  std::vector<std::uint32_t> entries;
  for (std::size_t hub = 0; hub < hubs.vertices.size(); ++hub) {
    std::set<std::uint32_t> list;
    for (std::uint64_t draws = random() % 150; draws > 0; --draws) {
      list.insert(static_cast<std::uint32_t>(random() % num_vertices));
    }
    entries.insert(entries.end(), list.begin(), list.end());
    hubs.indptr.push_back(std::ssize(entries));
  }
  std::memcpy(hubs.lists.resize(entries.size(), sizeof(std::uint32_t)), entries.data(),
              entries.size() * sizeof(std::uint32_t));
  hubs.features.resize(hubs.vertices.size());
  return hubs;
}

/// The lists of all hubs outside of two parts, in local ids.
std::vector<std::vector<std::uint32_t>> lists_by(const ResidentHubs& hubs) {
  const std::vector<MacroBuild::Part> parts{{30, 60}, {110, 140}};
  MacroArrays memory;
  memory.indices.reserve(at(hubs.indptr.back()) + kernels::cpu::member_ranks_slack, 0);
  memory.features.data.reserve(num_vertices, 0);
  MacroBuild build(num_vertices, 1, parts, hubs, std::move(memory));
  for (const auto& part : parts) {
    build.add_hubs(part.begin);
    build.skip_hubs(part.end);
  }
  build.add_hubs(num_vertices);
  const auto& arrays = build.arrays();
  std::vector<std::vector<std::uint32_t>> lists;
  for (std::size_t i = 0; i + 1 < arrays.indptr.size(); ++i) {
    lists.emplace_back(arrays.indices.data() + arrays.indptr[i],
                       arrays.indices.data() + arrays.indptr[i + 1]);
  }
  return lists;
}

// Ascending lists are visited in pieces, others whole.
TEST(MacroBuild, AscendingListsGiveWhatOthersDo) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    auto hubs = random_hubs(random);
    const auto whole = lists_by(hubs);
    hubs.find_hub_entries(num_vertices);
    ASSERT_TRUE(hubs.ascends);
    EXPECT_EQ(lists_by(hubs), whole);
    EXPECT_FALSE(whole.empty());
  }
}

TEST(ResidentHubs, KeepNoEntriesOfListsThatDoNotAscend) {
  std::mt19937_64 random(1);
  auto hubs = random_hubs(random);
  std::vector<std::uint32_t> entries{7, 3};
  hubs.vertices.resize(1);
  hubs.indptr = {0, 2};
  std::memcpy(hubs.lists.resize(2, sizeof(std::uint32_t)), entries.data(), 2 * sizeof(std::uint32_t));
  hubs.find_hub_entries(num_vertices);
  EXPECT_FALSE(hubs.ascends);
  EXPECT_TRUE(hubs.hub_entries.empty());
}

}  // namespace
}  // namespace gnomon::runtime
