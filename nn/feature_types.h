#pragma once

#include <c10/core/ScalarType.h>

#include "graph/graph.h"

namespace gnomon::nn {

/// Converts between the element types of features and of their tensors. Precondition of feature_type(): the
/// type is fp32, fp16 or bf16.
constexpr at::ScalarType scalar_type(graph::FeatureType type) {
  switch (type) {
    case graph::FeatureType::fp16:
      return at::kHalf;
    case graph::FeatureType::bf16:
      return at::kBFloat16;
    case graph::FeatureType::fp32:
      break;
  }
  return at::kFloat;
}
constexpr graph::FeatureType feature_type(at::ScalarType type) {
  return type == at::kHalf       ? graph::FeatureType::fp16
         : type == at::kBFloat16 ? graph::FeatureType::bf16
                                 : graph::FeatureType::fp32;
}

}  // namespace gnomon::nn
