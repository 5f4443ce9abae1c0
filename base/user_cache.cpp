#include "base/user_cache.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "base/error.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

/// An environment variable; none if it is not set.
std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// The directory of caches by the XDG Base Directory Specification, which ignores relative paths; empty if
/// unknown.
fs::path user_caches() {
  const fs::path cache = variable("XDG_CACHE_HOME").value_or("");
  if (cache.is_absolute()) {
    return cache;
  }
  const fs::path home = variable("HOME").value_or("");
  return home.is_absolute() ? home / ".cache" : fs::path();
}

}  // namespace

UserCache user_cache() {
  if (is_turned_off("GNOMON_CACHE")) {
    return {{}, "GNOMON_CACHE is off", true};
  }
  if (const auto chosen = variable("GNOMON_CACHE")) {
    return {*chosen};
  }
  const auto caches = user_caches();
  return caches.empty() ? UserCache{{}, "neither XDG_CACHE_HOME nor HOME names a directory"}
                        : UserCache{caches / "gnomon"};
}

bool is_turned_off(const char* name) {
  const auto value = variable(name);
  return value && (value->empty() || *value == "off");
}

std::vector<fs::path> documents_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code absent;
  for (auto entry = fs::directory_iterator(directory, absent); !absent && entry != fs::directory_iterator();
       entry.increment(absent)) {
    if (entry->path().extension() == ".json") {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool remove_document(const fs::path& file) {
  std::error_code failed;
  const bool removed = fs::remove(file, failed);
  if (failed) {
    throw Failure(file.string(), "cannot be removed: " + failed.message());
  }
  return removed;
}

int remove_documents(const fs::path& directory) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent)) {
    if (entry.path().filename().string().find(".json.tmp-") != std::string::npos) {
      fs::remove(entry.path(), absent);
    }
  }
  int count = 0;
  for (const auto& file : documents_in(directory)) {
    count += remove_document(file) ? 1 : 0;
  }
  return count;
}

}  // namespace gnomon::base
