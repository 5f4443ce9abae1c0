#include "nn/matmul_precision.h"

#include <string>

namespace gnomon::nn {
namespace {

std::string name_of(at::Float32MatmulPrecision precision) {
  switch (precision) {
    case at::Float32MatmulPrecision::HIGHEST:
      return "highest";
    case at::Float32MatmulPrecision::HIGH:
      return "high";
    default:
      return "medium";
  }
}

}  // namespace

MatmulPrecisionGuard::MatmulPrecisionGuard(const plan::Job& job)
    : previous_(at::globalContext().float32MatmulPrecision()) {
  at::globalContext().setFloat32MatmulPrecision(std::string(base::name_of(job.matmul_precision)));
}

MatmulPrecisionGuard::~MatmulPrecisionGuard() {
  at::globalContext().setFloat32MatmulPrecision(name_of(previous_));
}

}  // namespace gnomon::nn
