#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "graph/import/zip_directory.h"
#include "graph/store/npy_stream.h"

namespace gnomon::graph {

/// A .npz file: a zip of .npy files. Entries are decompressed while they are read and checked against their
/// CRC-32 at their end. Several may be open at a time, on any threads. Copies share the archive.
class ZipArchive {
 public:
  /// Throws InputError if the file is not a zip.
  explicit ZipArchive(const std::filesystem::path& path);

  bool has(const std::string& array) const { return find(array) != nullptr; }
  /// Returns the names of all entries, with their directories and extensions.
  std::vector<std::string> entries() const;
  /// Returns the bytes of the entry "`array`.npy". Throws InputError naming the file and the array.
  std::string bytes(const std::string& array) const;
  /// Opens the entry "`array`.npy" as a stream. Throws InputError naming the file and the array.
  NpyStream array(const std::string& array) const;
  /// Returns "FILE: array", for errors.
  std::string where(const std::string& array) const { return path_ + ": " + array; }

 private:
  const ZipEntry* find(const std::string& array) const;
  ByteReader open(const std::string& array) const;

  std::string path_;
  std::shared_ptr<const PositionedFile> file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace gnomon::graph
