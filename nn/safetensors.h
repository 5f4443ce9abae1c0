#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "nn/models.h"

/// Weights in the safetensors format (https://github.com/huggingface/safetensors, "Format"): the length of a
/// JSON header (8 bytes, little-endian), the header with the type, shape and place of each tensor, the data.
namespace gnomon::nn {

struct NamedTensor {
  std::string name;
  at::Tensor values;
};

/// Writes fp32 tensors under their names, atomically. Throws base::Failure.
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors);

/// Reads all tensors (F16, BF16, F32 or F64), as fp32 on the CPU, in the order of the header. Throws
/// base::InputError if the file cannot be read or is none.
std::vector<NamedTensor> read_safetensors(const std::filesystem::path& path);

/// Pairs the names of a model's state with tensors in the order of Model::state().
std::vector<NamedTensor> named(const Model& model, const std::vector<at::Tensor>& state);

/// Copies the tensors of a file into the model. Throws base::InputError if a tensor of the model is missing
/// or has another shape, or if the file has one that the model has not.
void load_safetensors(const std::filesystem::path& path, const Model& model);

}  // namespace gnomon::nn
