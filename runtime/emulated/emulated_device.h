#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/emulated/device_arena.h"
#include "runtime/emulated/emulated_hardware.h"
#include "runtime/emulated/graph_copies.h"
#include "runtime/emulated/peer_group.h"
#include "runtime/emulated/shared_link.h"
#include "runtime/preparation/preparation.h"

namespace gnomon::runtime::emulated {

/// Emulates on the host a device with memory of its own behind a link: an arena of options.max_bytes, and a
/// link whose copies and zero-copy reads take as long as options.link implies. It prepares mini-batches with
/// the kernels of a GPU, on plan.device_threads host threads, and trains with the host's tensors. It
/// therefore computes as fast as the host and ends with the host device's weights, bit for bit.
class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(const plan::Job& job, const DeviceOptions& options, base::Progress progress,
                 std::unique_ptr<DeviceClock> clock = std::make_unique<SteadyClock>());

  c10::Device tensor_device() const override { return hardware_.tensor_device(); }
  bool has_link() const override { return true; }
  SlotPool& slots() override { return slots_; }
  void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) override;
  DeviceBatch copy(Slot slot) override;
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) override;
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot) override;
  std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) override;
  void copy_graph(std::shared_ptr<const PlacedGraph> graph,
                  std::span<const std::uint8_t> wanted_rows) override;
  void open_graph(std::shared_ptr<const PlacedGraph> graph) override;
  DeviceWorkPtr sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                       BatchData& data) override;
  void gather(DeviceBatch& batch) override;
  DeviceWorkPtr train(DeviceBatch batch, const Learn& learn) override;
  bool fill_due_caches() override;
  void join(Device& first) override;
  void hold_model(std::int64_t bytes) override;
  std::int64_t peak_bytes() const override { return arena_->peak_bytes(); }
  /// Uses the links between the devices if they connect all of them, otherwise the link to the host.
  std::function<void()> begin_exchange(std::int64_t bytes) override;
  at::Tensor pull(const std::function<at::Tensor()>& gather) override;
  at::Tensor push(const at::Tensor& rows) override;
  CacheUse take_cache_use() override;
  /// Memory bandwidth and multiprocessors stay unknown: kernels run at the host's speed.
  DeviceFacts measure() override;

  /// The traffic of its link so far.
  LinkUse link_use() const { return link_.use(); }

 private:
  /// Calls `act`, which takes memory of the device. If that does not suffice, shrinks the cache and calls it
  /// again, unless it cannot be repeated.
  void with_memory(const std::string& doing, const std::function<void()>& act, bool repeats = true);
  at::Tensor copied(const at::Tensor& tensor) const;
  void lend_features(DeviceBatch& batch);
  at::Tensor completed(const BatchData& data);
  void fill_cache();
  static void fill_shared_cache(const std::vector<EmulatedDevice*>& devices);

  plan::Job job_;
  DeviceOptions options_;
  plan::Plan plan_;
  std::shared_ptr<const PlacedGraph> graph_;
  SlotPool slots_;
  std::unique_ptr<DeviceClock> clock_;
  std::shared_ptr<DeviceArena> arena_;
  SharedLink link_;
  SharedLink exchange_link_;  ///< for its gradients, between the devices
  EmulatedHardware hardware_;
  EmulatedHardware copies_;  ///< completes copied mini-batches concurrently with hardware_
  Preparation<EmulatedHardware> preparation_;
  kernels::device::Rows rows_;  ///< the cached rows that copies read; empty if there are none
  CacheUse use_of_copies_;
  std::shared_ptr<const void> model_;  ///< reservation by hold_model()
  GraphCopies macro_graphs_;
  std::shared_ptr<PeerGroup> group_;  ///< null if it has not joined one
  int number_ = 0;                    ///< in the group
};

}  // namespace gnomon::runtime::emulated
