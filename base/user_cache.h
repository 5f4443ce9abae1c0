#pragma once

#include <filesystem>
#include <string>

namespace gnomon::base {

/// Where this user's measurements are kept between commands: `$XDG_CACHE_HOME/gnomon`. The environment
/// variable GNOMON_CACHE names another directory instead; "off" or an empty value: none.
struct UserCache {
  std::filesystem::path directory;  ///< need not exist; empty if there is none
  std::string why_none{};           ///< as one line; empty if there is a directory
  bool is_off = false;              ///< the user turned it off

  /// A directory in it; empty if there is none.
  std::filesystem::path of(const char* name) const {
    return directory.empty() ? directory : directory / name;
  }
};

/// The cache that the environment names. Without GNOMON_CACHE, XDG_CACHE_HOME and HOME there is none.
UserCache user_cache();

}  // namespace gnomon::base
