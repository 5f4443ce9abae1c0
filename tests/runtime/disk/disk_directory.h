#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gnomon::runtime {

/// A directory of the running test on the build's disk, removed with the object: a temporary directory may
/// lie in memory, where nothing is read past the page cache.
class DiskDirectory {
 public:
  DiskDirectory() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    std::replace(name.begin(), name.end(), '/', '_');
    path_ = std::filesystem::path(BINARY_DIR) / ("disk." + name);
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~DiskDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  DiskDirectory(const DiskDirectory&) = delete;
  DiskDirectory& operator=(const DiskDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

}  // namespace gnomon::runtime
