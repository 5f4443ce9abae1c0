#include "graph/store/feature_writer.h"

#include <utility>

namespace gnomon::graph {
namespace {

constexpr auto indptr_file = "features_indptr.npy";
constexpr auto columns_file = "features_columns.npy";
constexpr auto values_file = "features_values.npy";

/// Entries that are written together.
constexpr std::size_t buffered_entries = std::size_t{1} << 17;

/// The number of rows after which the writer re-evaluates which form is smaller.
constexpr std::int64_t rows_between_checks = 4096;

}  // namespace

SparseFeatureWriter::SparseFeatureWriter(std::filesystem::path directory, FeatureType type)
    : directory_(std::move(directory)),
      type_(type),
      columns_(directory_ / columns_file, DType::int32),
      values_(std::in_place, directory_ / values_file, dtype_of(type)) {}

void SparseFeatureWriter::add_dense(const std::byte* row, std::int64_t columns) {
  const auto before = buffered_.columns.size();
  buffered_.append(row, columns, type_);
  end_row(before);
}

void SparseFeatureWriter::add(const SparseRow& row) {
  const auto before = buffered_.columns.size();
  buffered_.columns.insert(buffered_.columns.end(), row.columns.begin(), row.columns.end());
  buffered_.values.insert(buffered_.values.end(), row.values.begin(), row.values.end());
  buffered_.all_ones = buffered_.all_ones && row.values.empty();
  end_row(before);
}

void SparseFeatureWriter::end_row(std::size_t entries_before) {
  indptr_.push_back(indptr_.back() + static_cast<std::int64_t>(buffered_.columns.size() - entries_before));
  if (buffered_.columns.size() >= buffered_entries) {
    flush();
  }
}

void SparseFeatureWriter::flush() {
  columns_.write(std::span<const std::int32_t>(buffered_.columns));
  values_->write(buffered_.values.data(), std::ssize(buffered_.values) / bytes_of(type_));
  buffered_.columns.clear();
  buffered_.values.clear();
}

std::int64_t SparseFeatureWriter::bytes() const {
  const std::int64_t value_bytes = buffered_.all_ones ? 0 : bytes_of(type_);
  return std::ssize(indptr_) * std::int64_t{sizeof(std::int64_t)} +
         indptr_.back() * (std::int64_t{sizeof(std::int32_t)} + value_bytes);
}

SparseMeta SparseFeatureWriter::finish() {
  flush();
  columns_.finish();
  if (!buffered_.all_ones) {
    values_->finish();
  }
  values_.reset();  // removes what was not finished
  NpyWriter indptr(directory_ / indptr_file, DType::int64);
  indptr.write(std::span<const std::int64_t>(indptr_));
  indptr.finish();
  return {indptr_.back(), !buffered_.all_ones};
}

FeatureWriter::FeatureWriter(std::filesystem::path directory, std::int64_t columns, FeatureType type,
                             FeatureForm form)
    : directory_(std::move(directory)), columns_(columns), type_(type), form_(form) {
  if (form == FeatureForm::dense) {
    dense_.emplace(directory_ / "features.npy", dtype_of(type), columns);
  } else {
    sparse_.emplace(directory_, type);
  }
}

void FeatureWriter::add(std::span<const std::byte> rows) {
  const auto row_bytes = static_cast<std::size_t>(columns_ * bytes_of(type_));
  while (!rows.empty() && sparse_) {
    sparse_->add_dense(rows.data(), columns_);
    rows = rows.subspan(row_bytes);
    if (++rows_ % rows_between_checks == 0 && !is_sparse_smaller()) {
      make_dense();
    }
  }
  if (!rows.empty()) {
    dense_->write(rows.data(), std::ssize(rows) / bytes_of(type_));
  }
}

std::optional<SparseMeta> FeatureWriter::finish() {
  if (sparse_ && !is_sparse_smaller()) {
    make_dense();
  }
  if (sparse_) {
    return sparse_->finish();
  }
  dense_->finish();
  return std::nullopt;
}

bool FeatureWriter::is_sparse_smaller() const {
  return form_ == FeatureForm::sparse || sparse_->bytes() < rows_ * columns_ * bytes_of(type_);
}

/// Replaces the sparse rows so far by dense ones.
void FeatureWriter::make_dense() {
  const auto has_values = sparse_->finish().values;
  sparse_.reset();
  dense_.emplace(directory_ / "features.npy", dtype_of(type_), columns_);
  {
    const auto indptr = map_npy(directory_ / indptr_file);
    const auto columns = map_npy(directory_ / columns_file);
    const auto values = has_values ? std::optional(map_npy(directory_ / values_file)) : std::nullopt;
    const Features written{values ? values->span<std::byte>().data() : nullptr,
                           type_,
                           rows_,
                           columns_,
                           indptr.span<std::int64_t>(),
                           columns.span<std::int32_t>()};
    std::vector<std::byte> row(static_cast<std::size_t>(written.row_bytes()));
    for (VertexId vertex = 0; vertex < rows_; ++vertex) {
      expand_row(written, vertex, row.data());
      dense_->write(row.data(), columns_);
    }
  }
  for (const char* const file : {indptr_file, columns_file, values_file}) {
    std::filesystem::remove(directory_ / file);
  }
}

SparseMeta write_sparse_features(const std::filesystem::path& directory, const Features& features,
                                 std::span<const VertexId> vertices) {
  SparseFeatureWriter writer(directory, features.type);
  for (const VertexId vertex : vertices) {
    writer.add(row_of(features, vertex));
  }
  return writer.finish();
}

}  // namespace gnomon::graph
