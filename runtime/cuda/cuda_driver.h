#pragma once

#include <c10/cuda/CUDAStream.h>
#include <driver_types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <string>

#include "runtime/cuda/cuda_hardware.h"
#include "runtime/streams/driver.h"

namespace gnomon::runtime::cuda {

/// The first GPU for StreamDevice: streams of LibTorch's pool, memory of its caching allocator, whose peak it
/// resets.
class CudaDriver {
 public:
  using Stream = c10::cuda::CUDAStream;
  using Hardware = CudaHardware;
  using Event = std::shared_ptr<CUevent_st>;

  CudaDriver();

  Stream make_stream(bool high_priority);
  CudaHardware hardware(const Stream& stream) { return CudaHardware(stream, max_bytes_); }
  void wait_for_all();
  Event mark(const Stream& stream);
  bool has_passed(const Event& event) noexcept;
  void wait_for(const Event& event);
  void order(const Stream& stream, const Event& event);
  double passed_at_s(const Event& event);
  std::pmr::memory_resource* slot_memory();
  std::int64_t peak_bytes() const;
  void limit_memory(std::int64_t max_bytes);
  void with_memory(const std::string& doing, const plan::Plan& plan, const std::function<void()>& act);
  nn::StoredFeaturesPtr stored_features(const kernels::device::Rows& rows, const graph::Features& features,
                                        at::Tensor vertices);
  void copy_within(const Stream& stream, void* to, const void* from, std::size_t bytes);
  static constexpr std::size_t measured_bytes() { return std::size_t{64} << 20; }
  DeviceFacts facts();

 private:
  void set_clock();

  std::int64_t earlier_peak_bytes_ = 0;  ///< before the allocator's peak was reset
  Event clock_;                          ///< an event, and when it was passed
  double clock_s_ = 0;                   ///< in seconds of std::chrono::steady_clock
  std::shared_ptr<std::int64_t> max_bytes_ = std::make_shared<std::int64_t>(0);  ///< shared with its hardware
};

}  // namespace gnomon::runtime::cuda
