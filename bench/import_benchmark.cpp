#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "graph/generate/generate.h"
#include "graph/import/import.h"
#include "graph/store/csc_builder.h"

// Conversions by the edge. What must move: 24 bytes an edge are read and 8 are written into a bucket, which
// are read, put into rows and written as an id of 8; of text, some 15 bytes are parsed twice, once for the
// largest id.

namespace {

using namespace gnomon;

constexpr std::int64_t vertices = 1 << 20;
constexpr std::int64_t edges = 16 * vertices;

const std::vector<graph::Edge>& random_edges() {
  static const auto all = [] {
    std::mt19937_64 random(1);
    std::vector<graph::Edge> list(edges);
    for (auto& edge : list) {
      edge = {static_cast<graph::VertexId>(random() % vertices),
              static_cast<graph::VertexId>(random() % vertices)};
    }
    return list;
  }();
  return all;
}

void build_csc(benchmark::State& state) {
  const graph::CscRequest request{
      vertices, {}, false, "edges", {.threads = static_cast<int>(state.range(0))}};
  const auto stream = [](const graph::EdgeVisitor& visit) {
    constexpr std::size_t block = 1 << 17;
    for (std::size_t begin = 0; begin < random_edges().size(); begin += block) {
      visit(std::span(random_edges()).subspan(begin, block));
    }
  };
  std::vector<graph::VertexId> indices(edges);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        graph::build_csc(request, stream, [&](std::int64_t) { return graph::EdgeBuffers{indices.data()}; }));
  }
  state.SetItemsProcessed(state.iterations() * edges);
}
BENCHMARK(build_csc)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A place for files that goes away with the process.
class Place {
 public:
  Place() : path_(std::filesystem::temp_directory_path() / ("gnomon-bench-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Place() { std::filesystem::remove_all(path_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void generate_rmat(benchmark::State& state) {
  const Place place;
  const graph::Rmat options{.scale = 20, .feature_columns = 1, .classes = 2};
  for (auto _ : state) {
    graph::generate(options, place / "store");
    state.PauseTiming();
    std::filesystem::remove_all(place / "store");
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * edges);
}
BENCHMARK(generate_rmat)->Unit(benchmark::kMillisecond)->UseRealTime();

void import_text(benchmark::State& state) {
  const Place place;
  {
    std::string text;
    for (const auto& edge : random_edges()) {
      text += std::to_string(edge.source) + '\t' + std::to_string(edge.destination) + '\n';
    }
    std::ofstream(place / "edges.txt") << text;
  }
  graph::ImportOptions options;
  options.source = place / "edges.txt";
  options.random_features = 1;
  options.random_classes = 2;
  for (auto _ : state) {
    graph::import_graph(options, place / "store");
    state.PauseTiming();
    std::filesystem::remove_all(place / "store");
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * edges);
}
BENCHMARK(import_text)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
