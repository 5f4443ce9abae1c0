#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "graph/store/npy_stream.h"

struct zip;

namespace gnomon::graph {

/// A .npz: a zip of .npy files. Entries are decompressed as they are read, never held whole; several may be
/// read at once, from one thread. Copies share the archive.
class ZipArchive {
 public:
  /// Throws InputError when the file is no zip.
  explicit ZipArchive(const std::filesystem::path& path);

  bool has(const std::string& array) const;
  /// The array called `array` (entry "array.npy"), from its beginning. Throws InputError naming file and
  /// array.
  NpyStream array(const std::string& array) const;
  /// "FILE: array", for errors.
  std::string where(const std::string& array) const { return path_ + ": " + array; }

 private:
  std::string path_;
  std::shared_ptr<zip> archive_;
};

}  // namespace gnomon::graph
