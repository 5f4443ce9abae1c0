#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

/// Whether an environment variable is set to "off" or to an empty value.
bool is_turned_off(const char* variable);

/// The .json files of a directory, sorted; none if there is no directory.
std::vector<std::filesystem::path> documents_in(const std::filesystem::path& directory);

/// Removes a document, and returns whether there was one: another process may have removed it. Throws Failure
/// if it cannot be removed.
bool remove_document(const std::filesystem::path& file);

/// Removes all documents of a directory, and what killed processes left of unfinished ones. Returns the
/// number of documents. Throws Failure if one cannot be removed.
int remove_documents(const std::filesystem::path& directory);

}  // namespace gnomon::base
