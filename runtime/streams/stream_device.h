#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/batch/batch_slab.h"
#include "runtime/device.h"
#include "runtime/preparation/device_room.h"
#include "runtime/preparation/preparation.h"
#include "runtime/streams/driver.h"

namespace gnomon::runtime {

/// A device behind a link whose work is ordered by streams, as on a GPU. Copies, preparation and training
/// have one stream each; preparation and training share one if they alternate. The host waits only for the
/// sizes that sampling reads back, and for copies that are completed by cached rows; streams wait for each
/// other, and events in them give the time spans of stages. Memory is freed only after all streams have
/// finished reading it, so that it can be reused by any stream. Mini-batches have degrees only for models
/// that read them.
template <Driver D>
class StreamDevice final : public Device {
 public:
  StreamDevice(D driver, const plan::Job& job, const DeviceOptions& options, base::Progress progress);
  ~StreamDevice() override;

  c10::Device tensor_device() const override { return hardware_.tensor_device(); }
  bool has_link() const override { return true; }
  SlotPool& slots() override { return slots_; }
  void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) override;
  DeviceBatch copy(Slot slot) override;
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) override;
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot) override;
  std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) override;
  DeviceWorkPtr sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                       BatchData& data) override;
  void gather(DeviceBatch& batch) override;
  DeviceWorkPtr train(DeviceBatch batch, const Learn& learn) override;
  bool fill_due_caches() override;
  at::Tensor pull(const std::function<at::Tensor()>& gather) override;
  at::Tensor push(const at::Tensor& rows) override;
  std::int64_t peak_bytes() const override { return driver_.peak_bytes(); }
  CacheUse take_cache_use() override;
  DeviceFacts measure() override;

 private:
  using Stream = typename D::Stream;
  using Hardware = typename D::Hardware;

  /// Calls `act`, which takes memory of the device. If that does not suffice, shrinks the cache and calls it
  /// again, unless it cannot be repeated.
  void with_memory(const std::string& doing, const std::function<void()>& act, bool repeats = true) {
    with_room([&] { driver_.with_memory(doing, plan_, act); },
              [&] { return repeats && preparation_.shrink_cache(); });
  }
  /// Calls `act`, which launches work on a stream, and returns that work.
  DeviceWorkPtr work_on(const Stream& stream, const std::function<void()>& act);
  /// Calls `act`, which launches the work on a stream that completes the batch.
  void complete_on(const Stream& stream, DeviceBatch& batch, const std::function<void()>& act);
  void order_after(const Stream& stream, const DeviceBatch& batch);
  std::int64_t max_bytes() const { return smaller_limit(plan_.device_memory_bytes, options_.max_bytes); }
  void start_copy(const BatchSlab& slab, const std::shared_ptr<void>& memory, const BatchData& data);
  double bandwidth(std::size_t bytes, int copies, const std::function<void()>& copy);

  D driver_;
  plan::Job job_;
  plan::Plan plan_;
  DeviceOptions options_;
  std::shared_ptr<const PlacedGraph> graph_;
  SlotPool slots_;
  /// The structure of batches that are copied, in the slots' memory, and when it has been read.
  struct Staging {
    AlignedBytes bytes;
    std::optional<typename D::Event> read{};
  };
  std::array<Staging, 2> stagings_;
  std::size_t next_staging_ = 0;
  Stream copy_stream_, prepare_stream_, train_stream_;
  std::optional<Stream> beside_stream_;  ///< on which plans train that prepare beside training
  Hardware copies_;                      ///< on copy_stream_
  Hardware hardware_;                    ///< on prepare_stream_
  Preparation<Hardware> preparation_;
  kernels::device::Rows rows_;  ///< the cached rows that copies read; empty if there are none
  CacheUse use_of_copies_;
};

}  // namespace gnomon::runtime
