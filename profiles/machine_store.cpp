#include "profiles/machine_store.h"

#include <algorithm>
#include <utility>

#include "base/directory_lock.h"
#include "base/document.h"
#include "base/error.h"
#include "base/user_cache.h"

namespace gnomon::profiles {
namespace {

namespace fs = std::filesystem;

double age_of(const fs::path& file) {
  std::error_code failed;
  const auto written = fs::last_write_time(file, failed);
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - written;
  return failed ? 0 : std::max(0.0, age.count());
}

std::string problem_of(const CatalogMachine& machine) {
  if (!machine.key || !machine.speeds) {
    return machine.key ? "has no speeds" : "has no key";
  }
  return machine.key->probes == probes_version ? "" : "was measured by another version of gnomon";
}

StoreEntry entry_of(const fs::path& file) {
  StoreEntry entry{.file = file, .age_s = age_of(file)};
  try {
    auto machine = read_machine(file);
    entry.problem = problem_of(machine);
    if (entry.problem.empty()) {
      entry.machine = std::move(machine);
    } else {
      entry.problem = file.string() + ": " + entry.problem;
    }
  } catch (const std::exception& error) {
    entry.problem = error.what();
  }
  return entry;
}

}  // namespace

MachineStore::MachineStore() {
  auto cache = base::user_cache();
  directory_ = cache.of("machines");
  why_none_ = std::move(cache.why_none);
  is_off_ = cache.is_off;
}

StoreEntry MachineStore::find(const MachineKey& key) const {
  const auto file = file_of(key);
  std::error_code unreadable;
  if (directory_.empty() || !fs::exists(file, unreadable)) {
    return {.file = file};
  }
  auto entry = entry_of(file);
  if (entry.machine && !is_same_machine(*entry.machine->key, key)) {
    entry.problem = file.string() + ": is the document of another machine: " + text_of(*entry.machine->key);
    entry.machine.reset();
  }
  return entry;
}

std::vector<StoreEntry> MachineStore::list() const {
  std::vector<StoreEntry> entries;
  for (const auto& file : base::documents_in(directory_)) {
    entries.push_back(entry_of(file));
  }
  return entries;
}

std::string MachineStore::store(const CatalogMachine& machine, Replace replace) const {
  if (directory_.empty()) {
    return why_none_;
  }
  const auto file = file_of(machine.key.value());
  try {
    fs::create_directories(directory_);
    const base::DirectoryLock lock(directory_);
    if (replace == Replace::shorter) {
      const auto old = find(*machine.key);
      if (old.machine && old.machine->speeds->seconds > machine.speeds.value().seconds) {
        return file.string() + ": a longer measurement is stored";
      }
    }
    base::write_document(file, machine);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

int MachineStore::forget(const MachineKey& key) const {
  int count = 0;
  for (const auto& entry : list()) {
    const bool is_its = entry.machine && is_same_machine(*entry.machine->key, key, /*any_gpu=*/true);
    if (is_its || entry.file == file_of(key)) {
      count += base::remove_document(entry.file) ? 1 : 0;
    }
  }
  return count;
}

int MachineStore::forget_all() const { return base::remove_documents(directory_); }

}  // namespace gnomon::profiles
