#include "profiles/measure/tensor_probes.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/cuda.h>

#include <memory>
#include <utility>

#include "kernels/block.h"
#include "nn/dense/chunks.h"
#include "nn/dense/dense.h"
#include "nn/dense/gemm.h"
#include "nn/matmul_precision.h"
#include "nn/sparse/sparse.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::profiles {
namespace {

constexpr std::int64_t layer_rows = 2048;
/// Flops of a linear layer's forward pass and of both gradients.
constexpr double flops_per_weight_and_row = 6;

at::Tensor random_matrix(std::int64_t height, std::int64_t width) {
  return at::rand({height, width}, at::TensorOptions(at::kFloat));
}

plan::Job rounding_job() {
  plan::Job job;
  job.matmul_precision = plan::MatmulPrecision::medium;
  return job;
}

/// Whether layers of that width round their operands to bf16 on this processor and LibTorch.
bool rounds_operands(std::int64_t width) {
  const nn::MatmulPrecisionGuard precision(rounding_job());
  const auto matrix = random_matrix(2, width);
  return nn::GemmOperands(matrix.device(), width, width).of(matrix).scalar_type() == at::kBFloat16;
}

Probe layer_probe(Work work, int threads, std::int64_t width) {
  const auto x = random_matrix(layer_rows, width).set_requires_grad(true);
  const auto weight = random_matrix(width, width).set_requires_grad(true);
  const auto gradient = random_matrix(layer_rows, width);
  const double flops = flops_per_weight_and_row * static_cast<double>(layer_rows * width * width);
  return {{.work = work, .threads = threads, .size = static_cast<double>(width)}, flops, [=] {
            const nn::AtenThreadsGuard guard(threads);
            const nn::MatmulPrecisionGuard precision(work == Work::dense_bf16 ? rounding_job() : plan::Job{});
            x.mutable_grad().reset();
            weight.mutable_grad().reset();
            nn::dense::linear(x, weight).backward(gradient);
          }};
}

constexpr std::int64_t block_destinations = 1024;
constexpr std::int64_t block_fanout = 10;

std::shared_ptr<const kernels::Block> random_block() {
  auto block = std::make_shared<kernels::Block>();
  block->num_destinations = block_destinations;
  block->num_sources = 8 * block_destinations;
  const auto drawn = at::randint(block->num_sources, {block_destinations * block_fanout}, at::kInt);
  block->indices.assign(drawn.const_data_ptr<int>(), drawn.const_data_ptr<int>() + drawn.numel());
  for (std::int64_t i = 0; i <= block_destinations; ++i) {
    block->indptr.push_back(i * block_fanout);
  }
  return block;
}

Probe mean_probe(const nn::SparseBlockPtr& block, int threads, std::int64_t columns) {
  const auto x = random_matrix(block->num_sources(), columns).set_requires_grad(true);
  const auto gradient = random_matrix(block_destinations, columns);
  const double bytes = 2 * static_cast<double>(block->num_edges() * columns) * sizeof(float);
  return {{.work = Work::sparse, .threads = threads, .size = static_cast<double>(columns)}, bytes, [=] {
            const nn::AtenThreadsGuard guard(threads);
            x.mutable_grad().reset();
            nn::spmm_mean(block, x).backward(gradient);
          }};
}

Probe operations_probe() {
  constexpr int calls = 100;
  const auto a = random_matrix(1, 4).set_requires_grad(true);
  const auto b = random_matrix(1, 4);
  return {{.work = Work::operations}, calls, [=] {
            for (int i = 0; i < calls; ++i) {
              at::add(a, b);
            }
          }};
}

/// Launches work on a GPU and waits for it.
Probe on_device(c10::Device device, Work work, std::optional<double> size, double count,
                std::function<void()> launch) {
  return {{.work = work, .size = size}, count, [device, launch = std::move(launch)] {
            const c10::AutoGradMode no_grad(false);
            launch();
            if (device.is_cuda()) {
              torch::cuda::synchronize(device.index());
            }
          }};
}

Probe device_layer_probe(c10::Device device, Work work, at::ScalarType type, std::int64_t width) {
  const std::int64_t many_rows = device.is_cuda() ? 8 * layer_rows : layer_rows;
  const auto options = at::TensorOptions(type).device(device);
  const auto x = at::ones({many_rows, width}, options);
  const auto weight = at::ones({width, width}, options);
  const auto out = at::empty({many_rows, width}, options);
  const auto of_weight = at::empty({width, width}, options);
  const double flops = flops_per_weight_and_row * static_cast<double>(many_rows * width * width);
  return on_device(device, work, static_cast<double>(width), flops,
                   [=, y = out, gradient = of_weight]() mutable {
                     at::mm_out(y, x, weight);
                     at::mm_out(y, x, weight.t());
                     at::mm_out(gradient, x.t(), x);
                   });
}

Probe device_copies_probe(c10::Device device, std::int64_t bytes) {
  const auto options = at::TensorOptions(at::kByte).device(device);
  const auto from = at::ones({bytes}, options);
  const auto to = at::empty({bytes}, options);
  return on_device(device, Work::device_copies, static_cast<double>(bytes), static_cast<double>(bytes),
                   [=] { to.copy_(from); });
}

Probe link_copies_probe(c10::Device device, std::int64_t bytes) {
  const auto host = at::TensorOptions(at::kByte).pinned_memory(device.is_cuda());
  const auto from = at::ones({bytes}, host);
  const auto to = at::empty({bytes}, at::TensorOptions(at::kByte).device(device));
  return on_device(device, Work::link_copies, static_cast<double>(bytes), static_cast<double>(bytes),
                   [=] { to.copy_(from, /*non_blocking=*/true); });
}

Probe device_rows_probe(c10::Device device, std::int64_t bytes) {
  constexpr std::int64_t columns = 128;
  constexpr std::int64_t gathered = 16384;
  const std::int64_t height = bytes / (columns * static_cast<std::int64_t>(sizeof(float)));
  const auto table = at::ones({height, columns}, at::TensorOptions(at::kFloat).device(device));
  const auto ids = at::randint(height, {gathered}, at::TensorOptions(at::kLong)).to(device);
  const auto out = at::empty({gathered, columns}, table.options());
  return on_device(device, Work::device_rows, static_cast<double>(bytes),
                   static_cast<double>(gathered * columns) * sizeof(float),
                   [=, to = out]() mutable { at::index_select_out(to, table, 0, ids); });
}

Probe launches_probe(c10::Device device) {
  constexpr int calls = 1000;
  const auto x = at::zeros({1}, at::TensorOptions(at::kFloat).device(device));
  return on_device(device, Work::launches, std::nullopt, calls, [=] {
    for (int i = 0; i < calls; ++i) {
      x.add_(1);
    }
  });
}

}  // namespace

std::vector<Probe> host_tensor_probes(int threads) {
  std::vector<int> thread_counts{1};
  if (threads > 1) {
    thread_counts.push_back(threads);
  }
  const auto block = nn::sparse_block(random_block());
  std::vector<Probe> probes{operations_probe()};
  for (const int count : thread_counts) {
    for (const std::int64_t width : {16, 64, 256}) {
      probes.push_back(layer_probe(Work::dense_fp32, count, width));
      if (rounds_operands(width)) {
        probes.push_back(layer_probe(Work::dense_bf16, count, width));
      }
      probes.push_back(mean_probe(block, count, width));
    }
  }
  return probes;
}

Probe dense_probe(std::int64_t width) { return layer_probe(Work::dense_fp32, 1, width); }

std::vector<Probe> device_probes(c10::Device device, std::size_t max_bytes) {
  const auto bytes = static_cast<std::int64_t>(max_bytes);
  std::vector<Probe> probes{launches_probe(device)};
  for (const std::int64_t width : {16, 64, 256}) {
    probes.push_back(device_layer_probe(device, Work::device_dense_fp32, at::kFloat, width));
    probes.push_back(device_layer_probe(device, Work::device_dense_bf16, at::kBFloat16, width));
  }
  for (const std::int64_t size : {bytes / 16, bytes}) {
    probes.push_back(device_copies_probe(device, size));
    probes.push_back(link_copies_probe(device, size));
    probes.push_back(device_rows_probe(device, size));
  }
  return probes;
}

}  // namespace gnomon::profiles
