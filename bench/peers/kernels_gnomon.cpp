// gnomon's side of bench/compare_kernels.py.
//
//   bench_kernels_peer blocks DIR   samples the batches whose blocks all peers compute on, as .npy files
//   bench_kernels_peer serve DIR    reads one request a line and answers each with one line of JSON
//   (peers/kernels.py)

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/document.h"
#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "graph/store/npy.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sparse/sparse.h"
#include "nn/caching_allocator.h"
#include "nn/parallel.h"
#include "nn/sparse/sparse.h"

namespace gnomon::bench {
namespace {

namespace cpu = kernels::cpu;
using base::Json;
using std::filesystem::path;
using torch::Tensor;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t heads = 4;

template <class T>
void write(const path& file, graph::DType type, const std::vector<T>& values) {
  graph::NpyWriter writer(file, type);
  writer.write(std::span<const T>(values));
  writer.finish();
}

/// Writes one batch of 1,024 seeds for each of the fanouts, one directory per hop; the outermost hop belongs
/// to the model's first layer.
void write_blocks(const path& directory) {
  const auto graph = graph::generate_in_memory(
      graph::Rmat{.scale = 20, .feature_columns = 1, .feature_type = graph::FeatureType::fp16, .seed = 1});
  std::vector<graph::VertexId> all;
  for (graph::VertexId v = 0; v < graph.num_vertices(); ++v) {
    if (graph.degree(v) > 0) {
      all.push_back(v);
    }
  }
  const auto order = graph::epoch_order(all, 1, 0);
  for (const auto& fanouts : {std::vector{15, 10, 5}, std::vector{10, 10}}) {
    cpu::Sampler sampler(graph, fanouts);
    kernels::MiniBatch batch;
    sampler.sample({1, 0, 0}, graph::batch_seeds(order, 1024, 0), batch);
    const auto folder = directory / (std::to_string(fanouts.size()) + "hops");
    std::filesystem::create_directories(folder);
    write(folder / "vertices.npy", graph::DType::int64, batch.vertices);
    for (std::size_t hop = 0; hop < batch.blocks.size(); ++hop) {
      const auto& block = batch.blocks[hop];
      write(folder / ("indptr" + std::to_string(hop) + ".npy"), graph::DType::int64, block.indptr);
      write(folder / ("indices" + std::to_string(hop) + ".npy"), graph::DType::int32, block.indices);
      write(folder / ("sources" + std::to_string(hop) + ".npy"), graph::DType::int64,
            std::vector<std::int64_t>{block.num_sources});
    }
  }
}

template <class T>
std::vector<T> read(const path& file) {
  const auto array = graph::map_npy(file);
  const auto values = array.template span<T>();
  return {values.begin(), values.end()};
}

struct Batch {
  std::vector<std::shared_ptr<kernels::Block>> blocks;
  std::vector<graph::VertexId> vertices;
};

Batch read_batch(const path& folder) {
  Batch batch;
  batch.vertices = read<std::int64_t>(folder / "vertices.npy");
  for (int hop = 0; std::filesystem::exists(folder / ("indptr" + std::to_string(hop) + ".npy")); ++hop) {
    auto block = std::make_shared<kernels::Block>();
    block->indptr = read<std::int64_t>(folder / ("indptr" + std::to_string(hop) + ".npy"));
    block->indices = read<std::int32_t>(folder / ("indices" + std::to_string(hop) + ".npy"));
    block->num_sources = read<std::int64_t>(folder / ("sources" + std::to_string(hop) + ".npy")).front();
    block->num_destinations = std::ssize(block->indptr) - 1;
    batch.blocks.push_back(std::move(block));
  }
  return batch;
}

/// One operation on one block, with its inputs.
struct Operation {
  std::vector<Tensor> leaves;  ///< the inputs that get gradients
  std::function<Tensor(const nn::SparseBlockPtr&)> act;
};

Tensor leaf(std::vector<std::int64_t> sizes) { return torch::rand(sizes).requires_grad_(); }

Tensor dots(const nn::SparseBlockPtr& block, const Tensor& left, const Tensor& right) {
  const auto rows = block->by_destination();
  Tensor y = torch::empty({rows.num_entries(), heads});
  const auto span_of = [](const Tensor& x) {
    return std::span(x.const_data_ptr<float>(), static_cast<std::size_t>(x.numel()));
  };
  nn::for_row_ranges(rows, left.size(1), [&](cpu::RowRange range) {
    cpu::sddmm_dot(rows, range, {heads, left.size(1) / heads}, span_of(left), span_of(right),
                   {y.mutable_data_ptr<float>(), static_cast<std::size_t>(y.numel())});
  });
  return y;
}

/// Computes the mean of the neighbours' rows directly from `table` (fp16, one row per vertex).
Tensor fused_mean(const nn::SparseBlockPtr& block, const Tensor& table,
                  const std::vector<graph::VertexId>& vertices) {
  const auto rows = block->by_destination();
  const graph::Features features{static_cast<const std::byte*>(table.const_data_ptr()),
                                 graph::FeatureType::fp16, table.size(0), table.size(1)};
  const auto scales = cpu::inverse_degrees(rows.indptr);
  Tensor y = torch::empty({rows.num_rows(), table.size(1)});
  nn::for_row_ranges(rows, table.size(1), [&](cpu::RowRange range) {
    cpu::spmm_stored(rows, range, {scales, {}}, {features, vertices, {}},
                     {y.mutable_data_ptr<float>(), static_cast<std::size_t>(y.numel())});
  });
  return y;
}

class Server {
 public:
  explicit Server(const path& directory) {
    for (const auto* name : {"3hops", "2hops"}) {
      batches_.emplace(name, read_batch(directory / name));
    }
  }

  /// {"operation", "batch", "columns", "direction", "threads", "repeats"} → seconds of each repetition, each
  /// over all blocks that count.
  std::vector<double> answer(const Json& request) {
    at::set_num_threads(request.at("threads").get<int>());
    const auto& batch = batches_.at(request.at("batch").get<std::string>());
    const auto name = request.at("operation").get<std::string>();
    std::vector<Operation> operations;
    std::vector<nn::SparseBlockPtr> blocks;
    for (const auto& block : batch.blocks) {
      if (name != "fused_mean" || &block == &batch.blocks.back()) {
        operations.push_back(operation(name, *block, request.at("columns").get<std::int64_t>(), batch));
        blocks.push_back(nn::sparse_block(block));
      }
    }
    std::vector<double> seconds;
    const auto direction = request.at("direction").get<std::string>();
    for (int i = 0; i < request.at("repeats").get<int>(); ++i) {
      if (direction == "first_backward") {
        for (auto& block : blocks) {
          block = std::make_shared<const nn::SparseBlock>(block->num_sources(), block->indptr(),
                                                          block->indices());
        }
      }
      seconds.push_back(direction == "forward" ? forward_s(operations, blocks)
                                               : backward_s(operations, blocks));
    }
    return seconds;
  }

 private:
  Operation operation(const std::string& name, const kernels::Block& block, std::int64_t columns,
                      const Batch& batch) {
    const auto S = block.num_sources;
    const auto D = block.num_destinations;
    const auto E = block.num_edges();
    if (name == "spmm_sum" || name == "spmm_mean") {
      const Tensor x = leaf({S, columns});
      return {{x}, [x, name](const auto& on) {
                return name == "spmm_sum" ? nn::spmm_sum(on, x) : nn::spmm_mean(on, x);
              }};
    }
    if (name == "spmm_scaled") {
      const Tensor x = leaf({S, columns}), left = torch::rand({D}), right = torch::rand({S});
      return {{x}, [=](const auto& on) { return nn::spmm_scaled(on, x, left, right); }};
    }
    if (name == "spmm_weighted") {
      const Tensor x = leaf({S, heads, columns / heads}), weights = leaf({E, heads});
      return {{x, weights}, [=](const auto& on) { return nn::spmm_weighted(on, x, weights); }};
    }
    if (name == "sddmm_dot") {
      const Tensor left = torch::rand({D, columns}), right = torch::rand({S, columns});
      return {{}, [=](const auto& on) { return dots(on, left, right); }};
    }
    if (name == "sddmm_add") {
      const Tensor left = leaf({D, heads}), right = leaf({S, heads});
      return {{left, right}, [=](const auto& on) { return nn::sddmm_add(on, left, right); }};
    }
    if (name == "edge_softmax") {
      const Tensor logits = leaf({E, heads});
      return {{logits}, [=](const auto& on) { return nn::edge_softmax(on, logits); }};
    }
    TORCH_CHECK(name == "fused_mean", "no operation ", name);
    if (!table_.defined() || table_.size(1) != columns) {
      table_ = torch::rand({1 << 20, columns}).to(torch::kHalf);
    }
    return {{}, [table = table_, &batch](const auto& on) { return fused_mean(on, table, batch.vertices); }};
  }

  static double forward_s(const std::vector<Operation>& operations,
                          const std::vector<nn::SparseBlockPtr>& blocks) {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      operations[i].act(blocks[i]);
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  static double backward_s(const std::vector<Operation>& operations,
                           const std::vector<nn::SparseBlockPtr>& blocks) {
    std::vector<Tensor> results, gradients;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      results.push_back(operations[i].act(blocks[i]));
      gradients.push_back(torch::rand_like(results.back()));
    }
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      torch::autograd::grad({results[i]}, operations[i].leaves, {gradients[i]});
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::map<std::string, Batch> batches_;
  Tensor table_;
};

void serve(const path& directory) {
  nn::install_caching_allocator();  // as gnomon does at its start
  Server server(directory);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Json{{"seconds", server.answer(Json::parse(line))}}.dump() << std::endl;
  }
}

}  // namespace
}  // namespace gnomon::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 2 || (arguments[0] != "blocks" && arguments[0] != "serve")) {
    std::cerr << "usage: bench_kernels_peer blocks|serve DIR\n";
    return 2;
  }
  if (arguments[0] == "blocks") {
    gnomon::bench::write_blocks(arguments[1]);
  } else {
    gnomon::bench::serve(arguments[1]);
  }
}
