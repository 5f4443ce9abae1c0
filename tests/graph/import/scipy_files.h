#pragma once

#include <string>

#include "tests/graph/files.h"

/// Archives as scipy.sparse.save_npz writes them.
namespace gnomon::graph {

/// A scalar of type bytes, as numpy.save writes it.
inline std::string bytes_scalar(const std::string& text) {
  std::string header = format_npy_header(DType::int64, {});
  const auto type = header.find("'<i8'");
  return header.replace(type, 5, "'|S" + std::to_string(text.size()) + "'") + text;
}

/// The matrix with entries (0, 1): 0.5, (2, 0): 2, (2, 1): 4 in a format of SciPy.
inline Arrays scipy_arrays(const std::string& format) {
  const auto entries = [](const std::vector<std::int32_t>& values) {
    return npy(DType::int32, {std::ssize(values)}, values);
  };
  Arrays arrays{{"format", bytes_scalar(format)}, {"shape", integers({2}, {3, 3})}};
  if (format == "csc") {
    arrays.insert(arrays.end(), {{"indptr", entries({0, 1, 3, 3})},
                                 {"indices", entries({2, 0, 2})},
                                 {"data", npy<double>(DType::float64, {3}, {2, 0.5, 4})}});
  } else if (format == "coo") {
    arrays.insert(arrays.end(), {{"row", entries({2, 0, 2})},
                                 {"col", entries({1, 1, 0})},
                                 {"data", npy<double>(DType::float64, {3}, {4, 0.5, 2})}});
  } else {
    arrays.insert(arrays.end(), {{"indptr", entries({0, 1, 1, 3})},
                                 {"indices", entries({1, 1, 0})},
                                 {"data", npy<double>(DType::float64, {3}, {0.5, 4, 2})}});
  }
  return arrays;
}

}  // namespace gnomon::graph
