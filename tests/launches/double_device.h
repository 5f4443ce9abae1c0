#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <string>

// A device of LibTorch whose memory is the host's: every operation runs on the host, and each that a GPU
// would launch kernels for is counted. So the code for GPUs runs where there is none.
namespace gnomon::test {

/// The device; its tensors are not those of the CPU.
inline c10::Device double_device() { return {c10::DeviceType::PrivateUse1, 0}; }

/// A tensor of the device on a CPU tensor's memory.
at::Tensor on_double(const at::Tensor& host);

/// Operations of the device since the last call, by their names, such as "aten::mm"; those that only make or
/// view tensors do not count.
std::map<std::string, std::int64_t> take_operations();

}  // namespace gnomon::test
