#pragma once

#include <filesystem>
#include <string>

namespace gnomon::base {

/// Makes a new, empty directory below the temporary directory. Throws Failure if it cannot be made.
std::filesystem::path new_temporary_directory();

/// A new, empty directory below the temporary directory, removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(new_temporary_directory()) {}
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace gnomon::base
