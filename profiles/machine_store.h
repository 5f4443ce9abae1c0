#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "profiles/machine_key.h"

namespace gnomon::profiles {

/// A document of the machine store.
struct StoreEntry {
  std::filesystem::path file;
  std::optional<CatalogMachine> machine{};  ///< with key and speeds; none if absent or unusable
  std::string problem{};                    ///< why the document is unusable, as one line; empty if it is not
  double age_s = 0;                         ///< since it was written
};

/// When MachineStore::store() replaces a usable document.
enum class Replace : std::uint8_t {
  shorter,  ///< only if its measurement took no longer than the new one
  always,
};

/// Measured machines of this user, one document (gnomon.machine/1) for each key, in the directory "machines"
/// of base::user_cache(). Processes may use it concurrently.
class MachineStore {
 public:
  /// The store in the user's cache; without one it stores nothing.
  MachineStore();
  /// A store in this directory, which need not exist; empty: stores nothing.
  explicit MachineStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Empty if nothing is stored.
  const std::filesystem::path& directory() const { return directory_; }
  /// Why there is no directory; empty if there is one.
  const std::string& why_none() const { return why_none_; }
  /// Whether the user turned it off.
  bool is_off() const { return is_off_; }

  std::filesystem::path file_of(const MachineKey& key) const { return directory_ / file_name(key); }

  /// The document of the machine with this key. One that is damaged, of another machine or measured by other
  /// probes is a problem, not an error.
  StoreEntry find(const MachineKey& key) const;

  /// All documents, sorted by file name.
  std::vector<StoreEntry> list() const;

  /// Writes the document of `machine`, which must have key and speeds. Returns why it was not written, as one
  /// line; empty if it was.
  std::string store(const CatalogMachine& machine, Replace replace) const;

  /// Removes the documents of the machine with this key, with any GPU and with none, and returns their
  /// number. Throws Failure if one cannot be removed.
  int forget(const MachineKey& key) const;
  /// Removes all documents.
  int forget_all() const;

 private:
  std::filesystem::path directory_;
  std::string why_none_;
  bool is_off_ = false;
};

}  // namespace gnomon::profiles
