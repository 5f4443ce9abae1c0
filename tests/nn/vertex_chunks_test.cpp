#include "nn/vertex_chunks.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/fixtures/graphs.h"

namespace gnomon::nn {
namespace {

using Ids = std::vector<graph::VertexId>;

class VertexChunksTest : public ::testing::Test {
 protected:
  VertexChunksTest() : graph_(test::planted_graph(3000, 4)), threads_before_(at::get_num_threads()) {
    at::set_num_threads(3);
  }
  ~VertexChunksTest() override { at::set_num_threads(threads_before_); }

  /// Chunks by the position of their first vertex.
  static std::map<std::int64_t, Ids> on_threads(const VertexChunks& chunks) {
    std::map<std::int64_t, Ids> found;
    std::mutex mutex;
    chunks.for_each_on_threads(
        [&](const VertexChunk& chunk) {
          const std::lock_guard lock(mutex);
          found[chunk.first] = Ids(chunk.ids().begin(), chunk.ids().end());
        },
        [] {});
    return found;
  }
  static Ids joined(const std::map<std::int64_t, Ids>& chunks) {
    Ids all;
    for (const auto& [first, ids] : chunks) {
      EXPECT_EQ(first, std::ssize(all));
      all.insert(all.end(), ids.begin(), ids.end());
    }
    return all;
  }

  graph::Graph graph_;
  int threads_before_;
};

TEST_F(VertexChunksTest, HaveEachVertexOnceWithinTheLimits) {
  const auto chosen = at::arange(2999, 100, -7, at::kLong);
  for (const auto& vertices : {at::Tensor(), chosen}) {
    const auto expected = vertices.defined() ? vertices : at::arange(3000, at::kLong);
    const ChunkLimits limits{10000, 100, 50};
    const VertexChunks large(graph_, vertices, limits);
    const auto small = VertexChunks::of_one_thread(graph_, vertices, limits);
    for (const auto* chunks : {&large, &small}) {
      const auto found = on_threads(*chunks);
      const auto all = joined(found);
      ASSERT_EQ(std::ssize(all), expected.size(0));
      EXPECT_TRUE(at::equal(at::tensor(all), expected));
      for (const auto& [first, ids] : found) {
        std::int64_t bytes = 0;
        for (const auto vertex : ids) {
          bytes += 100 + 50 * graph_.degree(vertex);
        }
        EXPECT_TRUE(bytes <= 10000 || ids.size() == 1) << bytes;
      }
      std::map<std::int64_t, Ids> in_turn;
      int calls = 0;
      chunks->for_each(
          [&](const VertexChunk& chunk) {
            in_turn[chunk.first] = {chunk.ids().begin(), chunk.ids().end()};
          },
          [&] { ++calls; });
      EXPECT_EQ(in_turn, found);
      EXPECT_EQ(calls, std::ssize(found));
    }
  }
}

TEST_F(VertexChunksTest, OfAThreadDoNotDependOnTheirNumberAndAreSmallWhereThereAreFew) {
  const ChunkLimits limits{1 << 30, 1, 1};
  const auto found = on_threads(VertexChunks::of_one_thread(graph_, {}, limits));
  at::set_num_threads(1);
  EXPECT_EQ(on_threads(VertexChunks::of_one_thread(graph_, {}, limits)), found);
  for (const auto& [first, ids] : found) {
    EXPECT_LE(ids.size(), 32U);
  }
  EXPECT_TRUE(on_threads(VertexChunks::of_one_thread(graph_, at::empty({0}, at::kLong), limits)).empty());
}

TEST_F(VertexChunksTest, AnExceptionOfAChunkEndsTheLoopAndIsThrown) {
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    const auto chunks = VertexChunks::of_one_thread(graph_, {}, {1 << 20, 1, 0});
    const auto all = on_threads(chunks).size();
    std::atomic<std::size_t> begun{0};
    const auto fail_in_fifth = [&](const VertexChunk&) {
      const auto number = ++begun;
      if (number == 5) {
        throw std::runtime_error("of a chunk");
      }
      if (number > 5) {
        // Until the exception has reached the loop, other threads may begin chunks: not many, if each takes a
        // while.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    };
    EXPECT_THROW(chunks.for_each_on_threads(fail_in_fifth, [] {}), std::runtime_error);
    EXPECT_LT(begun, all);
  }
}

/// Whoever stops a run between chunks must be heard even if other threads take all of them.
TEST_F(VertexChunksTest, TheCallerIsAskedAfterTheLastChunkOfOtherThreadsToo) {
  const auto caller = std::this_thread::get_id();
  const auto chunks = VertexChunks::of_one_thread(graph_, {}, {1 << 20, 1, 0});
  const auto all = on_threads(chunks).size();
  std::atomic<std::size_t> done{0};
  std::atomic<bool> others_have_one{false};
  const auto body = [&](const VertexChunk&) {
    if (std::this_thread::get_id() == caller) {
      others_have_one.wait(false);
    } else {
      others_have_one = true;
      others_have_one.notify_all();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ++done;
  };
  std::size_t done_when_asked_last = 0;
  chunks.for_each_on_threads(body, [&] { done_when_asked_last = done; });
  EXPECT_EQ(done_when_asked_last, all);
}

TEST_F(VertexChunksTest, AnExceptionBetweenTheCallersChunksEndsTheLoopAndIsThrown) {
  const auto caller = std::this_thread::get_id();
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    const auto chunks = VertexChunks::of_one_thread(graph_, {}, {1 << 20, 1, 0});
    std::atomic<bool> caller_has_one{false};
    const auto body = [&](const VertexChunk&) {
      if (std::this_thread::get_id() == caller) {
        caller_has_one = true;
        caller_has_one.notify_all();
      }
      caller_has_one.wait(false);  // lest the other threads take all chunks
    };
    const auto stop = [&] {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      throw std::invalid_argument("stopped");
    };
    EXPECT_THROW(chunks.for_each_on_threads(body, stop), std::invalid_argument);
  }
}

}  // namespace
}  // namespace gnomon::nn
