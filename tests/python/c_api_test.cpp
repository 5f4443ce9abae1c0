// The C API as a program in C sees it. python/tests has the tests through Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "python/c_api/gnomon.h"
#include "tests/random_seed.h"

namespace gnomon::c_api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <auto release>
struct Free {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Graph = std::unique_ptr<gnomon_graph, Free<gnomon_graph_free>>;
using Loader = std::unique_ptr<gnomon_loader, Free<gnomon_loader_free>>;
using Epoch = std::unique_ptr<gnomon_epoch, Free<gnomon_epoch_free>>;
using Batch = std::unique_ptr<gnomon_batch, Free<gnomon_batch_free>>;

struct Edges {
  std::int64_t vertices = 0;
  std::vector<std::int64_t> sources, destinations;
};

Edges random_edges(std::int64_t vertices, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Edges edges{vertices, {}, {}};
  for (std::size_t e = 0; e < count; ++e) {
    edges.sources.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(vertices)));
    edges.destinations.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(vertices)));
  }
  return edges;
}

Graph graph_of(const Edges& edges) {
  gnomon_graph* graph = nullptr;
  EXPECT_EQ(gnomon_graph_from_edges(edges.vertices, std::ssize(edges.sources), edges.sources.data(),
                                    edges.destinations.data(), nullptr, &graph),
            GNOMON_OK)
      << gnomon_last_error();
  return Graph(graph);
}

Loader loader_of(const gnomon_graph* graph, const std::vector<std::int32_t>& fanouts) {
  const gnomon_sampling sampling{.num_hops = static_cast<std::int32_t>(fanouts.size()),
                                 .fanouts = fanouts.data(),
                                 .seed = 3,
                                 .expansion = GNOMON_EXPAND_ONCE,
                                 .replace = 0,
                                 .disjoint = 0,
                                 .subgraph = GNOMON_DIRECTIONAL,
                                 .threads_per_batch = 1,
                                 .pin_threads = 0};
  gnomon_loader* loader = nullptr;
  EXPECT_EQ(gnomon_loader_new(graph, &sampling, &loader), GNOMON_OK) << gnomon_last_error();
  return Loader(loader);
}

/// An epoch of all vertices with what it reads.
struct Input {
  std::vector<std::int64_t> seeds, begins;
  gnomon_epoch_input fields{};

  Input(std::int64_t vertices, std::int64_t batch_size, std::int32_t workers) {
    seeds.resize(static_cast<std::size_t>(vertices));
    gnomon_epoch_order(vertices, 3, 0, seeds.data());
    for (std::int64_t at = 0; at < vertices; at += batch_size) {
      begins.push_back(at);
    }
    begins.push_back(vertices);
    fields.num_batches = std::ssize(begins) - 1;
    fields.batch_begins = begins.data();
    fields.seeds = seeds.data();
    fields.num_workers = workers;
    fields.max_ahead = workers * 2 + 1;
  }
};

Epoch begin(gnomon_loader* loader, const Input& input) {
  gnomon_epoch* epoch = nullptr;
  EXPECT_EQ(gnomon_epoch_begin(loader, &input.fields, &epoch), GNOMON_OK) << gnomon_last_error();
  return Epoch(epoch);
}

Batch next(gnomon_epoch* epoch) {
  gnomon_batch* batch = nullptr;
  gnomon_status status = GNOMON_PENDING;
  while (status == GNOMON_PENDING) {
    status = gnomon_epoch_next(epoch, 0.01, &batch);
  }
  EXPECT_EQ(status, batch == nullptr ? GNOMON_END : GNOMON_OK) << gnomon_last_error();
  return Batch(batch);
}

std::vector<std::int64_t> values(const gnomon_dl_managed* tensor) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < tensor->tensor.ndim; ++i) {
    count *= tensor->tensor.shape[i];
  }
  const auto* data = static_cast<const std::int64_t*>(tensor->tensor.data);
  return {data, data + count};
}

TEST(CApi, BatchesOfAllNeighboursAreThoseOfASearch) {
  const test::RandomSeed seed;
  const Edges edges = random_edges(300, 900, seed);
  const Graph graph = graph_of(edges);
  EXPECT_EQ(gnomon_graph_num_edges(graph.get()), 900);
  const Loader loader = loader_of(graph.get(), {-1, -1});
  const Input input(300, 7, 2);
  const Epoch epoch = begin(loader.get(), input);
  std::int64_t batches = 0;
  for (Batch batch = next(epoch.get()); batch; batch = next(epoch.get()), ++batches) {
    std::vector<std::int64_t> vertices(input.seeds.begin() + batches * 7,
                                       input.seeds.begin() + std::min<std::int64_t>(batches * 7 + 7, 300));
    std::set<std::int64_t> seen(vertices.begin(), vertices.end());
    std::vector<std::int64_t> found;
    std::size_t first = 0;
    for (int hop = 0; hop < 2; ++hop) {
      const std::size_t last = vertices.size();
      for (; first < last; ++first) {
        for (std::size_t e = 0; e < 900; ++e) {
          if (edges.destinations[e] == vertices[first]) {
            found.push_back(static_cast<std::int64_t>(e));
            if (seen.insert(edges.sources[e]).second) {
              vertices.push_back(edges.sources[e]);
            }
          }
        }
      }
    }
    EXPECT_EQ(values(batch->vertices), vertices);
    EXPECT_EQ(values(batch->edge_ids), found);
    const auto ends = values(batch->edges);
    for (std::size_t e = 0; e < found.size(); ++e) {
      const auto id = static_cast<std::size_t>(found[e]);
      EXPECT_EQ(vertices[static_cast<std::size_t>(ends[e])], edges.sources[id]);
      EXPECT_EQ(vertices[static_cast<std::size_t>(ends[found.size() + e])], edges.destinations[id]);
    }
  }
  EXPECT_EQ(batches, 43);
}

TEST(CApi, WorkersDoNotMatterAndHandlesMayBeFreedInAnyOrder) {
  const test::RandomSeed seed;
  const Edges edges = random_edges(2000, 30000, seed);
  std::vector<std::vector<std::int64_t>> expected;
  for (const std::int32_t workers : {0, 1, 3}) {
    std::vector<std::vector<std::int64_t>> found;
    std::vector<Batch> kept;
    const Input input(2000, 100, workers);
    Graph graph = graph_of(edges);
    Loader loader = loader_of(graph.get(), {5, 3});
    Epoch epoch = begin(loader.get(), input);
    graph.reset();
    loader.reset();
    for (Batch batch = next(epoch.get()); batch; batch = next(epoch.get())) {
      found.push_back(values(batch->edge_ids));
      kept.push_back(std::move(batch));
    }
    epoch.reset();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(values(kept[i]->edge_ids), found[i]);
    }
    EXPECT_TRUE(expected.empty() || found == expected) << workers;
    expected = found;
  }
  EXPECT_EQ(expected.size(), 20U);
}

/// Runs body(data) on `count` threads, as GOMP_parallel does.
void run_in_parallel(void (*body)(void*), void* data, unsigned count, unsigned /*flags*/) {
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i) {
    threads.emplace_back(body, data);
  }
  body(data);
  for (auto& thread : threads) {
    thread.join();
  }
}

/// Runs it on the calling thread only, as an OpenMP runtime does within a parallel region.
void run_alone(void (*body)(void*), void* data, unsigned /*count*/, unsigned /*flags*/) { body(data); }

/// All rows of `attribute` and edge ids of an epoch's batches that their caller prepares.
std::vector<std::vector<std::int64_t>> prepared_by_caller(gnomon_loader* loader, std::int64_t vertices,
                                                          const gnomon_dl_tensor& attribute) {
  std::vector<std::vector<std::int64_t>> found;
  Input input(vertices, 500, 0);
  input.fields.num_vertex_attributes = 1;
  input.fields.vertex_attributes = &attribute;
  const Epoch epoch = begin(loader, input);
  for (Batch batch = next(epoch.get()); batch; batch = next(epoch.get())) {
    found.push_back(values(batch->edge_ids));
    found.push_back(values(batch->vertex_attributes[0]));
  }
  return found;
}

TEST(CApi, BatchesThatTheCallersThreadsShareAreTheSame) {
  const test::RandomSeed seed;
  constexpr std::int64_t vertices = 2000;
  constexpr std::int64_t width = 64;  // rows of a batch that are worth sharing
  const Graph graph = graph_of(random_edges(vertices, 30000, seed));
  std::vector<std::int64_t> rows(vertices * width);
  std::iota(rows.begin(), rows.end(), 0);
  std::array<std::int64_t, 2> shape{vertices, width};
  const gnomon_dl_tensor attribute{rows.data(), {1, 0}, 2, {0, 64, 1}, shape.data(), nullptr, 0};
  const std::vector<gnomon_threads> threads{
      {run_in_parallel, 1}, {run_in_parallel, 3}, {run_alone, 4}, {nullptr, 0}};
  // Of the first, batches are too small to be sampled together.
  for (const auto& fanouts : {std::vector<std::int32_t>{5, 3}, std::vector<std::int32_t>{30, 20}}) {
    const Loader loader = loader_of(graph.get(), fanouts);
    const auto expected = prepared_by_caller(loader.get(), vertices, attribute);
    EXPECT_EQ(expected.size(), 8U);
    for (const gnomon_threads& each : threads) {
      ASSERT_EQ(gnomon_loader_share(loader.get(), &each), GNOMON_OK) << gnomon_last_error();
      EXPECT_EQ(prepared_by_caller(loader.get(), vertices, attribute), expected) << each.count;
      EXPECT_EQ(prepared_by_caller(loader.get(), vertices, attribute), expected) << each.count << ", again";
    }
  }
  const Loader loader = loader_of(graph.get(), {5, 3});
  for (const int count : {0, -1, 1000000}) {
    const gnomon_threads wrong{run_in_parallel, count};
    EXPECT_EQ(gnomon_loader_share(loader.get(), &wrong), GNOMON_INVALID_INPUT);
    EXPECT_THAT(gnomon_last_error(), HasSubstr("threads.count"));
  }
}

TEST(CApi, EpochsCanBeLeftEarly) {
  const test::RandomSeed seed;
  const Edges edges = random_edges(2000, 30000, seed);
  const Graph graph = graph_of(edges);
  const Loader loader = loader_of(graph.get(), {5, 3});
  const Input input(2000, 10, 3);
  for (int i = 0; i < 50; ++i) {
    const Epoch epoch = begin(loader.get(), input);
    for (int taken = 0; taken < i % 3; ++taken) {
      EXPECT_NE(next(epoch.get()), nullptr);
    }
  }
}

TEST(CApi, ATakenTensorOutlivesTheBatch) {
  const test::RandomSeed seed;
  const Graph graph = graph_of(random_edges(50, 200, seed));
  const Loader loader = loader_of(graph.get(), {2});
  const Input input(50, 50, 0);
  Epoch epoch = begin(loader.get(), input);
  Batch batch = next(epoch.get());
  gnomon_dl_managed* taken = std::exchange(batch->vertices, nullptr);
  const auto before = values(taken);
  batch.reset();
  epoch.reset();
  EXPECT_EQ(values(taken), before);
  taken->deleter(taken);
}

TEST(CApi, ErrorsNameTheArgument) {
  const std::array<std::int64_t, 2> ids{0, 7};
  gnomon_graph* graph = nullptr;
  EXPECT_EQ(gnomon_graph_from_edges(3, 2, ids.data(), ids.data(), nullptr, &graph), GNOMON_INVALID_INPUT);
  EXPECT_THAT(gnomon_last_error(), HasSubstr("[1]: 7 is not a vertex"));
  EXPECT_EQ(gnomon_graph_open("/nowhere", 0, &graph), GNOMON_INVALID_INPUT);
  EXPECT_THAT(gnomon_last_error(), HasSubstr("/nowhere"));
  EXPECT_EQ(graph, nullptr);
  const std::array<std::int64_t, 4> indptr{0, 2, 1, 2};
  EXPECT_EQ(gnomon_graph_from_csc(3, 2, indptr.data(), indptr.data(), nullptr, nullptr, &graph),
            GNOMON_INVALID_INPUT);
  EXPECT_THAT(gnomon_last_error(), HasSubstr("indptr"));
  gnomon_graph_free(nullptr);
  gnomon_loader_free(nullptr);
  gnomon_epoch_free(nullptr);
  gnomon_batch_free(nullptr);
}

TEST(CApi, InterleavedRowsHaveTheirOwnBesideThem) {
  const std::array<std::int64_t, 3> indptr{0, 2, 2};
  const std::array<std::int32_t, 2> columns{2, 1};
  const gnomon_rows rows{2, 3, 2, indptr.data(), columns.data(), nullptr};
  std::array<std::int64_t, 5> both{};
  std::array<std::int32_t, 4> all{};
  ASSERT_EQ(gnomon_rows_interleaved(&rows, both.data(), all.data()), GNOMON_OK);
  EXPECT_THAT(both, ElementsAre(0, 2, 3, 3, 4));
  EXPECT_THAT(all, ElementsAre(2, 1, 0, 1));
  const gnomon_rows interleaved{4, 3, 4, both.data(), all.data(), nullptr};
  std::array<float, 3> x{1, 10, 100};
  std::array<std::int64_t, 2> shape{3, 1};
  const gnomon_dl_tensor features{x.data(), {1, 0}, 2, {2, 32, 1}, shape.data(), nullptr, 0};
  std::array<float, 4> y{};
  ASSERT_EQ(gnomon_spmm_stored(&interleaved, nullptr, nullptr, &features, nullptr, y.data()), GNOMON_OK);
  EXPECT_THAT(y, ElementsAre(110, 1, 0, 10));
  const std::array<std::int64_t, 3> vertices{2, 1, 3};
  EXPECT_EQ(gnomon_spmm_stored(&interleaved, nullptr, nullptr, &features, vertices.data(), y.data()),
            GNOMON_INVALID_INPUT);
  EXPECT_THAT(gnomon_last_error(), HasSubstr("vertices"));
}

TEST(CApi, MemoryOfDeletedTensorsIsUsedAgain) {
  gnomon_pool* pool = nullptr;
  ASSERT_EQ(gnomon_pool_new(4, &pool), GNOMON_OK);
  const std::array<std::int64_t, 2> shape{1000, 100};
  gnomon_dl_managed* first = nullptr;
  ASSERT_EQ(gnomon_tensor_new(pool, 2, shape.data(), &first), GNOMON_OK);
  void* const place = first->tensor.data;
  first->deleter(first);
  gnomon_dl_managed* second = nullptr;
  ASSERT_EQ(gnomon_tensor_new(pool, 2, shape.data(), &second), GNOMON_OK);
  EXPECT_EQ(second->tensor.data, place);
  gnomon_pool_free(pool);
  second->deleter(second);  // outlives the pool
  EXPECT_EQ(gnomon_tensor_new(nullptr, 2, shape.data(), &second), GNOMON_INVALID_INPUT);
}

/// What is locked, as a double of a device's runtime that locks every other block.
class PageLocks {
 public:
  static gnomon_page_lock functions() { return {lock, unlock, 7}; }
  static bool covers(const gnomon_dl_tensor& tensor) {
    const std::lock_guard guard(mutex());
    const auto* data = static_cast<const std::byte*>(tensor.data);
    return std::any_of(locked().begin(), locked().end(), [&](const auto& block) {
      return data >= block.first &&
             data + 4 * tensor.shape[0] * tensor.shape[1] <= block.first + block.second;
    });
  }
  static std::size_t count() { return locked().size(); }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::map<const std::byte*, std::size_t>& locked() {
    static std::map<const std::byte*, std::size_t> locked;
    return locked;
  }
  static std::int32_t lock(void* memory, std::uint64_t bytes, std::uint32_t flags) {
    const std::lock_guard guard(mutex());
    static int calls = 0;
    EXPECT_EQ(flags, 7U);
    if (++calls % 2 == 0) {
      return 1;
    }
    EXPECT_TRUE(locked().emplace(static_cast<const std::byte*>(memory), bytes).second);
    return 0;
  }
  static std::int32_t unlock(void* memory) {
    const std::lock_guard guard(mutex());
    EXPECT_EQ(locked().erase(static_cast<const std::byte*>(memory)), 1U) << "was not locked";
    return 0;
  }
};

/// An attribute of 3000 vertices, 100 times 1.5 each: 200 KB for 500 vertices.
class WideRows {
 public:
  /// This must outlive the input's epoch.
  void add_to(Input& input) const {
    input.fields.num_vertex_attributes = 1;
    input.fields.vertex_attributes = &tensor_;
  }

 private:
  std::vector<float> values_ = std::vector<float>(300000, 1.5F);
  std::array<std::int64_t, 2> shape_{3000, 100};
  gnomon_dl_tensor tensor_{values_.data(), {1, 0}, 2, {2, 32, 1}, shape_.data(), nullptr, 0};
};

TEST(CApi, LargeTensorsAreLockedWhileTheirMemoryLives) {
  const test::RandomSeed seed(1);
  const Edges edges = random_edges(3000, 9000, seed);
  const Graph graph = graph_of(edges);
  Loader loader = loader_of(graph.get(), {-1});
  const gnomon_page_lock half{nullptr, PageLocks::functions().unlock, 0};
  EXPECT_EQ(gnomon_loader_lock_pages(loader.get(), &half), GNOMON_INVALID_INPUT);
  const gnomon_page_lock lock = PageLocks::functions();
  ASSERT_EQ(gnomon_loader_lock_pages(loader.get(), &lock), GNOMON_OK);
  const WideRows rows;
  Input input(3000, 500, 2);
  rows.add_to(input);
  std::vector<Batch> batches;
  std::size_t covered = 0;
  {
    const Epoch epoch = begin(loader.get(), input);
    while (Batch batch = next(epoch.get())) {
      covered += PageLocks::covers(batch->vertex_attributes[0]->tensor) ? 1 : 0;
      EXPECT_EQ(static_cast<const float*>(batch->vertex_attributes[0]->tensor.data)[0], 1.5F);
      batches.push_back(std::move(batch));
    }
  }
  EXPECT_EQ(batches.size(), 6U);
  EXPECT_GT(covered, 0U);
  EXPECT_LT(covered, 6U) << "blocks that cannot be locked are used all the same";
  loader.reset();
  EXPECT_GE(PageLocks::count(), covered);
  batches.clear();
  EXPECT_EQ(PageLocks::count(), 0U);
}

/// Blocks that are lent to a loader, each for the rows of 500 vertices.
class LentMemory {
 public:
  static constexpr std::size_t bytes = 1 << 18;
  explicit LentMemory(gnomon_loader* loader) : loader_(loader) {}
  gnomon_status lend(std::size_t offset = 0) {
    blocks_.emplace_back(bytes / sizeof(Line) + 1);
    return gnomon_loader_lend(loader_, reinterpret_cast<std::byte*>(blocks_.back().data()) + offset, bytes);
  }
  /// The block that the tensor is in; blocks are numbered from 0.
  std::optional<std::size_t> block_of(const gnomon_dl_managed* tensor) const {
    const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const auto& block) { return block.data() == tensor->tensor.data; });
    return found == blocks_.end() ? std::nullopt : std::optional(std::size_t(found - blocks_.begin()));
  }
  float first(std::size_t block) const { return blocks_[block][0].values[0]; }

 private:
  struct alignas(64) Line {
    std::array<float, 16> values;
  };
  gnomon_loader* loader_;
  std::vector<std::vector<Line>> blocks_;
};

TEST(CApi, GathersIntoLentMemory) {
  const test::RandomSeed seed;
  const Edges edges = random_edges(3000, 9000, seed);
  const Graph graph = graph_of(edges);
  const Loader loader = loader_of(graph.get(), {0});
  const WideRows rows;
  Input input(3000, 500, 0);
  rows.add_to(input);
  LentMemory memory(loader.get());
  EXPECT_EQ(memory.lend(4), GNOMON_INVALID_INPUT);
  EXPECT_EQ(std::string(gnomon_last_error()), "memory: is not aligned to 64 bytes");
  ASSERT_EQ(memory.lend(), GNOMON_OK);
  const Epoch epoch = begin(loader.get(), input);
  const auto next_block = [&](Batch& batch) {
    batch = next(epoch.get());
    return memory.block_of(batch->vertex_attributes[0]);
  };
  Batch first, second;
  EXPECT_EQ(next_block(first), 1U);
  EXPECT_EQ(memory.first(1), 1.5F);
  EXPECT_EQ(next_block(second), std::nullopt) << "the block is in use";
  first.reset();
  EXPECT_EQ(next_block(second), 1U) << "the block's tensor was deleted";
  gnomon_tensor_detach(std::exchange(second->vertex_attributes[0], nullptr));
  EXPECT_EQ(next_block(second), std::nullopt) << "the block is the caller's again";
  ASSERT_EQ(memory.lend(), GNOMON_OK);
  EXPECT_EQ(next_block(second), 2U);
}

TEST(CApi, RowsThatACacheHasAreNotGathered) {
  const test::RandomSeed seed;
  const Edges edges = random_edges(3000, 9000, seed);
  const Graph graph = graph_of(edges);
  const Loader loader = loader_of(graph.get(), {-1});
  std::vector<float> rows(3000);
  std::iota(rows.begin(), rows.end(), 0.0F);
  std::vector<std::int32_t> slots(3000, -1);
  for (std::int32_t slot = 0; slot < 1000; ++slot) {
    slots[static_cast<std::size_t>(2999 - 3 * slot)] = slot;
  }
  std::array<std::int64_t, 1> shape{3000};
  const gnomon_dl_tensor x{rows.data(), {1, 0}, 1, {2, 32, 1}, shape.data(), nullptr, 0};
  const std::array<gnomon_dl_tensor, 2> attributes{x, x};
  Input input(3000, 500, 2);
  input.fields.cache_slots = slots.data();
  gnomon_epoch* refused = nullptr;
  EXPECT_EQ(gnomon_epoch_begin(loader.get(), &input.fields, &refused), GNOMON_INVALID_INPUT);
  EXPECT_EQ(std::string(gnomon_last_error()), "cache_slots: needs an attribute of vertices");
  input.fields.num_vertex_attributes = 2;
  input.fields.vertex_attributes = attributes.data();
  const Epoch epoch = begin(loader.get(), input);
  while (const Batch batch = next(epoch.get())) {
    const auto vertices = values(batch->vertices);
    const auto gathered = values(batch->gathered_positions);
    const auto cached = values(batch->cached_positions);
    const auto cached_slots = values(batch->cached_slots);
    ASSERT_EQ(gathered.size() + cached.size(), vertices.size());
    ASSERT_EQ(cached_slots.size(), cached.size());
    ASSERT_EQ(batch->vertex_attributes[0]->tensor.shape[0], std::ssize(gathered));
    ASSERT_EQ(batch->vertex_attributes[1]->tensor.shape[0], std::ssize(vertices));
    for (std::size_t i = 0; i < gathered.size(); ++i) {
      const auto vertex = vertices[static_cast<std::size_t>(gathered[i])];
      EXPECT_EQ(slots[static_cast<std::size_t>(vertex)], -1);
      EXPECT_EQ(static_cast<const float*>(batch->vertex_attributes[0]->tensor.data)[i],
                static_cast<float>(vertex));
    }
    for (std::size_t i = 0; i < cached.size(); ++i) {
      EXPECT_EQ(slots[static_cast<std::size_t>(vertices[static_cast<std::size_t>(cached[i])])],
                cached_slots[i]);
    }
  }
}

TEST(CApi, SpreadingMemoryKeepsItsBytes) {
  EXPECT_GE(gnomon_memory_nodes(), 1);
  const std::vector<float> rows(100000, 1.5F);
  EXPECT_EQ(gnomon_spread_memory(rows.data(), rows.size() * sizeof(float)), GNOMON_OK) << gnomon_last_error();
  EXPECT_EQ(rows, std::vector<float>(100000, 1.5F));
  EXPECT_EQ(gnomon_spread_memory(nullptr, 1), GNOMON_INVALID_INPUT);
}

TEST(CApi, SpmmIsASum) {
  const std::array<std::int64_t, 4> sources{0, 1, 2, 2};
  const std::array<std::int64_t, 4> destinations{0, 0, 0, 2};
  std::array<std::int64_t, 4> indptr{};
  std::array<std::int32_t, 4> columns{};
  ASSERT_EQ(
      gnomon_rows_from_edges(3, 3, 4, sources.data(), destinations.data(), indptr.data(), columns.data()),
      GNOMON_OK);
  EXPECT_THAT(indptr, ElementsAre(0, 3, 3, 4));
  const gnomon_rows rows{3, 3, 4, indptr.data(), columns.data(), nullptr};
  const std::array<float, 6> x{1, 2, 10, 20, 100, 200};
  std::array<float, 6> y{};
  ASSERT_EQ(gnomon_spmm(&rows, nullptr, nullptr, nullptr, x.data(), 2, y.data()), GNOMON_OK);
  EXPECT_THAT(y, ElementsAre(111, 222, 0, 0, 100, 200));
  std::array<std::int64_t, 4> with_loops{};
  std::array<std::int32_t, 7> looped{};
  ASSERT_EQ(gnomon_rows_with_loops(&rows, with_loops.data(), looped.data()), GNOMON_OK);
  EXPECT_THAT(with_loops, ElementsAre(0, 3, 4, 5));
  EXPECT_THAT(std::vector(looped.begin(), looped.begin() + 5), ElementsAre(1, 2, 0, 1, 2));
}

}  // namespace
}  // namespace gnomon::c_api
