#include "nn/layers/norm_layer.h"

#include <ATen/ATen.h>

namespace gnomon::nn {

NormLayer make_norm(plan::Norm kind, Initialiser& initialise, std::int64_t columns) {
  NormLayer norm;
  norm.kind = kind;
  if (kind != plan::Norm::none) {
    norm.gain = initialise.filled(columns, 1).requires_grad_();
    norm.bias = initialise.zeros(columns);
  }
  if (kind == plan::Norm::batch) {
    norm.running = {initialise.filled(columns, 0), initialise.filled(columns, 1)};
  }
  return norm;
}

at::Tensor NormLayer::forward(const at::Tensor& x, bool training) const {
  switch (kind) {
    case plan::Norm::none:
      break;
    case plan::Norm::batch:
      return training ? dense::batch_norm(x, gain, bias, running)
                      : dense::batch_norm_by_running(x, gain, bias, running);
    case plan::Norm::layer:
      return dense::layer_norm(x, gain, bias);
  }
  return x;
}

}  // namespace gnomon::nn
