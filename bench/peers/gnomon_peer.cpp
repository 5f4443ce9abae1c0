// gnomon's side of bench/compare_peers.py, compare_orders.py and scaling.py: creates the graphs, measures the
// memory's lower bound, and prepares mini-batches on request.
//
//   bench_peer make KIND DIR [ORDER]     writes the graph KIND as a store, its vertices in an order (none,
//                                        degree, rcm), with seeds.npy beside it
//   bench_peer weigh DIR                 adds weights.npy: for each edge a weight, uniform in (0, 1)
//   bench_peer import FILE DIR [ORDER]   the same from an edge list
//   bench_peer serve DIR           reads one request a line, answers with one line of JSON (see peers.py)

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/document.h"
#include "bench/memory_floor.h"
#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "graph/import/import.h"
#include "graph/store/store.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/sample/sampler.h"

namespace gnomon::bench {
namespace {

using base::Json;
using graph::VertexId;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t batch_size = 1024;
constexpr std::int64_t line_bytes = 64;

/// All vertices that have neighbours, shuffled: the seeds of every peer's batches.
void write_seeds(const std::filesystem::path& directory) {
  const auto graph = graph::open_store(directory);
  std::vector<VertexId> vertices;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    if (graph.degree(v) > 0) {
      vertices.push_back(v);
    }
  }
  const auto order = graph::epoch_order(vertices, 1, 0);
  graph::NpyWriter writer(directory / "seeds.npy", graph::DType::int64);
  writer.write(std::span<const VertexId>(order));
  writer.finish();
}

void write_weights(const std::filesystem::path& directory) {
  std::vector<float> weights(static_cast<std::size_t>(graph::open_store(directory).num_edges()));
  std::mt19937_64 random(1);
  std::generate(weights.begin(), weights.end(),
                [&] { return (static_cast<float>(random() >> 41) + 0.5F) * 0x1p-23F; });
  graph::NpyWriter writer(directory / "weights.npy", graph::DType::float32);
  writer.write(std::span<const float>(weights));
  writer.finish();
}

void make_graph(const std::string& kind, const std::filesystem::path& directory, graph::VertexOrder order) {
  const auto write = [&](const std::filesystem::path& store) {
    if (kind.starts_with("rmat")) {
      graph::generate(
          graph::Rmat{
              .scale = std::stoi(kind.substr(4)), .feature_type = graph::FeatureType::fp16, .seed = 1},
          store);
    } else {
      graph::generate(
          graph::PlantedPartition{
              .vertices = 1 << 20, .average_degree = 30, .feature_type = graph::FeatureType::fp16, .seed = 1},
          store);
    }
  };
  graph::write_in_order(order, directory, write);
  write_seeds(directory);
}

void import_graph(const std::filesystem::path& file, const std::filesystem::path& directory,
                  graph::VertexOrder order) {
  graph::ImportOptions options;
  options.source = file.string();
  options.relabel = true;
  options.content.edges = {true, graph::SelfLoops::remove, graph::Duplicates::remove};
  options.random_features = 128;
  options.content.feature_type = graph::FeatureType::fp16;
  options.order = order;
  graph::import_graph(options, directory);
  write_seeds(directory);
}

struct Request {
  std::vector<int> fanouts;
  bool gather = false;
  int threads = 1;
  double seconds = 1;
  bool by_weight = false;  ///< draw by the weights in weights.npy
};

Request read_request(const Json& json) {
  return {json.at("fanouts"), json.at("gather"), json.at("threads"), json.at("seconds"),
          json.value("by_weight", false)};
}

/// Returns the CPU time of the calling thread, which other load on the machine affects less than wall-clock
/// time.
double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Totals {
  std::int64_t batches = 0;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  double cpu_s = 0;
};

class Server {
 public:
  explicit Server(const std::filesystem::path& directory)
      : directory_(directory),
        graph_(kernels::cpu::with_copied_features(graph::open_store(directory))),
        seeds_file_(graph::map_npy(directory / "seeds.npy")) {}

  Json answer(const Json& json) {
    if (json.contains("floor")) {
      return {{"lines_per_s",
               random_lines_per_s(std::size_t{1} << 30, std::int64_t{1} << 25, json.at("floor").get<int>())}};
    }
    if (json.contains("lines")) {
      return {{"lines", lines_a_batch(json.at("lines"), json.at("gather"))}};
    }
    const Request request = read_request(json);
    if (request.by_weight && !weighted_.draws_by_weight()) {
      weights_file_.emplace(graph::map_npy(directory_ / "weights.npy"));
      graph_.edge_weights = weights_file_->span<float>();
      weighted_ = kernels::cpu::resident_copy(graph_, kernels::cpu::Draws::by_weight);
    }
    return measure(request);
  }

 private:
  std::span<const VertexId> seeds_of(std::int64_t batch) const {
    const auto all = seeds_file_.span<VertexId>();
    const auto count = graph::num_batches(static_cast<std::int64_t>(all.size()), batch_size) - 1;
    return graph::batch_seeds(all, batch_size, batch % std::max<std::int64_t>(count, 1));
  }

  /// Mean over some batches of the different cache lines that a batch needs: row pointers, drawn neighbours,
  /// and with `gather` the rows of its vertices.
  double lines_a_batch(const std::vector<int>& fanouts, bool gather) const {
    constexpr std::int64_t batches = 8;
    kernels::cpu::Sampler sampler(topology_, fanouts);
    kernels::MiniBatch batch;
    std::int64_t lines = 0;
    for (std::int64_t i = 0; i < batches; ++i) {
      sampler.sample({1, 0, static_cast<std::uint64_t>(i)}, seeds_of(i), batch);
      lines += structure_lines(batch);
      if (gather) {
        lines += std::ssize(batch.vertices) * ((graph_.features.row_bytes() + line_bytes - 1) / line_bytes);
      }
    }
    return static_cast<double>(lines) / static_cast<double>(batches);
  }

  std::int64_t structure_lines(const kernels::MiniBatch& batch) const {
    constexpr std::int64_t pointers_a_line = line_bytes / sizeof(std::int64_t);
    const std::int64_t ids_a_line = line_bytes / (topology_.narrow_indices.empty() ? 8 : 4);
    std::unordered_set<std::int64_t> pointers, ids;
    for (const auto& block : batch.blocks) {
      for (std::size_t v = 0; v < static_cast<std::size_t>(block.num_destinations); ++v) {
        const VertexId vertex = batch.vertices[v];
        const auto neighbours = graph_.neighbours(vertex);  // ascending
        pointers.insert(vertex / pointers_a_line);
        for (auto e = block.indptr[v]; e < block.indptr[v + 1]; ++e) {
          const auto source = static_cast<std::size_t>(block.indices[static_cast<std::size_t>(e)]);
          const auto position =
              std::lower_bound(neighbours.begin(), neighbours.end(), batch.vertices[source]) -
              neighbours.begin();
          ids.insert((topology_.indptr[static_cast<std::size_t>(vertex)] + position) / ids_a_line);
        }
      }
    }
    return std::ssize(pointers) + std::ssize(ids);
  }

  Json measure(const Request& request) {
    std::atomic<std::int64_t> next{0};
    std::vector<Totals> totals(static_cast<std::size_t>(request.threads));
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::jthread> team;
    double seconds = 0;
    for (auto& total : totals) {
      team.emplace_back([&] { work(request, next, ready, go, total); });
    }
    while (ready < request.threads) {
      std::this_thread::yield();
    }
    const auto start = Clock::now();
    go = true;
    team.clear();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
    Totals sum;
    for (const auto& total : totals) {
      sum.batches += total.batches;
      sum.vertices += total.vertices;
      sum.edges += total.edges;
      sum.cpu_s += total.cpu_s;
    }
    return {{"batches", sum.batches},
            {"vertices", sum.vertices},
            {"edges", sum.edges},
            {"seconds", seconds},
            {"cpu_s", sum.cpu_s}};
  }

  void work(const Request& request, std::atomic<std::int64_t>& next, std::atomic<int>& ready,
            const std::atomic<bool>& go, Totals& total) const {
    kernels::cpu::Sampler sampler(request.by_weight ? weighted_ : topology_, request.fanouts);
    kernels::MiniBatch batch;
    std::vector<std::byte> rows;
    const auto run = [&](std::int64_t i) {
      sampler.sample({1, 0, static_cast<std::uint64_t>(i)}, seeds_of(i), batch);
      if (request.gather) {
        rows.resize(batch.vertices.size() * static_cast<std::size_t>(graph_.features.row_bytes()));
        kernels::cpu::gather_rows(graph_.features, batch.vertices, rows.data());
      }
    };
    for (int i = 0; i < 5; ++i) {
      run(i);
    }
    ++ready;
    while (!go) {
      std::this_thread::yield();
    }
    const double cpu_start = thread_cpu_s();
    const auto end = Clock::now() + std::chrono::duration<double>(request.seconds);
    while (Clock::now() < end) {
      run(next++);
      ++total.batches;
      total.vertices += static_cast<std::int64_t>(batch.vertices.size());
      total.edges += batch.num_edges();
    }
    total.cpu_s = thread_cpu_s() - cpu_start;
  }

  std::filesystem::path directory_;
  graph::Graph graph_;
  std::optional<graph::MappedNpy> weights_file_;
  kernels::cpu::Topology weighted_;  ///< if requested
  kernels::cpu::Topology topology_ = kernels::cpu::resident_copy(graph_);
  graph::MappedNpy seeds_file_;
};

int run(const std::vector<std::string>& arguments) {
  const auto order =
      base::value_of<graph::VertexOrder>("ORDER", arguments.size() == 4 ? arguments[3] : "none");
  if ((arguments.size() == 3 || arguments.size() == 4) && arguments[0] == "make") {
    make_graph(arguments[1], arguments[2], order);
    return 0;
  }
  if ((arguments.size() == 3 || arguments.size() == 4) && arguments[0] == "import") {
    import_graph(arguments[1], arguments[2], order);
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "weigh") {
    write_weights(arguments[1]);
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "serve") {
    Server server(arguments[1]);
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << server.answer(Json::parse(line)) << std::endl;
    }
    return 0;
  }
  std::cerr
      << "usage: bench_peer make rmat20|rmat24|planted DIR [ORDER] | import FILE DIR [ORDER] | weigh DIR | "
         "serve DIR\n";
  return 2;
}

}  // namespace
}  // namespace gnomon::bench

int main(int argc, char** argv) { return gnomon::bench::run({argv + 1, argv + argc}); }
