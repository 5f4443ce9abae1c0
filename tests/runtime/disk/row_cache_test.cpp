#include "runtime/disk/row_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "runtime/disk/optimal_row_cache.h"
#include "runtime/disk/recent_row_cache.h"
#include "runtime/disk/static_row_cache.h"
#include "tests/random_seed.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;

constexpr std::int64_t num_vertices = 500;
constexpr std::int64_t row_bytes = 20;
constexpr std::int64_t num_batches = 30;

void write_row(VertexId vertex, std::byte* to) {
  for (std::int64_t i = 0; i < row_bytes; ++i) {
    to[i] = static_cast<std::byte>(vertex * 7 + i);
  }
}

/// The vertices of a batch: a pure function of epoch and batch, low ones more often.
std::vector<VertexId> vertices_of(std::int64_t epoch, std::int64_t batch) {
  std::mt19937_64 random(static_cast<std::uint64_t>(epoch * 1000 + batch));
  std::vector<VertexId> vertices;
  for (VertexId vertex = 0; vertex < num_vertices; ++vertex) {
    if (random() % static_cast<std::uint64_t>(2 + vertex / 20) == 0) {
      vertices.push_back(vertex);
    }
  }
  std::shuffle(vertices.begin(), vertices.end(), random);
  return vertices;
}

std::vector<std::byte> rows_of(const std::vector<VertexId>& vertices) {
  std::vector<std::byte> rows(vertices.size() * static_cast<std::size_t>(row_bytes));
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    write_row(vertices[i], rows.data() + i * static_cast<std::size_t>(row_bytes));
  }
  return rows;
}

std::unique_ptr<OptimalRowCache> optimal_cache(std::int64_t rows, std::int64_t super_batch, int threads) {
  return std::make_unique<OptimalRowCache>(
      OptimalRowCache::Options{.num_vertices = num_vertices,
                               .row_bytes = row_bytes,
                               .max_rows = rows,
                               .super_batch = super_batch,
                               .max_known_accesses = 1000,
                               .threads = threads},
      [](std::int64_t epoch, std::int64_t batch, int, std::vector<std::uint32_t>& vertices) {
        const auto sampled = vertices_of(epoch, batch);
        vertices.assign(sampled.begin(), sampled.end());
      });
}

std::unique_ptr<StaticRowCache> static_cache(std::int64_t rows) {
  std::vector<VertexId> chosen(static_cast<std::size_t>(rows));
  std::iota(chosen.rbegin(), chosen.rend(), VertexId{0});  // not in order
  return std::make_unique<StaticRowCache>(num_vertices, row_bytes, chosen,
                                          [](std::span<const VertexId> all, std::byte* out) {
                                            const auto rows_read = rows_of({all.begin(), all.end()});
                                            std::copy(rows_read.begin(), rows_read.end(), out);
                                          });
}

/// Serves a batch, and checks its rows. Returns the hits.
std::int64_t serve(RowCache& cache, std::int64_t epoch, std::int64_t position, std::int64_t batch) {
  const auto vertices = vertices_of(epoch, batch);
  std::vector<std::byte> out(vertices.size() * static_cast<std::size_t>(row_bytes));
  std::size_t reads = 0;
  const std::int64_t hits = cache.serve(position, vertices, out.data(), [&](const Places& places) {
    reads += places.size();
    for (const auto place : places) {
      write_row(vertices[place], out.data() + place * static_cast<std::size_t>(row_bytes));
    }
  });
  EXPECT_EQ(out, rows_of(vertices)) << "epoch " << epoch << ", batch " << batch;
  EXPECT_EQ(hits, std::ssize(vertices) - static_cast<std::int64_t>(reads));
  return hits;
}

std::vector<std::int64_t> order_of_epoch() {
  std::vector<std::int64_t> order(num_batches);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The hits of three epochs, served one after the other.
std::int64_t hits_in_order(RowCache& cache) {
  std::int64_t hits = 0;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    cache.begin_epoch(epoch, order_of_epoch());
    for (std::int64_t batch = 0; batch < num_batches; ++batch) {
      hits += serve(cache, epoch, batch, batch);
    }
  }
  return hits;
}

TEST(RowCaches, ServeTheRightRowsOneByOne) {
  for (const std::int64_t rows : {0, 1, 70, 500}) {
    RecentRowCache recent(rows, row_bytes);
    const auto optimal = optimal_cache(rows, 1000, 2);
    const auto fixed = static_cast<std::int64_t>(hits_in_order(*static_cache(rows)));
    const auto by_recency = hits_in_order(recent);
    const auto best = hits_in_order(*optimal);
    EXPECT_GE(best, by_recency) << rows;
    EXPECT_GE(best + rows, fixed) << rows << ": which has its rows from the begin";
    EXPECT_EQ(rows == 0, by_recency + best + fixed == 0);
  }
}

TEST(RowCaches, AHigherLookAheadHitsMore) {
  EXPECT_GT(hits_in_order(*optimal_cache(60, 8, 1)), hits_in_order(*optimal_cache(60, 1, 1)));
}

// Workers take batches in order and end in any; positions stand for other batches after a resume.
TEST(RowCaches, ServeTheRightRowsAtTheSameTime) {
  const auto optimal = optimal_cache(70, 6, 3);
  const auto fixed = static_cache(70);
  RecentRowCache recent(70, row_bytes);
  for (RowCache* cache : std::initializer_list<RowCache*>{optimal.get(), fixed.get(), &recent}) {
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      auto order = order_of_epoch();
      std::reverse(order.begin(), order.end());
      cache->begin_epoch(epoch, order);
      std::atomic<std::int64_t> next = 0;
      std::vector<std::jthread> workers;
      for (int worker = 0; worker < 4; ++worker) {
        workers.emplace_back([&] {
          for (std::int64_t i = next++; i < num_batches; i = next++) {
            serve(*cache, epoch, i, order[static_cast<std::size_t>(i)]);
          }
        });
      }
    }
  }
}

// An epoch that was broken off leaves choices that were never carried out.
TEST(RowCaches, GoOnAfterABrokenEpoch) {
  const auto cache = optimal_cache(70, 10, 1);
  cache->begin_epoch(0, order_of_epoch());
  serve(*cache, 0, 3, 3);
  const auto whole = hits_in_order(*optimal_cache(70, 10, 1));
  EXPECT_GT(hits_in_order(*cache), whole / 2);
}

}  // namespace
}  // namespace gnomon::runtime
