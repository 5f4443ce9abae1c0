#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "base/index.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/cache/entry_costs.h"
#include "runtime/cache/fill_cache-inl.h"
#include "runtime/cache/presampling-inl.h"
#include "runtime/emulated/emulated_hardware.h"
#include "runtime/preparation/batch_maker-inl.h"
#include "runtime/preparation/device_graph-inl.h"
#include "runtime/speed/link-inl.h"
#include "tests/runtime/emulated/test_clock.h"
#include "tests/runtime/test_runs.h"

/// What an emulated device's caches answer, counted again from the mini-batches of the host's sampler and
/// from the definitions of the policies.
namespace gnomon::runtime::emulated {
namespace {

using graph::VertexId;
using kernels::device::Reads;
using plan::CachePolicy;

constexpr EmulatedLink link_of_tests{
    .bandwidth_bytes_per_s = 1e9, .round_trip_s = 0, .outstanding_reads = 1e9, .request_bytes = 32};

using base::at;

/// A graph on an emulated device in its own time.
class World {
 public:
  World(const graph::Graph& graph, plan::Job job)
      : job_(std::move(job)),
        placed_(place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0})),
        graph_(place_on_device(
            executor_, [this](const void* data, std::size_t bytes) { return hardware_.map(data, bytes); },
            placed_, plan::Plan{})) {}

  const plan::Job& job() const { return job_; }
  const PlacedGraph& placed() const { return placed_; }
  EntryCosts sizes() const { return entry_sizes(placed_.graph.features, placed_.topology); }

  std::vector<kernels::BatchKey> keys(std::uint64_t epoch) const {
    std::vector<kernels::BatchKey> keys;
    const auto batches = graph::num_batches(std::ssize(placed_.graph.train), job_.batch_size);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      keys.push_back({job_.seed, epoch, static_cast<std::uint64_t>(batch)});
    }
    return keys;
  }
  std::vector<VertexId> seeds(const kernels::BatchKey& key) const {
    const auto order = graph::epoch_order(placed_.graph.train, job_.seed, key.epoch);
    const auto seeds = graph::batch_seeds(order, job_.batch_size, static_cast<std::int64_t>(key.batch));
    return {seeds.begin(), seeds.end()};
  }
  /// The epoch's mini-batches by the host's sampler.
  std::vector<kernels::MiniBatch> sampled(std::uint64_t epoch) const {
    kernels::cpu::Sampler sampler(placed_.topology, job_.fanouts);
    std::vector<kernels::MiniBatch> batches;
    for (const auto& key : keys(epoch)) {
      sampler.sample(key, seeds(key), batches.emplace_back());
    }
    return batches;
  }
  Visits presampled() {
    BatchMaker<EmulatedExecutor> maker(executor_, graph_, job_.fanouts, Reads::shifted, at::kCPU);
    return presample(executor_, maker.sampler(), placed_.graph.num_vertices(), placed_.graph.train, job_, {});
  }
  /// Prepares the epoch's mini-batches with these caches.
  PreparedWith prepare(const CacheContent& content, std::uint64_t epoch) {
    fill_cache(executor_, graph_, placed_.graph, content, Reads::shifted, {});
    BatchMaker<EmulatedExecutor> maker(executor_, graph_, job_.fanouts, Reads::shifted, at::kCPU);
    const double seconds = seconds_of(hardware_, [&] {
      for (const auto& key : keys(epoch)) {
        (void)maker.prepare(key, seeds(key));
      }
    });
    return {seconds, maker.take_cache_use()};
  }

 private:
  plan::Job job_;
  PlacedGraph placed_;
  TestClock clock_;
  SharedLink link_{link_of_tests, clock_};
  EmulatedHardware hardware_{std::make_shared<DeviceArena>(std::int64_t{256} << 20), link_, clock_};
  EmulatedExecutor executor_ = hardware_.make_executor(1);
  DeviceGraph graph_;
};

/// How often each vertex's row and list are read in an epoch.
Visits visits_of(const World& world, const std::vector<std::uint64_t>& epochs) {
  const std::size_t vertices = at(world.placed().graph.num_vertices());
  Visits visits{std::vector<std::uint32_t>(vertices), std::vector<std::uint32_t>(vertices)};
  for (const auto epoch : epochs) {
    for (const auto& batch : world.sampled(epoch)) {
      for (const auto vertex : batch.vertices) {
        ++visits.rows[at(vertex)];
      }
      for (const auto& block : batch.blocks) {
        for (std::int64_t i = 0; i < block.num_destinations; ++i) {
          ++visits.lists[at(batch.vertices[static_cast<std::size_t>(i)])];
        }
      }
    }
  }
  return visits;
}

struct Entry {
  VertexId vertex;
  bool is_row;
  std::int64_t bytes;
  double value;
};

/// Holds again and again the entry of the greatest value of those for which there is room; of equal ones the
/// first.
CacheContent best_of(std::vector<Entry> entries, std::int64_t room) {
  CacheContent content;
  while (true) {
    const Entry* best = nullptr;
    for (const auto& entry : entries) {
      if (entry.bytes <= room && (best == nullptr || entry.value > best->value)) {
        best = &entry;
      }
    }
    if (best == nullptr) {
      return content;
    }
    (best->is_row ? content.rows : content.lists).push_back(best->vertex);
    room -= best->bytes;
    entries.erase(entries.begin() + (best - entries.data()));
  }
}

/// What a cache of `bytes` holds by the definition of its policy.
CacheContent by_definition(const World& world, const plan::Cache& cache, const EntryCosts& costs,
                           std::int64_t bytes) {
  const auto& graph = world.placed().graph;
  const auto visits = visits_of(world, {0, 1});
  std::vector<double> degrees(at(graph.num_vertices()));
  for (const auto neighbour : graph.indices) {
    ++degrees[at(neighbour)];
  }
  std::vector<Entry> rows, lists;
  double row_bytes = 0, list_bytes = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    const auto value = [&](const std::vector<std::uint32_t>& counts, double saves_s, std::int64_t size) {
      return cache.policy == CachePolicy::out_degree  ? degrees[at(v)]
             : cache.policy == CachePolicy::presample ? counts[at(v)]
                                                      : counts[at(v)] * saves_s / static_cast<double>(size);
    };
    const bool by_visits = cache.policy != CachePolicy::out_degree;
    const std::int64_t list_size = 8 + graph.degree(v) * costs.index_bytes;
    row_bytes += static_cast<double>(costs.row_bytes);
    list_bytes += static_cast<double>(list_size);
    if (cache.features && (!by_visits || visits.rows[at(v)] > 0)) {
      rows.push_back({v, true, costs.row_bytes, value(visits.rows, costs.row_saves_s, costs.row_bytes)});
    }
    if (cache.topology && (!by_visits || visits.lists[at(v)] > 0)) {
      lists.push_back({v, false, list_size, value(visits.lists, costs.list_saves_s, list_size)});
    }
  }
  if (cache.policy == CachePolicy::value_weight) {
    rows.insert(rows.end(), lists.begin(), lists.end());
    return best_of(std::move(rows), bytes);
  }
  // Other policies hold the same share of both kinds.
  const double all = (cache.features ? row_bytes : 0) + (cache.topology ? list_bytes : 0);
  const auto for_rows =
      static_cast<std::int64_t>(static_cast<double>(bytes) * (cache.features ? row_bytes : 0) / all);
  auto content = best_of(std::move(rows), for_rows);
  content.lists = best_of(std::move(lists), bytes - for_rows).lists;
  return content;
}

/// The reads of an epoch, and those of what the caches hold.
CacheUse counted(const World& world, const CacheContent& content, std::uint64_t epoch) {
  const auto visits = visits_of(world, {epoch});
  const auto sum = [](const std::vector<std::uint32_t>& counts, const std::vector<VertexId>& of) {
    std::int64_t all = 0, held = 0;
    for (const auto count : counts) {
      all += count;
    }
    for (const auto vertex : std::set(of.begin(), of.end())) {
      held += counts[at(vertex)];
    }
    return std::pair(of.empty() ? 0 : all, held);  // nothing is counted without a cache of that kind
  };
  const auto [rows, row_hits] = sum(visits.rows, content.rows);
  const auto [lists, list_hits] = sum(visits.lists, content.lists);
  return {rows, row_hits, lists, list_hits};
}

class CacheHits : public ::testing::TestWithParam<CachePolicy> {
 protected:
  World world_{test::planted_graph(1500, 32), small_job(plan::ModelKind::sage)};
  static constexpr std::int64_t bytes = 30'000;
};

std::vector<plan::Cache> caches_of(CachePolicy policy) {
  std::vector<plan::Cache> caches;
  for (const auto& [features, topology] : {std::pair(true, false), {false, true}, {true, true}}) {
    plan::Cache cache;
    cache.policy = policy;
    cache.features = features;
    cache.topology = topology;
    caches.push_back(cache);
  }
  return caches;
}

TEST_P(CacheHits, AreThoseOfThePolicysDefinition) {
  auto costs = world_.sizes();
  costs.row_saves_s = 2e-7;
  costs.list_saves_s = 5e-8;
  for (const auto& cache : caches_of(GetParam())) {
    const auto content =
        choose_content(world_.placed().graph, cache, world_.presampled(), costs, bytes, world_.job().seed);
    const auto use = world_.prepare(content, 1).use;
    EXPECT_EQ(use, counted(world_, by_definition(world_, cache, costs, bytes), 1));
    EXPECT_EQ(use.row_hits > 0, cache.features);
    EXPECT_EQ(use.list_hits > 0, cache.topology);
    EXPECT_LT(use.row_hits, use.rows + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, CacheHits,
                         ::testing::Values(CachePolicy::out_degree, CachePolicy::presample,
                                           CachePolicy::value_weight),
                         [](const auto& policy) { return std::string(base::name_of(policy.param)); });

TEST(RandomCacheHits, AreThoseOfAnySoManyVertices) {
  World world(test::planted_graph(1500, 32), small_job(plan::ModelKind::sage));
  const auto sizes = world.sizes();
  const std::int64_t bytes = 200 * sizes.row_bytes;
  std::set<std::vector<VertexId>> chosen;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto content =
        choose_content(world.placed().graph, caches_of(CachePolicy::random).front(), {}, sizes, bytes, seed);
    EXPECT_EQ(std::set(content.rows.begin(), content.rows.end()).size(), 200U);
    EXPECT_EQ(world.prepare(content, 1).use, counted(world, content, 1));
    chosen.insert(content.rows);
  }
  EXPECT_EQ(chosen.size(), 3U);
}

/// The requests of 32 bytes that read a list's begin and end, 16 bytes.
std::int64_t header_requests(const World& world, VertexId vertex) {
  const auto address = reinterpret_cast<std::uintptr_t>(world.placed().topology.indptr.data() + vertex);
  return address % 32 == 24 ? 2 : 1;
}

/// The requests that are saved by these lists in an epoch: begin and end of each for sampling and again for
/// its degree, and one for each neighbour that is drawn. Lists are so long that draws hardly share requests.
std::int64_t requests_saved_by(const World& world, const std::vector<VertexId>& lists, std::uint64_t epoch) {
  const std::set<VertexId> held(lists.begin(), lists.end());
  std::int64_t requests = 0;
  for (const auto& batch : world.sampled(epoch)) {
    for (const auto vertex : batch.vertices) {
      requests += held.contains(vertex) ? header_requests(world, vertex) : 0;
    }
    for (const auto& block : batch.blocks) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(block.num_destinations); ++i) {
        const auto vertex = batch.vertices[i];
        const std::int64_t drawn = block.indptr[i + 1] - block.indptr[i];
        requests += held.contains(vertex) ? header_requests(world, vertex) + drawn : 0;
      }
    }
  }
  return requests;
}

/// DUCATI's slopes, in time that only the link takes, are what the link's settings say.
TEST(DucatiSlopes, AreWhatTheLinkTakes) {
  auto job = small_job(plan::ModelKind::sage);
  job.fanouts = {2, 2};
  graph::PlantedPartition options{
      .vertices = 2500, .average_degree = 600, .classes = 4, .feature_columns = 24};
  World world(graph::generate_in_memory(options), job);
  const auto sizes = world.sizes();
  ASSERT_EQ(sizes.row_bytes % 32, 0);
  plan::Cache cache;
  cache.policy = CachePolicy::value_weight;
  cache.topology = true;
  const std::int64_t bytes = 2'000'000;
  const auto costs = with_savings(sizes, world.placed().graph, cache, bytes, job.seed,
                                  [&](const CacheContent& content) { return world.prepare(content, 0); });
  const double request_s = (32 + link_of_tests.header_bytes) / link_of_tests.bandwidth_bytes_per_s;
  // Every row begins at the same distance from a request's begin.
  const auto offset =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(world.placed().graph.features.data) % 32);
  const double of_row_s = static_cast<double>((offset + sizes.row_bytes + 31) / 32) * request_s;
  EXPECT_NEAR(costs.row_saves_s, of_row_s, 0.05 * of_row_s);

  plan::Cache half;
  half.policy = CachePolicy::random;
  half.features = false;
  half.topology = true;
  const auto content = choose_content(world.placed().graph, half, {}, sizes, bytes / 2, job.seed);
  const auto hits = counted(world, content, 0).list_hits;
  ASSERT_GT(hits, 1000);
  const double of_list_s =
      static_cast<double>(requests_saved_by(world, content.lists, 0)) * request_s / static_cast<double>(hits);
  EXPECT_NEAR(costs.list_saves_s, of_list_s, 0.05 * of_list_s);
}

}  // namespace
}  // namespace gnomon::runtime::emulated
