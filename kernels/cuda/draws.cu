#include "base/error.h"
#include "kernels/cuda/device_array.h"
#include "kernels/cuda/draws.h"

namespace gnomon::kernels::cuda {
namespace {

constexpr int threads_per_block = 128;

/// One thread per vertex; it calls the same function as the CPU.
__global__ void draw_kernel(BatchKey key, std::uint32_t hop, const std::int64_t* vertices,
                            const std::int64_t* degrees, std::int64_t count, int fanout,
                            std::int64_t* positions) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
  if (i < count) {
    kernels::draw_positions(key, hop, vertices[i], degrees[i], fanout, positions + i * fanout);
  }
}

void check_input(const std::vector<std::int64_t>& vertices, const std::vector<std::int64_t>& degrees,
                 int fanout) {
  if (fanout < 1 || fanout > max_fanout) {
    throw base::InputError(
        "fanout", std::to_string(fanout) + " is out of range; use 1 to " + std::to_string(max_fanout));
  }
  if (degrees.size() != vertices.size()) {
    throw base::InputError("degrees", "must have one element per vertex");
  }
  for (const std::int64_t degree : degrees) {
    if (degree <= fanout) {
      throw base::InputError("degrees", "must be greater than the fanout");
    }
  }
}

}  // namespace

std::string why_no_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    return cudaGetErrorString(error);
  }
  return devices > 0 ? "" : "no CUDA device";
}

std::vector<std::int64_t> draw_positions(const BatchKey& key, std::uint32_t hop,
                                         const std::vector<std::int64_t>& vertices,
                                         const std::vector<std::int64_t>& degrees, int fanout) {
  check_input(vertices, degrees, fanout);
  if (vertices.empty()) {
    return {};
  }
  const DeviceArray<std::int64_t> device_vertices(vertices);
  const DeviceArray<std::int64_t> device_degrees(degrees);
  const DeviceArray<std::int64_t> positions(vertices.size() * static_cast<std::size_t>(fanout));
  const auto count = static_cast<std::int64_t>(vertices.size());
  const auto blocks = static_cast<unsigned>((count + threads_per_block - 1) / threads_per_block);
  draw_kernel<<<blocks, threads_per_block>>>(key, hop, device_vertices.data(), device_degrees.data(), count,
                                             fanout, positions.data());
  check(cudaGetLastError(), "starting the draws");
  return positions.to_host();
}

}  // namespace gnomon::kernels::cuda
