#include "nn/safetensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"

static_assert(std::endian::native == std::endian::little);

namespace gnomon::nn {
namespace {

using base::Json;

constexpr std::size_t length_bytes = 8;
constexpr std::size_t data_alignment = 8;  // filled up with spaces
constexpr const char* metadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 4> types{
    {{"F16", at::kHalf}, {"BF16", at::kBFloat16}, {"F32", at::kFloat}, {"F64", at::kDouble}}};

std::string header_of(const std::vector<NamedTensor>& tensors) {
  Json header = {{metadata, {{"format", "pt"}}}};
  std::size_t begin = 0;
  for (const auto& [name, values] : tensors) {
    const std::size_t end = begin + values.nbytes();
    header[name] = {{"dtype", "F32"}, {"shape", values.sizes().vec()}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  auto text = header.dump();
  text.resize((text.size() + data_alignment - 1) / data_alignment * data_alignment, ' ');
  return text;
}

/// One tensor of a header.
struct Entry {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> data_offsets;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("dtype", self.dtype);
    f.required("shape", self.shape, base::non_negative);
    f.required("data_offsets", self.data_offsets, base::non_negative);
  }
};

at::ScalarType type_of(const Entry& entry, const std::string& where) {
  for (const auto& [name, type] : types) {
    if (name == entry.dtype) {
      return type;
    }
  }
  throw base::InputError(where + ": dtype", "is " + entry.dtype + "; use F16, BF16, F32 or F64");
}

/// The number of bytes of a tensor; none if it does not fit into 63 bits.
std::optional<std::uint64_t> bytes_of(const Entry& entry, at::ScalarType type) {
  std::uint64_t bytes = c10::elementSize(type);
  for (const auto size : entry.shape) {
    if (size > 0 && bytes > (std::uint64_t{1} << 62) / static_cast<std::uint64_t>(size)) {
      return std::nullopt;
    }
    bytes *= static_cast<std::uint64_t>(size);
  }
  return bytes;
}

at::Tensor tensor_of(const Entry& entry, std::string_view data, const std::string& where) {
  const auto type = type_of(entry, where);
  const auto& at = entry.data_offsets;
  if (at.size() != 2 || at[0] > at[1] || at[1] > data.size() || bytes_of(entry, type) != at[1] - at[0]) {
    throw base::InputError(where + ": data_offsets", "do not fit the shape or the file");
  }
  auto values = at::empty(entry.shape, type);
  std::memcpy(values.mutable_data_ptr(), data.data() + at[0], at[1] - at[0]);
  return values.to(at::kFloat);
}

/// The header's text; the rest of the file is the data.
std::string_view header_in(std::string_view file, const std::string& where) {
  std::uint64_t length = 0;
  if (file.size() >= length_bytes) {
    std::memcpy(&length, file.data(), length_bytes);
  }
  if (file.size() < length_bytes || length > file.size() - length_bytes) {
    throw base::InputError(where, "is not a safetensors file: it ends within its header");
  }
  return file.substr(length_bytes, length);
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors) {
  const auto header = header_of(tensors);
  const std::uint64_t length = header.size();
  base::AtomicFile file(path);
  file.write(&length, length_bytes);
  file.write(header.data(), header.size());
  for (const auto& [name, values] : tensors) {
    const auto stored = values.detach().to(at::kCPU, at::kFloat).contiguous();
    file.write(stored.const_data_ptr(), stored.nbytes());
  }
  file.commit();
}

std::vector<NamedTensor> read_safetensors(const std::filesystem::path& path) {
  const auto where = path.string();
  const auto file = base::read_file(path);
  const auto header = header_in(file, where);
  const auto data = std::string_view(file).substr(length_bytes + header.size());
  const auto entries = base::parse_json(header, where);
  std::vector<NamedTensor> tensors;
  if (!entries.is_object()) {
    throw base::InputError(where, "is not a safetensors file: its header is no JSON object");
  }
  for (const auto& [name, json] : entries.items()) {
    if (name != metadata) {
      Entry entry;
      base::read_value(json, entry, where + ": " + name, {});
      tensors.push_back({name, tensor_of(entry, data, where + ": " + name)});
    }
  }
  return tensors;
}

std::vector<NamedTensor> named(const Model& model, const std::vector<at::Tensor>& state) {
  const auto names = model.state_names();
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    tensors.push_back({names[i], state.at(i)});
  }
  return tensors;
}

void load_safetensors(const std::filesystem::path& path, const Model& model) {
  const auto found = read_safetensors(path);
  const auto wanted = named(model, model.state());
  const auto with_name = [](const std::string& name) {
    return [&name](const NamedTensor& tensor) { return tensor.name == name; };
  };
  for (const auto& tensor : found) {
    if (std::none_of(wanted.begin(), wanted.end(), with_name(tensor.name))) {
      throw base::InputError(path.string() + ": " + tensor.name, "is not a tensor of the job's model");
    }
  }
  for (const auto& tensor : wanted) {
    const auto values = std::find_if(found.begin(), found.end(), with_name(tensor.name));
    if (values == found.end()) {
      throw base::InputError(path.string(), "has no tensor " + tensor.name);
    }
    if (values->values.sizes() != tensor.values.sizes()) {
      throw base::InputError(path.string() + ": " + tensor.name, "has another shape than the job's model");
    }
    copy_values({values->values}, {tensor.values});
  }
}

}  // namespace gnomon::nn
