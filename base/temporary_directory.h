#pragma once

#include <filesystem>
#include <string>

namespace gnomon::base {

/// A new, empty directory below the temporary directory, removed with the object.
class TemporaryDirectory {
 public:
  /// Throws Failure if it cannot be made.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace gnomon::base
