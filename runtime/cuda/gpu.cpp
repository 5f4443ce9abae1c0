#include "runtime/cuda/gpu.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/gather.h"
#include "kernels/cuda/sampler.h"
#include "nn/cuda/kernels.h"
#include "runtime/batch_tensors.h"
#include "runtime/cuda/device_graph.h"
#include "runtime/cuda/device_memory.h"
#include "runtime/device/batch_maker-inl.h"
#include "runtime/saturation.h"

namespace gnomon::runtime::cuda {
namespace {

using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;
using kernels::cuda::check;

bool reads_cache(const plan::Plan& plan) {
  return plan.cache.is_used() && (plan.uses_device_route() || plan.prepares_samples());
}

double seconds_of(const CUDAStream& stream, const std::function<void()>& act) {
  stream.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  act();
  stream.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Bytes a second of copies, the fastest of several.
double bandwidth(const CUDAStream& stream, std::size_t bytes, const std::function<void()>& copy) {
  copy();
  double best_s = seconds_of(stream, copy);
  for (int i = 0; i < 9; ++i) {
    best_s = std::min(best_s, seconds_of(stream, copy));
  }
  return static_cast<double>(bytes) / best_s;
}

}  // namespace

Gpu::Gpu(const PlacedGraph& placed, const plan::Job& job, const plan::Plan& plan,
         const DeviceOptions& options, base::Progress progress)
    : placed_(placed),
      job_(job),
      plan_(plan),
      options_(options),
      progress_(std::move(progress)),
      copy_stream_(c10::cuda::getStreamFromPool(false, 0)),
      prepare_stream_(c10::cuda::getStreamFromPool(false, 0)),
      train_stream_(plan.prepares_beside_training() ? c10::cuda::getStreamFromPool(true, 0)
                                                    : prepare_stream_) {
  at::globalContext().lazyInitDevice(c10::kCUDA);  // its allocator serves us before any tensor's operation
  limit_memory(0, most_bytes());
  is_cache_due_ = reads_cache(plan_);
}

Gpu::~Gpu() {
  const c10::cuda::CUDAGuard guard(0);
  (void)cudaDeviceSynchronize();  // nothing reads what is given back now
}

/// By the plan and the options together; 0: all there are.
std::int64_t Gpu::most_bytes() const {
  const std::int64_t by_plan = plan_.device_memory_bytes;
  const std::int64_t by_options = options_.most_bytes;
  return by_plan == 0 || by_options == 0 ? std::max(by_plan, by_options) : std::min(by_plan, by_options);
}

c10::Device Gpu::device() const { return device_of(options_); }

std::pmr::memory_resource* Gpu::host_memory() { return pinned_memory(); }

void Gpu::take_plan(const plan::Plan& plan) {
  const std::lock_guard lock(maker_mutex_);
  const bool new_cache = !(plan.cache == plan_.cache) || reads_cache(plan) != reads_cache(plan_) ||
                         plan.device_memory_bytes != plan_.device_memory_bytes;
  const bool new_reads =
      plan.prepare_share != plan_.prepare_share || plan.unaligned_reads != plan_.unaligned_reads;
  if (plan.prepares_beside_training() != plan_.prepares_beside_training()) {
    train_stream_ = plan.prepares_beside_training() ? c10::cuda::getStreamFromPool(true, 0) : prepare_stream_;
  }
  plan_ = plan;
  limit_memory(0, most_bytes());
  if (new_cache || new_reads) {
    maker_.reset();
    is_cache_due_ = reads_cache(plan_);
  }
}

/// Kernels of a device that prepares beside training keep to their share of the multiprocessors.
void Gpu::open_maker() {
  if (maker_) {
    return;
  }
  const double share = plan_.prepares_beside_training() ? plan_.prepare_share : 1;
  executor_ = std::make_unique<kernels::cuda::Executor>(prepare_stream_.stream(),
                                                        allocate_on(prepare_stream_), share);
  const auto reads =
      plan_.unaligned_reads ? kernels::device::Reads::straight : kernels::device::Reads::shifted;
  maker_ = std::make_unique<Maker>(*executor_, place_on_device(placed_, plan_, *executor_), job_.fanouts,
                                   reads, device());
}

DeviceBatch Gpu::copy(const BatchData& data) {
  DeviceBatch batch;
  const bool lacks_features = data.features.size() == 0;
  with_memory("copying a mini-batch", plan_, [&] {
    const CUDAStreamGuard guard(copy_stream_);
    batch.tensors = nn::on_device(view_of(data), device());
    if (lacks_features) {
      batch.vertices = ids_of(data).to(device());
    }
    copy_stream_.synchronize();
  });
  batch.num_vertices = std::ssize(data.batch.vertices);
  batch.num_edges = data.batch.num_edges();
  batch.bytes = data.bytes() - (lacks_features ? 0 : 8 * batch.num_vertices);
  return batch;
}

void Gpu::with_maker(const std::string& doing, const std::function<void()>& act) {
  with_memory(doing, plan_, [&] {
    const std::lock_guard lock(maker_mutex_);
    const CUDAStreamGuard guard(prepare_stream_);
    open_maker();
    act();
    prepare_stream_.synchronize();
  });
}

DeviceBatch Gpu::prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  DeviceBatch batch;
  with_maker("preparing a mini-batch",
             [&] { batch = plan_.fused ? maker_->prepare_sample(key, seeds) : maker_->prepare(key, seeds); });
  return batch;
}

void Gpu::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds, BatchData& data) {
  with_maker("sampling a mini-batch", [&] { maker_->sample(key, seeds, data); });
}

void Gpu::gather(DeviceBatch& batch) {
  with_maker("gathering features", [&] {
    batch.tensors.features =
        maker_->gather(batch.vertices.const_data_ptr<std::int64_t>(), batch.num_vertices);
  });
  batch.vertices.reset();
}

void Gpu::lend_features(DeviceBatch& batch) {
  with_maker("reading features", [&] {
    batch.tensors.stored = nn::cuda_stored_features(
        maker_->lend_rows(batch.vertices.const_data_ptr<std::int64_t>(), batch.num_vertices),
        placed_.graph.features.type, placed_.graph.features.columns, batch.vertices);
  });
}

CacheUse Gpu::take_cache_use() {
  const std::lock_guard lock(maker_mutex_);
  const CUDAStreamGuard guard(prepare_stream_);
  return maker_ ? maker_->take_cache_use() : CacheUse{};
}

void Gpu::train(const std::function<void()>& learn) {
  with_memory("training", plan_, [&] {
    const CUDAStreamGuard guard(train_stream_);
    learn();
    train_stream_.synchronize();
  });
  if (is_cache_due_) {
    with_memory("filling the cache", plan_, [&] { fill_cache(); });
  }
}

/// After the first training step, whose peak says what memory is left.
void Gpu::fill_cache() {
  const std::lock_guard lock(maker_mutex_);
  const CUDAStreamGuard guard(prepare_stream_);
  is_cache_due_ = false;
  open_maker();
  const auto visits = presampled();
  c10::cuda::CUDACachingAllocator::emptyCache();
  const auto memory = memory_use(0, most_bytes());
  // The allocator's blocks fit its wishes only nearly, and mini-batches differ: an eighth of the peak more.
  const std::int64_t tables = 2 * 4 * placed_.topology.num_vertices();
  const std::int64_t left = memory.usable_bytes - memory.peak_bytes - memory.peak_bytes / 8 - tables;
  const auto bytes = static_cast<std::int64_t>(plan_.cache.budget * static_cast<double>(left));
  if (bytes <= 0) {
    return;
  }
  const auto costs = entry_costs(visits, bytes);
  maker_->fill_cache(placed_.graph,
                     choose_content(placed_.graph, plan_.cache, visits, costs, bytes, job_.seed), progress_);
  prepare_stream_.synchronize();
}

/// What the first two epochs use (PreSC#2; GNNLab, EuroSys 2022, section 6.2). As batches are a pure function
/// of the seed these are the very epochs that will be trained.
Visits Gpu::presampled() {
  if (plan_.cache.policy == plan::CachePolicy::random ||
      plan_.cache.policy == plan::CachePolicy::out_degree) {
    return {};
  }
  const auto& train = placed_.graph.train;
  const std::int64_t batches = graph::num_batches(std::ssize(train), job_.batch_size);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto seeds = graph::epoch_order(train, job_.seed, epoch);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      base::report(progress_, "counting visits", static_cast<std::int64_t>(epoch) * batches + batch,
                   2 * batches);
      maker_->visit({job_.seed, epoch, static_cast<std::uint64_t>(batch)},
                    graph::batch_seeds(seeds, job_.batch_size, batch));
    }
  }
  return maker_->take_visits();
}

/// What a hit of each kind saves, by DUCATI's measurement: batches with a random half of the room filled
/// against none. Where the other kind or nothing is cached, no measurement is needed.
EntryCosts Gpu::entry_costs(const Visits& visits, std::int64_t bytes) {
  EntryCosts costs;
  costs.row_bytes = placed_.graph.features.row_bytes();
  costs.index_bytes = placed_.topology.narrow_indices.empty() ? 8 : 4;
  if (placed_.topology.draws_by_weight()) {
    costs.index_bytes += sizeof(kernels::AliasColumn);
  }
  costs.row_saves_s = costs.list_saves_s = 1;
  if (plan_.cache.policy != plan::CachePolicy::value_weight || !plan_.cache.features ||
      !plan_.cache.topology) {
    return costs;
  }
  plan::Cache sample;
  sample.policy = plan::CachePolicy::random;
  const auto saved_by = [&](bool rows) {
    sample.features = rows;
    sample.topology = !rows;
    CacheUse none, some;
    const double alone_s = seconds_to_prepare({}, none);
    const double cached_s =
        seconds_to_prepare(choose_content(placed_.graph, sample, visits, costs, bytes / 2, job_.seed), some);
    const std::int64_t hits = rows ? some.row_hits : some.list_hits;
    return hits > 0 ? std::max(0.0, alone_s - cached_s) / static_cast<double>(hits) : 0;
  };
  const double by_row_s = saved_by(true);
  const double by_list_s = saved_by(false);
  if (by_row_s > 0 || by_list_s > 0) {
    costs.row_saves_s = by_row_s;
    costs.list_saves_s = by_list_s;
  }
  return costs;
}

double Gpu::seconds_to_prepare(const CacheContent& content, CacheUse& use) {
  constexpr std::int64_t most_batches = 8;
  maker_->fill_cache(placed_.graph, content, {});
  const auto seeds = graph::epoch_order(placed_.graph.train, job_.seed, 0);
  const std::int64_t batches =
      std::min(most_batches, graph::num_batches(std::ssize(placed_.graph.train), job_.batch_size));
  const auto prepare_all = [&] {
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      maker_->prepare({job_.seed, 0, static_cast<std::uint64_t>(batch)},
                      graph::batch_seeds(seeds, job_.batch_size, batch));
    }
  };
  prepare_all();  // warms up
  (void)maker_->take_cache_use();
  const double seconds = seconds_of(prepare_stream_, prepare_all);
  use = maker_->take_cache_use();
  return seconds;
}

/// Of gathers of these rows by kernels that occupy a share of the multiprocessors.
double Gpu::link_bytes_per_s(double share, const kernels::device::Array<std::int64_t>& vertices,
                             std::byte* out) {
  kernels::cuda::Executor executor(prepare_stream_.stream(), allocate_on(prepare_stream_), share);
  const auto rows = maker_->lend_rows(vertices.data, 0);
  const auto bytes = static_cast<std::size_t>(vertices.count * rows.row_bytes);
  return bandwidth(prepare_stream_, bytes, [&] {
    kernels::device::gather_rows(executor, rows, kernels::device::Reads::shifted, vertices.data,
                                 vertices.count, out);
  });
}

/// By gathers of random rows on 1, 2, 4 … 64 sixty-fourths of the multiprocessors.
double Gpu::saturation_share_of_link() {
  const auto& features = placed_.graph.features;
  if (plan_.features != plan::Home::host || features.rows == 0 || features.row_bytes() == 0) {
    return 0;
  }
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  const std::int64_t count = std::max<std::int64_t>(1, bytes / features.row_bytes());
  const std::lock_guard lock(maker_mutex_);
  const CUDAStreamGuard guard(prepare_stream_);
  open_maker();
  std::mt19937_64 random(job_.seed);
  std::uniform_int_distribution<std::int64_t> row(0, features.rows - 1);
  std::vector<std::int64_t> drawn(static_cast<std::size_t>(count));
  std::generate(drawn.begin(), drawn.end(), [&] { return row(random); });
  const auto vertices = kernels::device::make_array<std::int64_t>(*executor_, count);
  executor_->upload(vertices.data, drawn.data(), drawn.size() * sizeof(std::int64_t));
  const auto out = executor_->allocate(static_cast<std::size_t>(count * features.row_bytes()));
  std::vector<ShareBandwidth> measured;
  for (int part = 1; part <= 64; part *= 2) {
    const double share = part / 64.0;
    measured.push_back({share, link_bytes_per_s(share, vertices, static_cast<std::byte*>(out.get()))});
  }
  return saturation_share(measured);
}

AcceleratorFacts Gpu::measure() {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const MemoryUse memory = memory_use(0, most_bytes());  // before what is measured takes some
  const double saturation_share = saturation_share_of_link();
  const CUDAStreamGuard guard(copy_stream_);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the device's properties");
  auto* host = static_cast<std::byte*>(host_memory()->allocate(bytes));
  const auto give_back =
      std::shared_ptr<void>(nullptr, [&](void*) { host_memory()->deallocate(host, bytes); });
  kernels::cuda::Executor executor(copy_stream_.stream(), allocate_on(copy_stream_));
  const auto first = executor.allocate(bytes);
  const auto second = executor.allocate(bytes);
  AcceleratorFacts facts;
  facts.name = properties.name;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.link_saturation_share = saturation_share;
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), 0),
        "asking for the device's address");
  facts.link = base::pcie_link(address.data());
  facts.memory_bytes = static_cast<double>(memory.usable_bytes);
  facts.peak_bytes = static_cast<double>(memory.peak_bytes);
  facts.link_bandwidth_bytes_per_s =
      bandwidth(copy_stream_, bytes, [&] { executor.upload(first.get(), host, bytes); });
  facts.memory_bandwidth_bytes_per_s =
      2 * bandwidth(copy_stream_, bytes, [&] {
        check(cudaMemcpyAsync(second.get(), first.get(), bytes, cudaMemcpyDeviceToDevice,
                              copy_stream_.stream()),
              "copying within the device");
      });
  return facts;
}

}  // namespace gnomon::runtime::cuda

namespace gnomon::runtime {

std::string why_no_gpu() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    return cudaGetErrorString(error);
  }
  return devices > 0 ? "" : "no CUDA device";
}

std::unique_ptr<Accelerator> open_gpu(const PlacedGraph& placed, const plan::Job& job, const plan::Plan& plan,
                                      const DeviceOptions& options, const base::Progress& progress) {
  if (const auto why = why_no_gpu(); !why.empty()) {
    throw base::InputError("GPU", why);
  }
  return std::make_unique<cuda::Gpu>(placed, job, plan, options, progress);
}

}  // namespace gnomon::runtime
