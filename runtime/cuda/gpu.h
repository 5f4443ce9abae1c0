#pragma once

#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <mutex>

#include "kernels/cuda/executor.h"
#include "runtime/accelerator.h"
#include "runtime/device/batch_maker.h"

namespace gnomon::runtime::cuda {

/// The first GPU. Copies, preparation and training have a stream each (the last two share one where they
/// take turns); the host waits for a stream at the end of each stage, so what one stream has freed is free
/// for all.
class Gpu final : public Accelerator {
 public:
  Gpu(const PlacedGraph& placed, const plan::Job& job, const plan::Plan& plan, const DeviceOptions& options,
      base::Progress progress);
  ~Gpu() override;

  c10::Device device() const override;
  std::pmr::memory_resource* host_memory() override;
  void take_plan(const plan::Plan& plan) override;
  DeviceBatch copy(const BatchData& data) override;
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) override;
  void sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds, BatchData& data) override;
  void gather(DeviceBatch& batch) override;
  void lend_features(DeviceBatch& batch) override;
  void train(const std::function<void()>& learn) override;
  CacheUse take_cache_use() override;
  AcceleratorFacts measure() override;

 private:
  using Maker = BatchMaker<kernels::cuda::Executor>;

  void with_maker(const std::string& doing, const std::function<void()>& act);
  std::int64_t most_bytes() const;
  void open_maker();
  void fill_cache();
  Visits presampled();
  EntryCosts entry_costs(const Visits& visits, std::int64_t bytes);
  double saturation_share_of_link();
  double link_bytes_per_s(double share, const kernels::device::Array<std::int64_t>& vertices, std::byte* out);
  double seconds_to_prepare(const CacheContent& content, CacheUse& use);

  const PlacedGraph& placed_;
  plan::Job job_;
  plan::Plan plan_;
  DeviceOptions options_;
  base::Progress progress_;
  c10::cuda::CUDAStream copy_stream_, prepare_stream_, train_stream_;
  std::mutex maker_mutex_;  ///< preparing may run beside training, which fills the cache
  std::unique_ptr<kernels::cuda::Executor> executor_;
  std::unique_ptr<Maker> maker_;  ///< made when the first batch is prepared
  bool is_cache_due_ = false;
};

}  // namespace gnomon::runtime::cuda
