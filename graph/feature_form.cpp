#include "graph/feature_form.h"

#include <cstring>
#include <memory>

#include "graph/feature_bits.h"

namespace gnomon::graph {
namespace {

template <class Bits>
void append_words(const std::byte* row, std::int64_t num_columns, FeatureEntries& to) {
  using Word = typename Bits::Word;
  for (std::int64_t column = 0; column < num_columns; ++column) {
    const std::byte* element = row + static_cast<std::size_t>(column) * sizeof(Word);
    Word word{};
    std::memcpy(&word, element, sizeof(Word));
    if ((word & Bits::without_sign) != 0) {
      to.columns.push_back(static_cast<std::int32_t>(column));
      to.values.insert(to.values.end(), element, element + sizeof(Word));
      to.all_ones = to.all_ones && word == Bits::one;
    }
  }
}

template <class Bits>
void expand_words(const SparseRow& row, std::byte* out) {
  using Word = typename Bits::Word;
  for (std::size_t i = 0; i < row.columns.size(); ++i) {
    Word word = Bits::one;
    if (!row.values.empty()) {
      std::memcpy(&word, row.values.data() + i * sizeof(Word), sizeof(Word));
    }
    std::memcpy(out + static_cast<std::size_t>(row.columns[i]) * sizeof(Word), &word, sizeof(Word));
  }
}

Graph with_sparse_features(const Graph& graph) {
  struct Storage {
    std::shared_ptr<const void> rest;
    std::vector<std::int64_t> indptr{0};
    FeatureEntries entries;
  };
  const Features& features = graph.features;
  const auto storage = std::make_shared<Storage>();
  storage->rest = graph.storage;
  for (VertexId vertex = 0; vertex < features.rows; ++vertex) {
    storage->entries.append(features.row(vertex), features.columns, features.type);
    storage->indptr.push_back(std::ssize(storage->entries.columns));
  }
  if (storage->entries.all_ones) {
    storage->entries.values = {};
  }
  Graph result = graph;
  result.features.data = storage->entries.all_ones ? nullptr : storage->entries.values.data();
  result.features.indptr = storage->indptr;
  result.features.entry_columns = storage->entries.columns;
  result.storage = storage;
  return result;
}

Graph with_dense_features(const Graph& graph) {
  struct Storage {
    std::shared_ptr<const void> rest;
    std::unique_ptr<std::byte[]> elements;
  };
  const Features& features = graph.features;
  const auto storage = std::make_shared<Storage>();
  storage->rest = graph.storage;
  storage->elements = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<std::size_t>(features.rows * features.row_bytes()));
  for (VertexId vertex = 0; vertex < features.rows; ++vertex) {
    expand_row(features, vertex, storage->elements.get() + vertex * features.row_bytes());
  }
  Graph result = graph;
  result.features = {storage->elements.get(), features.type, features.rows, features.columns};
  result.storage = storage;
  return result;
}

}  // namespace

void FeatureEntries::append(const std::byte* row, std::int64_t num_columns, FeatureType type) {
  with_bits_of(type, [&](auto bits) { append_words<decltype(bits)>(row, num_columns, *this); });
}

SparseRow row_of(const Features& features, VertexId vertex) {
  const auto row = static_cast<std::size_t>(vertex);
  const auto begin = static_cast<std::size_t>(features.indptr[row]);
  const auto count = static_cast<std::size_t>(features.indptr[row + 1]) - begin;
  const auto bytes = static_cast<std::size_t>(bytes_of(features.type));
  const std::span<const std::byte> values = features.data == nullptr
                                                ? std::span<const std::byte>()
                                                : std::span(features.data + begin * bytes, count * bytes);
  return {features.entry_columns.subspan(begin, count), values};
}

void expand_row(const Features& features, VertexId vertex, std::byte* out) {
  std::memset(out, 0, static_cast<std::size_t>(features.row_bytes()));
  with_bits_of(features.type,
               [&](auto bits) { expand_words<decltype(bits)>(row_of(features, vertex), out); });
}

Graph with_features_in(const Graph& graph, FeatureForm form) {
  if (!graph.features.any()) {
    return graph;
  }
  const bool is_sparse = graph.features.is_sparse();
  if (form == FeatureForm::dense) {
    return is_sparse ? with_dense_features(graph) : graph;
  }
  const Graph sparse = is_sparse ? graph : with_sparse_features(graph);
  const bool is_smaller = sparse.features.bytes() < sparse.features.rows * sparse.features.row_bytes();
  return form == FeatureForm::sparse || is_smaller ? sparse : with_features_in(graph, FeatureForm::dense);
}

}  // namespace gnomon::graph
