#pragma once

#include <c10/cuda/CUDAStream.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/cuda/cuda_hardware.h"
#include "runtime/device.h"
#include "runtime/preparation/preparation.h"

namespace gnomon::runtime::cuda {

/// The first GPU. Copies, preparation and training have a stream each; the last two share one where they take
/// turns. The host waits for a stage's stream at the end of the stage, so memory that one stream has freed is
/// free for all of them.
class CudaDevice final : public Device {
 public:
  CudaDevice(const plan::Job& job, const DeviceOptions& options, base::Progress progress);
  ~CudaDevice() override;

  c10::Device tensor_device() const override { return hardware_.tensor_device(); }
  bool has_link() const override { return true; }
  SlotPool& slots() override { return slots_; }
  void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) override;
  DeviceBatch copy(Slot slot) override;
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) override;
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot) override;
  std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) override;
  void sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds, BatchData& data) override;
  void gather(DeviceBatch& batch) override;
  void train(DeviceBatch batch, const Learn& learn) override;
  at::Tensor pull(const std::function<at::Tensor()>& gather) override;
  at::Tensor push(const at::Tensor& rows) override;
  CacheUse take_cache_use() override;
  DeviceFacts measure() override;

 private:
  std::int64_t max_bytes() const;
  void with_plan_memory(const std::string& doing, const std::function<void()>& act) const;

  plan::Plan plan_;
  DeviceOptions options_;
  std::shared_ptr<const PlacedGraph> graph_;
  SlotPool slots_;
  c10::cuda::CUDAStream copy_stream_;
  CudaHardware hardware_;
  c10::cuda::CUDAStream train_stream_;
  CudaHardware copies_;  ///< on copy_stream_
  Preparation<CudaHardware> preparation_;
  kernels::device::Rows rows_;  ///< where copies find cached rows; empty if they need none
  CacheUse use_of_copies_;
};

}  // namespace gnomon::runtime::cuda
