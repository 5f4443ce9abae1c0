#include "apps/commands/stored_machines.h"

#include <iostream>
#include <optional>
#include <vector>

#include "apps/text/format.h"
#include "apps/text/machine_text.h"
#include "apps/text/output.h"
#include "base/document.h"
#include "base/error.h"
#include "base/output_file.h"
#include "profiles/machine_store.h"

namespace gnomon::apps {
namespace {

/// A stored document in the list; without name, duration and key if it is unusable.
struct StoredMachineRow {
  std::string file;
  bool this_machine = false;
  double age_s = 0;
  std::optional<std::string> name{};
  std::optional<double> measured_s{};
  std::optional<profiles::MachineKey> key{};
  std::optional<std::string> problem{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("file", self.file);
    f.required("this_machine", self.this_machine);
    f.required("age_s", self.age_s);
    f("name", self.name);
    f("measured_s", self.measured_s);
    f("key", self.key);
    f("problem", self.problem);
  }
};

struct StoredMachineList {
  static constexpr std::string_view schema = "gnomon.stored_machines/1";
  std::optional<std::string> directory{};
  std::vector<StoredMachineRow> machines{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("directory", self.directory);
    f.required("machines", self.machines);
  }
};

StoredMachineRow row_of(const profiles::StoreEntry& entry, const profiles::MachineKey& here) {
  StoredMachineRow row{
      .file = entry.file.string(), .this_machine = is_of_this_machine(entry, here), .age_s = entry.age_s};
  if (entry.machine) {
    row.name = entry.machine->name;
    row.measured_s = entry.machine->speeds->seconds;
    row.key = entry.machine->key;
  } else {
    row.problem = entry.problem;
  }
  return row;
}

void require_directory(const profiles::MachineStore& store, const std::string& option) {
  if (store.directory().empty()) {
    throw base::InputError(option, store.why_none());
  }
}

}  // namespace

void print_stored_machines(bool json) {
  const profiles::MachineStore store;
  const auto here = profiles::machine_key();
  if (!json) {
    std::cout << stored_machines_text(store, here);
    return;
  }
  StoredMachineList list;
  if (!store.directory().empty()) {
    list.directory = store.directory().string();
  }
  for (const auto& entry : store.list()) {
    list.machines.push_back(row_of(entry, here));
  }
  print_json(base::to_document(list));
}

void forget_machines(const std::string& which) {
  const profiles::MachineStore store;
  require_directory(store, "--forget");
  const int count = which == "all" ? store.forget_all() : store.forget(profiles::machine_key());
  std::cout << (count == 0 ? "nothing was stored in "
                           : "removed " + format_counted(count, "machine", "machines") + " from ")
            << store.directory().string() << "\n";
}

void share_machine(const std::string& file, bool with_gpu) {
  const profiles::MachineStore store;
  require_directory(store, "--share");
  auto entry = store.find(profiles::machine_key(with_gpu));
  if (!entry.machine && with_gpu) {
    entry = store.find(profiles::machine_key());
  }
  if (!entry.machine) {
    throw base::InputError("--share", entry.problem.empty()
                                          ? "this machine is not stored; measure it with gnomon machine"
                                          : entry.problem + "; measure this machine with gnomon machine");
  }
  base::write_output(file, [&](const auto& path) { base::write_document(path, *entry.machine); });
  std::cout << "written to " << file << "\n";
}

}  // namespace gnomon::apps
