#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/device_array.h"
#include "kernels/cuda/draws.h"
#include "kernels/cuda/mapped_memory.h"

namespace gnomon::kernels::cuda {

/// Why the tests of a contract are left out: asked by its fixture.
inline std::string why_skipped() {
  const auto why = why_no_device();
  return why.empty() ? "" : "needs a CUDA device: " + why;
}

/// Where a device finds what it reads: in its own memory, or over the link in the host's.
enum class Place { device, host };

/// Elements that a device can read, at one of the places.
template <class T>
class Placed {
 public:
  Placed(Place place, std::vector<T> elements) : host_(std::move(elements)) {
    if (place == Place::device) {
      device_ = std::make_unique<DeviceArray<T>>(host_);
    } else {
      mapped_ = map_memory(host_.data(), host_.size() * sizeof(T));
    }
  }
  const T* data() const { return device_ ? device_->data() : static_cast<const T*>(mapped_.device_data); }

 private:
  std::vector<T> host_;
  std::unique_ptr<DeviceArray<T>> device_;
  MappedMemory mapped_;  // after what it maps
};

}  // namespace gnomon::kernels::cuda
