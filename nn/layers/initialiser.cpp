#include "nn/layers/initialiser.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/philox.h"

namespace gnomon::nn {

at::Tensor Initialiser::glorot(at::IntArrayRef sizes, std::int64_t fan_in, std::int64_t fan_out) {
  base::RandomStream random({seed_, base::Purpose::initialise, 0, next_++, 0, 0});
  const double bound = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
  auto weight = at::empty(sizes, at::kFloat);
  auto* values = weight.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    values[i] = static_cast<float>((2 * random.uniform() - 1) * bound);
  }
  return weight.to(device_).requires_grad_();
}

std::vector<at::Tensor> Initialiser::matrix_pair(std::int64_t in, std::int64_t out) {
  std::vector<at::Tensor> pair{matrix(in, out), matrix(in, out)};
  if (device_.is_cpu()) {
    return pair;
  }
  const auto both = at::cat({pair[0].detach(), pair[1].detach()});
  return {both.narrow(0, 0, in).detach().requires_grad_(), both.narrow(0, in, in).detach().requires_grad_()};
}

at::Tensor Initialiser::filled(std::int64_t count, double value) {
  return at::full({count}, value, at::TensorOptions(at::kFloat).device(device_));
}

}  // namespace gnomon::nn
