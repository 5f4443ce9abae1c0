#include "tests/launches/double_device.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/launches/recording.h"

namespace c10::impl {

/// One device with one stream, on which everything is done at once.
struct DoubleGuard final : NoOpDeviceGuardImpl<DeviceType::PrivateUse1> {
  Device exchangeDevice(Device) const override { return gnomon::test::double_device(); }
  Device getDevice() const override { return gnomon::test::double_device(); }
  Stream getStream(Device) const noexcept override {
    return Stream(Stream::DEFAULT, gnomon::test::double_device());
  }
  Stream exchangeStream(Stream) const noexcept override { return getStream(getDevice()); }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, DoubleGuard);

}  // namespace c10::impl

namespace gnomon::test {
namespace {

/// What autograd asks before it accumulates gradients of a device.
struct DoubleHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

const bool is_registered = [] {
  static DoubleHooks hooks;
  c10::register_privateuse1_backend("double_device");
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();

struct Operations {
  std::mutex mutex;  // autograd has a thread for each device
  std::map<std::string, std::int64_t> counts;
};

Operations& operations() {
  static Operations all;
  return all;
}

void count(const std::string& name) {
  auto& all = operations();
  const std::lock_guard lock(all.mutex);
  ++all.counts[name];
}

bool is_on_double(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == c10::DeviceType::PrivateUse1;
}

/// A tensor of another device on the same memory, which it keeps.
at::Tensor moved(const at::Tensor& tensor, c10::Device device, c10::DispatchKey key) {
  auto* kept = new c10::Storage(tensor.storage());
  c10::DataPtr data(
      kept->mutable_data(), kept, [](void* storage) { delete static_cast<c10::Storage*>(storage); }, device);
  c10::Storage storage(c10::Storage::use_byte_size_t(), kept->nbytes(), std::move(data),
                       c10::GetAllocator(c10::kCPU), /*resizable=*/true);
  auto result =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), tensor.dtype());
  result.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(),
                                                      tensor.storage_offset());
  return result;
}

at::Tensor on_host(const at::Tensor& tensor) {
  return is_on_double(tensor) ? moved(tensor, c10::kCPU, c10::DispatchKey::CPU) : tensor;
}

c10::IValue on_host(const c10::IValue& value) {
  if (value.isTensor()) {
    return on_host(value.toTensor());
  }
  if (value.isTensorList()) {
    std::vector<at::Tensor> tensors = value.toTensorVector();
    for (auto& tensor : tensors) {
      tensor = on_host(tensor);
    }
    return tensors;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      tensors.push_back(tensor ? std::optional(on_host(*tensor)) : std::nullopt);
    }
    return tensors;
  }
  return value.isDevice() ? c10::IValue(c10::Device(c10::kCPU)) : value;
}

/// The argument that a result is, if the operation writes into one.
std::optional<std::size_t> written_argument(const c10::FunctionSchema& schema, const c10::Argument& result) {
  const auto* alias = result.alias_info();
  for (std::size_t i = 0; alias != nullptr && alias->isWrite() && i < schema.arguments().size(); ++i) {
    const auto* of_argument = schema.arguments()[i].alias_info();
    if (of_argument != nullptr && *of_argument == *alias) {
      return i;
    }
  }
  return std::nullopt;
}

/// Makes a tensor that an operation has resized one on the new memory.
void move_to(const at::Tensor& tensor, const at::Tensor& resized) {
  if (tensor.const_data_ptr() != resized.const_data_ptr()) {
    tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(resized.storage());
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(resized.sizes(), resized.strides(),
                                                        resized.storage_offset());
  }
}

/// Keeps a tensor's memory for the launches that are being recorded, which find it by its address.
at::Tensor kept(at::Tensor tensor) {
  if (auto* recording = Recording::current()) {
    recording->keep(std::make_shared<at::Tensor>(tensor));
  }
  return tensor;
}

/// Makes an operation once more at each replay, whose results go where those of the recording went.
void record(const c10::OperatorHandle& operation, const torch::jit::Stack& arguments,
            const std::vector<at::Tensor>& results) {
  Recording::current()->add([operation, arguments, results] {
    auto stack = arguments;
    operation.callBoxed(&stack);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].defined() && !stack[i].toTensor().is_same(results[i])) {
        results[i].copy_(stack[i].toTensor());
      }
    }
  });
}

/// Whether an operation changes its arguments, so that it must not run while it is recorded. One that writes
/// to an argument `out` may: nobody has read that yet, and it gets its size then.
bool changes_arguments(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const auto& argument) {
    return argument.alias_info() != nullptr && argument.alias_info()->isWrite() && !argument.kwarg_only();
  });
}

/// Any operation: runs it on the host, on the same memory, or records it.
void run_on_host(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const auto& schema = operation.schema();
  count(schema.name());
  if (Recording::current() != nullptr && schema.name() == "aten::_local_scalar_dense") {
    throw std::logic_error("the host reads a number while launches are recorded");
  }
  const auto num_arguments = schema.arguments().size();
  const std::vector<c10::IValue> arguments(stack->end() - static_cast<std::ptrdiff_t>(num_arguments),
                                           stack->end());
  for (std::size_t i = 0; i < num_arguments; ++i) {
    (*stack)[stack->size() - num_arguments + i] = on_host(arguments[i]);
  }
  const auto num_results = schema.returns().size();
  const bool is_recorded = Recording::current() != nullptr;
  const torch::jit::Stack on_same_memory(stack->end() - static_cast<std::ptrdiff_t>(num_arguments),
                                         stack->end());
  if (is_recorded && changes_arguments(schema)) {
    record(operation, on_same_memory, {});
    torch::jit::drop(*stack, num_arguments);
    for (const auto& result : schema.returns()) {
      stack->push_back(arguments[written_argument(schema, result).value()]);
    }
    return;
  }
  operation.callBoxed(stack);
  if (is_recorded) {
    std::vector<at::Tensor> results;
    for (auto result = stack->end() - static_cast<std::ptrdiff_t>(num_results); result != stack->end();
         ++result) {
      results.push_back(result->isTensor() ? kept(result->toTensor()) : at::Tensor());
    }
    record(operation, on_same_memory, results);
  }
  for (std::size_t i = 0; i < num_results; ++i) {
    auto& result = (*stack)[stack->size() - num_results + i];
    if (!result.isTensor() || !result.toTensor().defined()) {
      continue;
    }
    const auto on_device = on_double(result.toTensor());
    if (const auto written = written_argument(schema, schema.returns()[i])) {
      move_to(arguments[*written].toTensor(), on_device);
      result = arguments[*written];
    } else {
      result = on_device;
    }
  }
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat>) {
  return kept(on_double(at::empty(sizes, at::TensorOptions(type.value_or(at::kFloat)).device(at::kCPU))));
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return kept(on_double(
      at::empty_strided(sizes, strides, at::TensorOptions(type.value_or(at::kFloat)).device(at::kCPU))));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  count("aten::_copy_from");
  const auto copy = [from = on_host(from), to = on_host(to)] { to.copy_(from); };
  if (auto* recording = Recording::current()) {
    if (!is_on_double(from) || !is_on_double(to)) {
      throw std::logic_error("a copy from or to the host while launches are recorded");
    }
    recording->add(copy);
  } else {
    copy();
  }
  return to;
}

}  // namespace

at::Tensor on_double(const at::Tensor& host) {
  return moved(host, double_device(), c10::DispatchKey::PrivateUse1);
}

std::map<std::string, std::int64_t> take_operations() {
  auto& all = operations();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.counts, {});
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
}

}  // namespace gnomon::test
