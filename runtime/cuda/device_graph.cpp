#include "runtime/cuda/device_graph.h"

#include <span>

#include "kernels/cuda/mapped_memory.h"

namespace gnomon::runtime::cuda {
namespace {

/// Puts arrays where the device reads them, and keeps what that takes.
class Placing {
 public:
  Placing(kernels::cuda::Executor& executor, std::vector<std::shared_ptr<const void>>& owners)
      : executor_(executor), owners_(owners) {}

  template <class T>
  const T* put(std::span<const T> values, plan::Home home) {
    if (values.empty()) {
      return nullptr;
    }
    if (home == plan::Home::device) {
      const auto array = kernels::device::make_array<T>(executor_, std::ssize(values));
      executor_.upload(array.data, values.data(), values.size_bytes());
      owners_.push_back(array.memory);
      return array.data;
    }
    const auto mapped = kernels::cuda::map_memory(values.data(), values.size_bytes());
    owners_.push_back(mapped.owner);
    return static_cast<const T*>(mapped.device_data);
  }

 private:
  kernels::cuda::Executor& executor_;
  std::vector<std::shared_ptr<const void>>& owners_;
};

}  // namespace

DeviceGraph place_on_device(const PlacedGraph& placed, const plan::Plan& plan,
                            kernels::cuda::Executor& executor) {
  DeviceGraph device;
  Placing placing(executor, device.owners);
  const auto& topology = placed.topology;
  device.topology.lists = {
      placing.put(topology.indptr, plan.topology), placing.put(topology.indices, plan.topology),
      placing.put(topology.narrow_indices, plan.topology), placing.put(topology.columns, plan.topology)};
  device.topology.num_vertices = topology.num_vertices();
  device.topology.weights = placing.put(topology.weights, plan.topology);
  device.topology.positives = placing.put(topology.positives, plan.topology);
  const auto& features = placed.graph.features;
  const std::span all(features.data, static_cast<std::size_t>(features.rows * features.row_bytes()));
  device.rows = {placing.put(all, plan.features), features.row_bytes(), nullptr, nullptr};
  device.labels = placing.put(placed.graph.labels, plan::Home::device);
  device.feature_type = features.type;
  device.columns = features.columns;
  return device;
}

}  // namespace gnomon::runtime::cuda
