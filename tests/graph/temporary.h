#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"

namespace gnomon::graph {

/// A directory of one test's own, removed at its end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "gnomon-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The message of the Error that `act` throws, with every mention of `directory`/ cut out.
template <class Error = base::InputError, class Act>
std::string message_of(const std::filesystem::path& directory, Act act) {
  try {
    act();
  } catch (const Error& error) {
    std::string message = error.what();
    const std::string prefix = directory.empty() ? "" : directory.string() + "/";
    for (auto at = message.find(prefix); !prefix.empty() && at != std::string::npos;
         at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  }
  return "no error";
}

}  // namespace gnomon::graph
