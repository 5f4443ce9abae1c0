#pragma once

#include <gtest/gtest.h>
#include <zip.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "graph/store/npy.h"

/// Files as other programs write them, for importers.
namespace gnomon::graph {

template <class T>
std::string npy(DType type, const std::vector<std::int64_t>& shape, const std::vector<T>& elements) {
  return format_npy_header(type, shape) +
         std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

inline std::string integers(const std::vector<std::int64_t>& shape,
                            const std::vector<std::int64_t>& elements) {
  return npy(DType::int64, shape, elements);
}

inline std::string floats(const std::vector<std::int64_t>& shape, const std::vector<float>& elements) {
  return npy(DType::float32, shape, elements);
}

inline std::string truths(const std::vector<std::int64_t>& shape, const std::vector<char>& elements) {
  return npy(DType::bool8, shape, elements);
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline void write_gzip(const std::filesystem::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

using Arrays = std::vector<std::pair<std::string, std::string>>;

inline void write_zip(const std::filesystem::path& path, const Arrays& arrays) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto& [name, bytes] : arrays) {
    zip_file_add(archive, (name + ".npy").c_str(), zip_source_buffer(archive, bytes.data(), bytes.size(), 0),
                 0);
  }
  ASSERT_EQ(zip_close(archive), 0);
}

}  // namespace gnomon::graph
