#include "base/error.h"
#include "runtime/accelerator.h"

// In place of runtime/cuda where that cannot be linked.

namespace gnomon::runtime {

std::string why_no_gpu() { return "gnomon was built without a LibTorch that uses one"; }

std::unique_ptr<Accelerator> open_gpu(const PlacedGraph&, const plan::Job&, const plan::Plan&,
                                      const DeviceOptions&, const base::Progress&) {
  throw base::InputError("GPU", why_no_gpu());
}

}  // namespace gnomon::runtime
