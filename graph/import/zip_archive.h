#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "graph/store/npy_stream.h"

struct zip;

namespace gnomon::graph {

/// A .npz file: a zip of .npy files. Entries are decompressed while they are read. Several may be open at a
/// time, but only one thread may use them. Copies share the archive.
class ZipArchive {
 public:
  /// Throws InputError if the file is not a zip.
  explicit ZipArchive(const std::filesystem::path& path);

  bool has(const std::string& array) const;
  /// Returns the names of all entries, with their directories and extensions.
  std::vector<std::string> entries() const;
  /// Returns the bytes of the entry "`array`.npy". Throws InputError naming the file and the array.
  std::string bytes(const std::string& array) const;
  /// Opens the entry "`array`.npy" as a stream. Throws InputError naming the file and the array.
  NpyStream array(const std::string& array) const;
  /// Returns "FILE: array", for errors.
  std::string where(const std::string& array) const { return path_ + ": " + array; }

 private:
  ByteReader open(const std::string& array) const;
  std::string path_;
  std::shared_ptr<zip> archive_;
};

}  // namespace gnomon::graph
