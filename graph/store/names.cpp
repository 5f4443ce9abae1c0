#include "graph/store/names.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/csv.h"
#include "base/error.h"

namespace gnomon::graph {
namespace {

std::filesystem::path file_of(const std::filesystem::path& store) { return store / "names.txt"; }

}  // namespace

VertexNames::VertexNames(const std::filesystem::path& store) : where_(file_of(store).string()) {
  if (store.empty() || !std::filesystem::exists(where_)) {
    return;
  }
  text_ = base::read_file(where_);
  for (std::size_t begin = 0; begin < text_.size();) {
    begins_.push_back(begin);
    const std::size_t end = text_.find('\n', begin);
    begin = end == std::string::npos ? text_.size() : end + 1;
  }
}

std::string VertexNames::of(VertexId original_id) const {
  if (!any()) {
    return std::to_string(original_id);
  }
  const auto line = static_cast<std::size_t>(original_id);
  if (original_id < 0 || line >= begins_.size()) {
    throw base::InputError(where_, "has " + std::to_string(begins_.size()) + " names; vertex " +
                                       std::to_string(original_id) + " has none");
  }
  const std::size_t begin = begins_[line];
  return text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
}

std::string VertexNames::csv_cell(VertexId original_id) const { return base::csv_cell(of(original_id)); }

void write_names(const std::filesystem::path& store, const std::deque<std::string>& names) {
  std::string block;
  constexpr std::size_t block_bytes = std::size_t{1} << 20;
  base::AtomicFile file(file_of(store));
  for (const auto& name : names) {
    block += name + "\n";
    if (block.size() >= block_bytes) {
      file.write(block.data(), block.size());
      block.clear();
    }
  }
  file.write(block.data(), block.size());
  file.commit();
}

void copy_names(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::filesystem::exists(file_of(from))) {
    base::write_file_atomically(file_of(to), base::read_file(file_of(from)));
  }
}

}  // namespace gnomon::graph
