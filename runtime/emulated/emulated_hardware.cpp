#include "runtime/emulated/emulated_hardware.h"

namespace gnomon::runtime::emulated {

void EmulatedHardware::run(const std::function<void()>& act) {
  act();
  queue_.settle();
}

MappedBytes EmulatedHardware::map(const void* data, std::size_t bytes) {
  queue_.mapped.add(data, bytes);
  return {std::shared_ptr<const void>(data, [this](const void* mapped) { queue_.mapped.remove(mapped); }),
          data};
}

}  // namespace gnomon::runtime::emulated
