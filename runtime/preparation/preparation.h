#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/batch/batch_data.h"
#include "runtime/batch/device_batch.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/cache/cache_use.h"
#include "runtime/cache/entry_costs.h"
#include "runtime/placement.h"
#include "runtime/preparation/batch_maker.h"
#include "runtime/preparation/device_graph.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime {

/// Whether the plan's stages read caches in a device's memory.
bool reads_cache(const plan::Plan& plan);
/// Whether linked devices hold different parts of the plan's caches.
bool shares_cache(const plan::Plan& plan);
/// Whether the plan's stages read the whole graph on the device.
bool reads_graph(const plan::Plan& plan);
/// The share of the device's thread slots that prepares the plan's batches.
double preparing_share(const plan::Plan& plan);
/// The smaller of two limits in bytes, each of which is missing if it is 0.
std::int64_t smaller_limit(std::int64_t first, std::int64_t second);

/// Whether `plan` may take more of a device's memory than `other` beside data and caches.
bool may_take_more(const plan::Plan& plan, const plan::Plan& other);
/// Whether a training step leaves nothing behind if it runs out of memory before the update, so that it can
/// be repeated.
bool repeats_training(const plan::Plan& plan, const plan::Job& job);

/// The fields of the plan that lower its need of device memory, as advice.
std::string what_lowers_memory(const plan::Plan& plan);

/// Mini-batch preparation on a device with memory of its own: places the graph as the plan requires, manages
/// its caches, and prepares batches from both. `H` fulfils Hardware (runtime/preparation/hardware.h) and
/// outlives it.
///
/// Functions are synchronous except prepare(), prepare_pruned(), gather() and lend_rows(), whose results are
/// ready for work started on the hardware afterwards. Thread-safe, as preparation may run beside training,
/// which fills the caches.
template <class H>
class Preparation {
  static_assert(Hardware<H>);

 public:
  /// Batches have no degrees if `with_degrees` is false.
  Preparation(H& hardware, plan::Job job, base::Progress progress, bool with_degrees = true);

  /// Device::take_plan. The graph is placed again only if it, or a home of its data, has changed; caches are
  /// dropped only if other ones are due, or may have to be smaller.
  void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph);

  /// Device::open_graph: `on_device` is the copy of `graph` in the device's memory.
  void open_graph(std::shared_ptr<const PlacedGraph> graph, std::unique_ptr<DeviceGraph> on_device);
  /// Frees the copy of the graph of open_graph(), unless it is that of `kept`. Precondition: nothing reads
  /// it.
  void drop_graph_unless(const PlacedGraph* kept);

  /// Device::prepare, sample and gather.
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  void sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds, BatchData& data);
  /// Device::prepare_pruned.
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot);
  void gather(DeviceBatch& batch);
  /// Returns where the features and the cached rows are stored. Valid until take_plan() or fill_due_cache().
  kernels::device::Rows rows();
  /// Returns where the features of a batch without gathered features are stored, and counts a read of each.
  /// Valid until take_plan() or fill_due_cache(). `visit` is called before a cache that several devices share
  /// can be placed.
  kernels::device::Rows lend_rows(const DeviceBatch& batch,
                                  const std::function<void(const kernels::device::Rows&)>& visit = {});

  /// Notes the size of a mini-batch that was copied to the device: others like it will wait there beside
  /// training, for which fill_due_cache() leaves memory.
  void note_batch(std::int64_t bytes);
  /// Whether the plan's caches have yet to be filled. To be called by the training thread. Caches of plans
  /// with biased draws are filled by take_plan() (runtime/cache/preferred_rows.h).
  bool is_cache_due() const { return is_cache_due_; }
  /// Fills the plan's caches, after a first training step: its peak tells how much memory is left. They take
  /// plan.cache.budget of that, or what shrink_cache() has left them.
  void fill_due_cache();
  /// Drops what fill_due_cache() has filled, because other work lacks memory; a smaller cache is due then.
  /// Returns whether there was one. Caches that several devices share, that decide what is drawn, or whose
  /// rows training reads, are kept.
  bool shrink_cache();

  /// fill_due_cache() in parts, for a cache that several devices share: the bytes that this device can hold;
  /// the content of a cache of `bytes`, measured with `own_bytes` on this device if the policy requires it;
  /// and the caches that `place` sets in the graph, after existing ones are dropped.
  std::int64_t cache_room();
  CacheContent wanted(std::int64_t bytes, std::int64_t own_bytes);
  void place_cache(const std::function<void(DeviceGraph&)>& place);

  CacheUse take_cache_use();

  /// runtime/speed/link.h's; none if the features are not in host memory.
  /// Each gather reads `bytes`.
  std::optional<double> measure_link_saturation(std::int64_t bytes);

 private:
  using Executor = typename H::Executor;

  void open();
  void hold_preferred_rows();
  void fill(const CacheContent& content, const base::Progress& progress);
  Visits visits_of_plan();
  CacheContent content_of(const Visits& visits, std::int64_t bytes, std::int64_t own_bytes);
  std::int64_t resident_bytes() const;
  std::int64_t cache_bytes();
  PreparedWith prepared_with(const CacheContent& content);
  void prepare_some(std::span<const graph::VertexId> order);

  H& hardware_;
  plan::Job job_;
  base::Progress progress_;
  bool with_degrees_;
  plan::Plan plan_;
  std::mutex mutex_;
  std::shared_ptr<const PlacedGraph> placed_;
  std::optional<Executor> executor_;    ///< made at need, as the next two
  std::unique_ptr<DeviceGraph> graph_;  ///< before the maker, which reads it
  std::unique_ptr<BatchMaker<Executor>> maker_;
  std::atomic<std::int64_t> largest_batch_bytes_ = 0;
  std::int64_t working_bytes_ = 0;            ///< of training and mini-batches, as the cache was filled
  std::optional<std::int64_t> filled_bytes_;  ///< that the cache may take, once it was filled
  std::int64_t shrinks_by_ = 1;  ///< a tenth of the first cache or, if larger, an eighth of working_bytes_
  std::atomic<bool> is_cache_due_ = false;
  bool is_preferred_due_ = false;  ///< the same of preferred rows
};

}  // namespace gnomon::runtime
