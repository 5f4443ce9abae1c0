#include "nn/gradients.h"

#include <ATen/ATen.h>
#include <c10/core/AutogradState.h>

namespace gnomon::nn {
namespace {

/// While it exists, LibTorch runs the backward passes of this thread on this thread.
class OwnThreadGuard {
 public:
  OwnThreadGuard() : before_(c10::AutogradState::get_tls_state().get_multithreading_enabled()) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  ~OwnThreadGuard() { c10::AutogradState::get_tls_state().set_multithreading_enabled(before_); }
  OwnThreadGuard(const OwnThreadGuard&) = delete;
  OwnThreadGuard& operator=(const OwnThreadGuard&) = delete;

 private:
  bool before_;
};

}  // namespace

void compute_gradients(const at::Tensor& output, const at::Tensor& gradient) {
  const OwnThreadGuard guard;
  output.backward(gradient);
}

}  // namespace gnomon::nn
