#include "base/user_cache.h"

#include <cstdlib>
#include <optional>

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
  if (const auto chosen = variable("GNOMON_CACHE")) {
    const bool is_off = chosen->empty() || *chosen == "off";
    return is_off ? UserCache{{}, "GNOMON_CACHE is off", true} : UserCache{*chosen};
  }
  const auto caches = user_caches();
  return caches.empty() ? UserCache{{}, "neither XDG_CACHE_HOME nor HOME names a directory"}
                        : UserCache{caches / "gnomon"};
}

}  // namespace gnomon::base
