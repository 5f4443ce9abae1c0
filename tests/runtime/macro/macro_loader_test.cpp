#include "runtime/macro/macro_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/index.h"
#include "graph/feature_form.h"
#include "graph/partition/macro_batches.h"
#include "graph/partition/parts.h"
#include "runtime/batch/batch_data.h"
#include "tests/fixtures/message_of.h"
#include "tests/kernels/chi_square.h"
#include "tests/runtime/disk/disk_directory.h"
#include "tests/runtime/macro/parted_graph.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;

constexpr std::int64_t columns = 37;

using base::at;

std::shared_ptr<const PlacedGraph> placed(const graph::Graph& graph) {
  return std::make_shared<const PlacedGraph>(
      place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
}

/// Calls check(macro-batch, group, layout) for all macro-batches of an epoch.
template <class Check>
void for_each_macro_batch(MacroLoader& loader, const plan::Job& job, std::int64_t epoch, const Check& check) {
  const MacroLayout layout(loader.groups(epoch), job, epoch);
  for (std::int64_t group = 0; group < layout.num_groups(); ++group) {
    check(*loader.load(layout, group, epoch), group, layout);
  }
}

/// Features, labels and degrees of a macro-batch's vertices are those of the whole graph.
void expect_rows_of(const graph::Graph& whole, const MacroBatch& macro, bool with_features = true) {
  const auto& local = macro.placed()->graph;
  ASSERT_EQ(local.num_vertices(), std::ssize(macro.vertices()));
  for (VertexId id = 0; id < local.num_vertices(); ++id) {
    const auto vertex = macro.vertices()[at(id)];
    ASSERT_EQ(local.labels[at(id)], whole.labels[at(vertex)]);
    ASSERT_EQ(local.whole_degree(id), whole.degree(vertex));
    if (with_features) {
      ASSERT_EQ(
          std::memcmp(local.features.row(id), whole.features.row(vertex), at(whole.features.row_bytes())), 0);
    }
  }
}

/// The neighbours of a local vertex by their ids in the whole graph.
std::vector<VertexId> whole_neighbours(const MacroBatch& macro, VertexId id) {
  std::vector<VertexId> neighbours;
  for (const VertexId local : macro.placed()->graph.neighbours(id)) {
    neighbours.push_back(macro.vertices()[at(local)]);
  }
  return neighbours;
}

void expect_seeds(const MacroBatch& macro, const MacroGroup& group) {
  const auto local = macro.local_seeds(group.train);
  for (std::size_t i = 0; i < local.size(); ++i) {
    ASSERT_EQ(macro.vertices()[at(local[i])], group.train[i]);
  }
  EXPECT_EQ(macro.placed()->graph.train.size(), group.train.size());
}

class StoredParts : public testing::TestWithParam<graph::FeatureType> {
 protected:
  StoredParts() {
    auto options = test::tiny_partition();
    options.vertices = 1500;
    options.feature_columns = columns;
    options.feature_type = GetParam();
    graph_ =
        parted_graph(graph::generate_in_memory(options), macro_preset("hanoi").macro, directory_ / "store");
  }

  DiskDirectory directory_;
  graph::Graph graph_;
};

TEST_P(StoredParts, AMacroBatchIsTheSubgraphOfItsPartsAndHubs) {
  const auto plan = macro_preset("hanoi");
  const auto job = small_job(plan::ModelKind::sage);
  ASSERT_NO_THROW(check_macro(graph_, job, plan));
  const auto loader = make_loader(placed(graph_), job, plan);
  const auto hubs = graph_.parts->hubs.first(15);  // 1 % of the vertices
  std::set<VertexId> trained;
  for_each_macro_batch(
      *loader, job, 0, [&](MacroBatch& macro, std::int64_t number, const MacroLayout& layout) {
        std::set<VertexId> expected(hubs.begin(), hubs.end());
        for (const auto part : layout.group(number).parts) {
          for (auto vertex = graph_.parts->bounds[at(part)]; vertex < graph_.parts->bounds[at(part) + 1];
               ++vertex) {
            expected.insert(vertex);
          }
        }
        EXPECT_TRUE(
            std::equal(expected.begin(), expected.end(), macro.vertices().begin(), macro.vertices().end()));
        expect_rows_of(graph_, macro);
        expect_seeds(macro, layout.group(number));
        trained.insert(layout.group(number).train.begin(), layout.group(number).train.end());
        for (VertexId id = 0; id < macro.placed()->graph.num_vertices(); ++id) {
          std::vector<VertexId> kept;
          for (const VertexId neighbour : graph_.neighbours(macro.vertices()[at(id)])) {
            if (expected.contains(neighbour)) {
              kept.push_back(neighbour);
            }
          }
          ASSERT_EQ(whole_neighbours(macro, id), kept);
        }
      });
  EXPECT_TRUE(std::equal(trained.begin(), trained.end(), graph_.train.begin(), graph_.train.end()));
}

TEST_P(StoredParts, ReadsItsPartsOnceAndWhole) {
  auto plan = macro_preset("mariusgnn");
  plan.macro.partitioner = plan::Partitioner::gnn_aware;
  const auto job = small_job(plan::ModelKind::sage);
  const auto loader = make_loader(placed(graph_), job, plan);
  const auto parts = graph::macro_batches(8, 2, job.seed, 0);
  graph::PartOf part_of;
  for (std::int64_t part = 0; part < 8; ++part) {
    part_of.insert(part_of.end(), at(graph_.parts->vertices_of(part)), static_cast<std::int32_t>(part));
  }
  const auto sets = graph::working_sets(graph_, part_of, parts, {});
  for_each_macro_batch(*loader, job, 0, [&](MacroBatch&, std::int64_t number, const MacroLayout&) {
    const auto read = loader->take_reads().bytes;
    const auto& set = sets[at(number)];
    EXPECT_GE(read, set.bytes);
    // Whole blocks at both ends of each of three arrays of two parts, and a row pointer more.
    EXPECT_LE(read, set.bytes + 2 * 3 * 2 * 4096 + 2 * 8);
  });
}

INSTANTIATE_TEST_SUITE_P(FeatureTypes, StoredParts,
                         testing::Values(graph::FeatureType::fp32, graph::FeatureType::fp16));

TEST(StoredPartsOfAnotherGraph, AreRefusedWithTheCommandThatMakesThem) {
  DiskDirectory directory;
  graph::write_store(test::planted_graph(300, 4), directory / "store");
  const auto graph = graph::open_store(directory / "store");
  const auto job = small_job(plan::ModelKind::sage);
  const auto refusal = [&](const graph::Graph& of, const plan::Job& of_job, const plan::Plan& plan) {
    return test::message_of<base::InputError>(directory.path(), [&] { check_macro(of, of_job, plan); });
  };
  EXPECT_EQ(refusal(graph, job, macro_preset("hanoi")),
            "plan hanoi: macro.partitions: needs a store whose vertices are ordered by 8 parts of method "
            "\"gnn_aware\"; "
            "make one with: gnomon partition store --parts 8 --method gnn_aware --store NEW_STORE");
  EXPECT_EQ(refusal(graph, job, macro_preset("joestar-1")), "no error");
  auto many_hubs = macro_preset("hanoi");
  many_hubs.macro.hub_ratio = 0.2;
  EXPECT_EQ(
      refusal(parted_graph(graph, many_hubs.macro, directory / "parted"), job, many_hubs),
      "plan hanoi: macro.hub_ratio: needs 60 hubs, and the store has 30; use fewer, or make a store with: "
      "gnomon partition parted --parts 8 --method gnn_aware --store NEW_STORE --hub-ratio 0.200000");
  auto weighted = job;
  weighted.weighted = true;
  EXPECT_NE(refusal(graph, weighted, macro_preset("joestar-1")).find("by weight"), std::string::npos);
  auto normalised = job;
  normalised.norm = plan::Norm::batch;
  EXPECT_NE(refusal(graph, normalised, macro_preset("joestar-2")).find("norm \"batch\""), std::string::npos);
  EXPECT_EQ(refusal(graph, normalised, macro_preset("joestar-1")), "no error");
}

/// A store of 1,500 vertices of which part 0 holds more than half.
graph::Graph unevenly_parted_graph(const plan::Macro& macro, const std::filesystem::path& directory) {
  const auto graph = test::planted_graph(1500, columns);
  graph::PartOf part_of;
  for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    part_of.push_back(vertex < 900 ? 0 : 1 + static_cast<std::int32_t>(vertex % (macro.partitions - 1)));
  }
  graph::PartedStoreWriter(directory).commit(graph, part_of, request_of(macro), {.ratio = 0.1, .steps = 2});
  return graph::open_store(directory);
}

TEST(UnevenParts, TheLargestMacroBatchIsKnownBeforeItIsLoaded) {
  const DiskDirectory directory;
  auto plan = macro_preset("hanoi");
  const auto job = small_job(plan::ModelKind::sage);
  const auto graph = unevenly_parted_graph(plan.macro, directory / "store");
  const auto largest_of = [&](MacroLoader& loader) {
    std::int64_t largest = 0;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      for_each_macro_batch(loader, job, epoch, [&](MacroBatch& macro, std::int64_t, const MacroLayout&) {
        largest = std::max(largest, macro.bytes());
        smallest = std::min(smallest, macro.bytes());
      });
    }
    return std::pair(smallest, largest);
  };
  const auto loader = make_loader(placed(graph), job, plan);
  const auto before = loader->max_bytes();
  const auto [smallest, largest] = largest_of(*loader);
  EXPECT_LT(2 * smallest, largest) << "the first one may be much smaller than others";
  EXPECT_LE(largest, before.batch);
  EXPECT_GT(largest, before.batch * 3 / 4) << "only neighbours elsewhere are counted in excess";
  // The lists of part 0, their row pointers, a bit and a count of each vertex, and the hubs.
  const auto lists = graph.indptr[900] * std::int64_t{sizeof(std::uint32_t)};
  EXPECT_GE(before.loading, lists + 901 * 8 + 15 * graph.features.row_bytes());
  EXPECT_LT(loader->max_bytes().loading, before.loading) << "the hubs are there now";
  // Of all parts at once every neighbour is kept, so that the bound is what is taken.
  plan.macro.resident = plan.macro.partitions;
  plan.macro.hub_ratio = 0;
  const auto whole = make_loader(placed(graph), job, plan);
  EXPECT_EQ(largest_of(*whole).second, whole->max_bytes().batch);
}

TEST(UnevenParts, AFileThatShrinksIsNamed) {
  const DiskDirectory directory;
  const auto plan = macro_preset("mariusgnn");
  const auto job = small_job(plan::ModelKind::sage);
  for (const char* file : {"features.npy", "indices.npy"}) {
    const auto store = directory / (std::string("store of ") + file);
    const auto graph = unevenly_parted_graph(plan.macro, store);
    const auto loader = make_loader(placed(graph), job, plan);
    const MacroLayout layout(loader->groups(0), job, 0);
    EXPECT_NO_THROW(loader->load(layout, 0, 0));
    std::filesystem::resize_file(store / file, std::filesystem::file_size(store / file) / 8);
    const auto message = test::message_of<base::Failure>(store, [&] {
      for (std::int64_t group = 0; group < layout.num_groups(); ++group) {
        loader->load(layout, group, 0);
      }
    });
    EXPECT_TRUE(message.starts_with(file)) << message;
    EXPECT_TRUE(message.ends_with(": the file was changed")) << message;
  }
}

class SampledMacroBy : public testing::TestWithParam<int> {};

TEST_P(SampledMacroBy, ListsAreTheUnionOfTheDrawsOfAllHops) {
  const auto graph = test::planted_graph(1500, columns);
  auto job = small_job(plan::ModelKind::sage);
  job.fanouts = {3, 2, 2};
  auto plan = macro_preset("joestar-1", 3);
  plan.macro.fanout_factor = GetParam();
  const auto loader = make_loader(placed(graph), job, plan);
  std::vector<VertexId> trained;
  for_each_macro_batch(
      *loader, job, 2, [&](MacroBatch& macro, std::int64_t number, const MacroLayout& layout) {
        const auto& group = layout.group(number);
        expect_rows_of(graph, macro);
        expect_seeds(macro, group);
        trained.insert(trained.end(), group.train.begin(), group.train.end());
        // By definition: every vertex seen so far draws anew in each hop.
        std::map<VertexId, std::set<VertexId>> lists;
        std::set<VertexId> seen(group.train.begin(), group.train.end());
        for (std::uint32_t hop = 0; hop < 3; ++hop) {
          std::set<VertexId> next = seen;
          for (const VertexId vertex : seen) {
            const auto degree = graph.degree(vertex);
            const int fanout = GetParam() * job.fanouts[hop];
            std::vector<std::int64_t> positions(at(std::min<std::int64_t>(degree, fanout)));
            if (degree > fanout) {
              kernels::draw_positions({job.seed, 2, static_cast<std::uint64_t>(number)}, 128 + hop, vertex,
                                      degree, fanout, positions.data());
            } else {
              std::iota(positions.begin(), positions.end(), 0);
            }
            for (const auto position : positions) {
              const auto neighbour = graph.neighbours(vertex)[at(position)];
              lists[vertex].insert(neighbour);
              next.insert(neighbour);
            }
          }
          seen = next;
        }
        EXPECT_EQ(std::set<VertexId>(macro.vertices().begin(), macro.vertices().end()), seen);
        for (VertexId id = 0; id < std::ssize(macro.vertices()); ++id) {
          const auto neighbours = whole_neighbours(macro, id);
          ASSERT_EQ(std::set<VertexId>(neighbours.begin(), neighbours.end()),
                    lists[macro.vertices()[at(id)]]);
          ASSERT_EQ(neighbours.size(), lists[macro.vertices()[at(id)]].size());
        }
      });
  std::sort(trained.begin(), trained.end());
  EXPECT_TRUE(std::equal(trained.begin(), trained.end(), graph.train.begin(), graph.train.end()));
}

INSTANTIATE_TEST_SUITE_P(Factors, SampledMacroBy, testing::Values(1, 2));

/// Vertices 0 … 3 are trained and gather from vertex 4 alone, which gathers from 5 … 10.
struct Spring {
  Spring() : graph(test::graph_of({{4}, {4}, {4}, {4}, {5, 6, 7, 8, 9, 10}, {}, {}, {}, {}, {}, {}})) {
    graph.train = train;
    graph.labels = labels;
    graph.num_classes = 1;
    graph.features = {
        .data = reinterpret_cast<const std::byte*>(values.data()), .rows = std::ssize(values), .columns = 1};
  }
  std::vector<VertexId> train{0, 1, 2, 3};
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(11, 0);
  std::vector<float> values = std::vector<float>(11, 1.0F);
  graph::Graph graph;
};

/// The pair of neighbours that a mini-batch draws for vertex 4 in the second hop, 0 … 14.
int pair_drawn(MacroBatch& macro, const plan::Job& job, const kernels::BatchKey& key,
               const MacroLayout& layout) {
  BatchData data;
  prepare_batch(macro.placed()->graph, macro.sampler(0, job.fanouts, {}), key,
                macro.local_seeds(layout.seeds_of(static_cast<std::int64_t>(key.batch))), data);
  const auto& hop = data.batch.blocks[1];
  std::vector<int> drawn;
  for (std::int64_t i = 0; i < hop.num_destinations; ++i) {
    for (auto edge = hop.indptr[at(i)]; edge < hop.indptr[at(i) + 1]; ++edge) {
      const auto local = data.batch.vertices[at(hop.indices[at(edge)])];
      if (macro.vertices()[at(data.batch.vertices[at(i)])] == 4) {
        drawn.push_back(static_cast<int>(macro.vertices()[at(local)]) - 5);
      }
    }
  }
  EXPECT_EQ(drawn.size(), 2U);
  const auto [low, high] = std::minmax(drawn.at(0), drawn.at(1));
  return high * (high - 1) / 2 + low;
}

// Two mini-batches of a macro-batch draw independently of each other, as two of plan ns-mem do, if the factor
// covers the degrees; otherwise both see the few neighbours that were drawn for the macro-batch.
TEST(SampledMacro, MiniBatchesDrawAsFromTheWholeGraphIfTheFactorCoversAllDegrees) {
  const Spring spring;
  plan::Job job;
  job.fanouts = {2, 2};
  job.batch_size = 2;
  auto plan = macro_preset("joestar-1", 1);
  plan.macro.partitions = plan.macro.resident = 1;
  const auto p_of_factor = [&](int factor) {
    plan.macro.fanout_factor = factor;
    const auto loader = make_loader(placed(spring.graph), job, plan);
    std::vector<std::int64_t> counts(15 * 15, 0);
    for (std::int64_t epoch = 0; epoch < 4500; ++epoch) {
      const MacroLayout layout(loader->groups(epoch), job, epoch);
      const auto macro = loader->load(layout, 0, epoch);
      const auto pair = [&](std::uint64_t batch) {
        return pair_drawn(*macro, job, {job.seed, static_cast<std::uint64_t>(epoch), batch}, layout);
      };
      const int first = pair(0);
      ++counts[at(15 * first + pair(1))];
    }
    return kernels::uniformity_p(counts);
  };
  EXPECT_LT(p_of_factor(1), 1e-9);
  EXPECT_LT(p_of_factor(2), 1e-9);
  EXPECT_GT(p_of_factor(3), 1e-3);
}

TEST(HaloParts, OwnVerticesHaveWholeListsAndTheHaloNone) {
  const auto graph = test::planted_graph(1500, columns);
  const auto job = small_job(plan::ModelKind::sage);
  auto plan = macro_preset("joestar-2", 3);
  plan.macro.sampled_ahead = false;
  const auto loader = make_loader(placed(graph), job, plan);
  const auto part_of = graph::partition(graph, request_of(plan.macro));
  for_each_macro_batch(
      *loader, job, 1, [&](MacroBatch& macro, std::int64_t number, const MacroLayout& layout) {
        const auto& group = layout.group(number);
        expect_rows_of(graph, macro);
        expect_seeds(macro, group);
        std::set<VertexId> own, all;
        for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
          if (std::find(group.parts.begin(), group.parts.end(), part_of[at(vertex)]) != group.parts.end()) {
            own.insert(vertex);
            all.insert(vertex);
            all.insert(graph.neighbours(vertex).begin(), graph.neighbours(vertex).end());
          }
        }
        EXPECT_EQ(std::set<VertexId>(macro.vertices().begin(), macro.vertices().end()), all);
        for (VertexId id = 0; id < std::ssize(macro.vertices()); ++id) {
          const auto vertex = macro.vertices()[at(id)];
          ASSERT_EQ(macro.is_halo()[at(id)] == 0, own.contains(vertex));
          const auto stored = graph.neighbours(vertex);
          const std::vector<VertexId> whole(stored.begin(), stored.end());
          ASSERT_EQ(whole_neighbours(macro, id), own.contains(vertex) ? whole : std::vector<VertexId>());
        }
      });
}

/// The mini-batches of an epoch, as prepared from each macro-batch.
std::vector<BatchData> mini_batches(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan) {
  std::vector<BatchData> prepared;
  const auto loader = make_loader(placed(graph), job, plan);
  for_each_macro_batch(
      *loader, job, 0, [&](MacroBatch& macro, std::int64_t number, const MacroLayout& layout) {
        for (auto batch = layout.first_batch_of(number); batch < layout.first_batch_of(number + 1); ++batch) {
          prepare_batch(macro.placed()->graph, macro.sampler(0, job.fanouts, {}),
                        {job.seed, 0, static_cast<std::uint64_t>(batch)},
                        macro.local_seeds(layout.seeds_of(batch)), prepared.emplace_back());
        }
      });
  return prepared;
}

class SampledAhead : public testing::TestWithParam<graph::FeatureForm> {};

TEST_P(SampledAhead, MiniBatchesAreTheSameOnes) {
  const auto dense = test::planted_graph(1500, columns);
  const auto graph = graph::with_features_in(dense, GetParam());
  const auto job = small_job(plan::ModelKind::sage);
  auto plan = macro_preset("joestar-2");
  plan.macro.sampled_ahead = false;
  const auto expected = mini_batches(graph, job, plan);
  plan.macro.sampled_ahead = true;
  const auto ahead = mini_batches(graph, job, plan);
  ASSERT_EQ(ahead.size(), expected.size());
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    ASSERT_EQ(ahead[i].batch.vertices, expected[i].batch.vertices);
    ASSERT_EQ(ahead[i].features.size(), expected[i].features.size());
    ASSERT_EQ(std::memcmp(ahead[i].features.data(), expected[i].features.data(), ahead[i].features.size()),
              0);
    ASSERT_EQ(ahead[i].feature_indptr, expected[i].feature_indptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, SampledAhead,
                         testing::Values(graph::FeatureForm::dense, graph::FeatureForm::sparse));

}  // namespace
}  // namespace gnomon::runtime
