#include "runtime/cuda/open_cuda_device.h"

#include <cuda_runtime_api.h>

#include <memory>

#include "kernels/cuda/gather.h"
#include "kernels/cuda/sampler.h"
#include "runtime/cuda/cuda_driver.h"
#include "runtime/streams/stream_device-inl.h"

namespace gnomon::runtime {

std::string why_no_cuda_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    return cudaGetErrorString(error);
  }
  return devices > 0 ? "" : "no CUDA device";
}

std::unique_ptr<Device> open_cuda_device(const plan::Job& job, const DeviceOptions& options,
                                         const base::Progress& progress) {
  return std::make_unique<StreamDevice<cuda::CudaDriver>>(cuda::CudaDriver(), job, options, progress);
}

}  // namespace gnomon::runtime
