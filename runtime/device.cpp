#include "runtime/device.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/usable.h"
#include "graph/feature_form.h"
#include "runtime/cuda/open_cuda_device.h"
#include "runtime/emulated/emulated_device.h"
#include "runtime/host/host_device.h"

namespace gnomon::runtime {
namespace {

std::unique_ptr<Device> open_kind(const plan::Job& job, const DeviceOptions& options,
                                  const base::Progress& progress) {
  switch (options.kind) {
    case plan::DeviceKind::host:
      return std::make_unique<HostDevice>(job);
    case plan::DeviceKind::emulated:
      return std::make_unique<emulated::EmulatedDevice>(job, options, progress);
    case plan::DeviceKind::cuda:
      break;
  }
  return open_cuda_device(job, options, progress);
}

}  // namespace

// Implementations keep the graph. NOLINTNEXTLINE(performance-unnecessary-value-param)
void Device::open_graph(std::shared_ptr<const PlacedGraph>) {
  throw std::logic_error("this device executes no macro-batches");
}

std::unique_ptr<Device> open_device(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                    const plan::Plan& plan, const DeviceOptions& options,
                                    const base::Progress& progress) {
  if (const auto why = why_no_device(options); !why.empty()) {
    throw base::InputError(options.kind == plan::DeviceKind::cuda ? "GPU" : "device", why);
  }
  auto device = open_kind(job, options, progress);
  device->take_plan(plan, std::move(graph));
  return device;
}

c10::Device tensor_device(const DeviceOptions& options) {
  return options.kind == plan::DeviceKind::cuda ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
}

bool takes_sparse_features(const DeviceOptions& options) { return options.kind == plan::DeviceKind::host; }

graph::Graph features_for(const graph::Graph& graph, const DeviceOptions& options) {
  const auto& features = graph.features;
  if (takes_sparse_features(options) || !features.is_sparse()) {
    return graph;
  }
  const std::int64_t needed = features.rows * features.row_bytes();
  const std::int64_t available = base::available_memory_bytes();
  if (available > 0 && needed > available) {
    throw base::Failure("the sparse features need " + std::to_string(needed >> 20) +
                        " MiB when dense, as this device needs them; " + std::to_string(available >> 20) +
                        " MiB are available");
  }
  return graph::with_features_in(graph, graph::FeatureForm::dense);
}

}  // namespace gnomon::runtime
