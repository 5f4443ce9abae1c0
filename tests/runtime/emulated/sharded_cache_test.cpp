#include "runtime/emulated/sharded_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/cache/cache_parts.h"
#include "runtime/cache/entry_costs.h"
#include "runtime/cache/fill_cache.h"
#include "runtime/preparation/batch_maker-inl.h"
#include "runtime/preparation/device_graph-inl.h"
#include "tests/runtime/emulated/test_clock.h"
#include "tests/runtime/test_runs.h"

/// Devices that hold parts of one cache, in their own time: what they read of each other, counted again from
/// the mini-batches of the host's sampler.
namespace gnomon::runtime::emulated {
namespace {

using graph::VertexId;
using kernels::device::Reads;

constexpr EmulatedLink fast{
    .bandwidth_bytes_per_s = 1e15, .round_trip_s = 0, .outstanding_reads = 1e18, .header_bytes = 0};
constexpr EmulatedLink between{
    .bandwidth_bytes_per_s = 1e6, .round_trip_s = 0, .outstanding_reads = 1e18, .header_bytes = 0};

class Member {
 public:
  Member(TestClock& clock, SharedLink& peers, const PlacedGraph& placed)
      : link_(fast, clock),
        hardware_(arena, link_, clock),
        executor_(hardware_.make_executor(1)),
        graph_(place_on_device(
            executor_, [this](const void* data, std::size_t bytes) { return hardware_.map(data, bytes); },
            placed, plan::Plan{})) {
    hardware_.use_peer_link(peers);
  }
  ShardedCache::Member handle() { return {arena, &link_}; }
  void place(const std::shared_ptr<const ShardedCache>& cache, std::size_t number) {
    ShardedCache::place(cache, number, handle(), hardware_, graph_);
  }
  void drop() { drop_cache(graph_); }
  BatchMaker<EmulatedExecutor> maker(const plan::Job& job) {
    return {executor_, graph_, job.fanouts, Reads::shifted, at::kCPU};
  }
  void run(const std::function<void()>& act) { hardware_.run(act); }

  std::shared_ptr<DeviceArena> arena = std::make_shared<DeviceArena>(std::int64_t{256} << 20);

 private:
  SharedLink link_;
  EmulatedHardware hardware_;
  EmulatedExecutor executor_;
  DeviceGraph graph_;
};

class ShardedCacheTest : public ::testing::Test {
 protected:
  ShardedCacheTest() {
    for (int i = 0; i < 3; ++i) {
      members_.push_back(std::make_unique<Member>(clock_, peers_, placed_));
    }
  }

  std::vector<VertexId> seeds(std::int64_t batch) const {
    const auto order = graph::epoch_order(placed_.graph.train, job_.seed, 0);
    const auto seeds = graph::batch_seeds(order, job_.batch_size, batch);
    return {seeds.begin(), seeds.end()};
  }
  kernels::BatchKey key(std::int64_t batch) const {
    return {job_.seed, 0, static_cast<std::uint64_t>(batch)};
  }
  std::vector<CacheContent> share(const CacheContent& content) {
    const auto sizes = entry_sizes(placed_.graph.features, placed_.topology);
    const std::vector<std::int64_t> capacities(members_.size(), std::int64_t{1} << 40);
    auto parts = distribute(content, placed_.graph, sizes, capacities);
    std::vector<ShardedCache::Member> handles;
    for (const auto& member : members_) {
      handles.push_back(member->handle());
    }
    const auto cache = std::make_shared<const ShardedCache>(placed_, parts, handles);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      members_[i]->place(cache, i);
    }
    return parts;
  }
  /// Every third vertex's row, every second one's list.
  CacheContent some() const {
    CacheContent content;
    for (VertexId v = 0; v < placed_.graph.num_vertices(); ++v) {
      if (v % 3 != 1) {
        content.rows.push_back(v);
      }
      if (v % 2 == 1) {
        content.lists.push_back(v);
      }
    }
    return content;
  }
  /// The reads of an epoch by one device, and what the parts answer.
  CacheUse counted(const std::vector<CacheContent>& parts, std::size_t own) const {
    CacheUse use;
    kernels::cpu::Sampler sampler(placed_.topology, job_.fanouts);
    const auto add = [&](VertexId vertex, std::vector<VertexId> CacheContent::*kind, std::int64_t& all,
                         std::int64_t& hits, std::int64_t& peer_hits) {
      ++all;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto& held = parts[part].*kind;
        const bool hit = std::find(held.begin(), held.end(), vertex) != held.end();
        hits += hit ? 1 : 0;
        peer_hits += hit && part != own ? 1 : 0;
      }
    };
    for (std::int64_t batch = 0; batch < num_batches; ++batch) {
      kernels::MiniBatch sampled;
      sampler.sample(key(batch), seeds(batch), sampled);
      for (const auto vertex : sampled.vertices) {
        add(vertex, &CacheContent::rows, use.rows, use.row_hits, use.row_peer_hits);
      }
      for (const auto& block : sampled.blocks) {
        for (std::int64_t i = 0; i < block.num_destinations; ++i) {
          add(sampled.vertices[static_cast<std::size_t>(i)], &CacheContent::lists, use.lists, use.list_hits,
              use.list_peer_hits);
        }
      }
    }
    return use;
  }

  static constexpr std::int64_t num_batches = 4;
  plan::Job job_ = small_job(plan::ModelKind::sage);
  graph::Graph graph_ = test::planted_graph(1500, 32);
  PlacedGraph placed_ = place(graph_, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0});
  TestClock clock_;
  SharedLink peers_{between, clock_};
  std::vector<std::unique_ptr<Member>> members_;
};

TEST_F(ShardedCacheTest, PeersAnswerWhatTheyHold) {
  const auto parts = share(some());
  for (std::size_t device = 0; device < members_.size(); ++device) {
    auto maker = members_[device]->maker(job_);
    members_[device]->run([&] {
      for (std::int64_t batch = 0; batch < num_batches; ++batch) {
        (void)maker.prepare(key(batch), seeds(batch));
      }
    });
    const auto use = maker.take_cache_use();
    EXPECT_EQ(use, counted(parts, device));
    EXPECT_GT(use.row_peer_hits, use.row_hits / 2);
    EXPECT_GT(use.list_peer_hits, use.list_hits / 2);
  }
}

TEST_F(ShardedCacheTest, MiniBatchesAreTheHosts) {
  share(some());
  kernels::cpu::Sampler sampler(placed_.topology, job_.fanouts);
  auto maker = members_[1]->maker(job_);
  for (std::int64_t batch = 0; batch < num_batches; ++batch) {
    BatchData expected;
    prepare_batch(placed_.graph, sampler, key(batch), seeds(batch), expected);
    const auto tensors = view_of(expected);
    DeviceBatch made;
    members_[1]->run([&] { made = maker.prepare(key(batch), seeds(batch)); });
    EXPECT_TRUE(made.tensors.features.equal(tensors.features));
    ASSERT_EQ(made.tensors.blocks.size(), tensors.blocks.size());
    for (std::size_t hop = 0; hop < tensors.blocks.size(); ++hop) {
      EXPECT_TRUE(made.tensors.blocks[hop]->indices().equal(tensors.blocks[hop]->indices()));
      EXPECT_TRUE(made.tensors.blocks[hop]->indptr().equal(tensors.blocks[hop]->indptr()));
    }
  }
}

TEST_F(ShardedCacheTest, ReadsOfPeersTakeTheirBytesOverTheLinkBetweenThem) {
  auto content = some();
  content.lists.clear();
  const auto parts = share(content);
  const auto row_bytes = static_cast<double>(placed_.graph.features.row_bytes());
  ASSERT_EQ(placed_.graph.features.row_bytes() % 32, 0);
  auto maker = members_[2]->maker(job_);
  const double begin_s = clock_.now_s();
  members_[2]->run([&] {
    for (std::int64_t batch = 0; batch < num_batches; ++batch) {
      (void)maker.prepare(key(batch), seeds(batch));
    }
  });
  const double expected_s =
      static_cast<double>(counted(parts, 2).row_peer_hits) * row_bytes / between.bandwidth_bytes_per_s;
  EXPECT_GT(expected_s, 0.01);
  EXPECT_NEAR(clock_.now_s() - begin_s, expected_s, 0.05 * expected_s);
}

TEST_F(ShardedCacheTest, EachPartIsMemoryOfItsDevice) {
  std::vector<std::int64_t> before;
  for (const auto& member : members_) {
    before.push_back(member->arena->used_bytes());
  }
  auto content = some();
  content.lists.clear();
  const auto parts = share(content);
  const std::int64_t tables = 2 * 4 * placed_.graph.num_vertices();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto rows = std::ssize(parts[i].rows) * placed_.graph.features.row_bytes();
    EXPECT_EQ(members_[i]->arena->used_bytes() - before[i], rows + tables);
  }
  for (const auto& member : members_) {
    member->drop();
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    EXPECT_EQ(members_[i]->arena->used_bytes(), before[i]);
  }
}

}  // namespace
}  // namespace gnomon::runtime::emulated
