#include "profiles/catalog.h"

#include <iostream>
#include <memory>

#include "apps/commands/commands.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"
#include "reproduce/paper_profiles.h"

namespace gnomon::apps {
namespace {

struct CatalogFlags {
  std::string name;
  bool json = false;
};

std::string bytes_text(const std::optional<double>& bytes) { return bytes ? format_bytes(*bytes) : "-"; }

std::string rate_text(const std::optional<double>& bytes_per_s) {
  return bytes_per_s ? format_bytes(*bytes_per_s) + "/s" : "-";
}

std::string catalog_text() {
  Table table(
      {"machine", "cores", "memory", "devices", "device", "its memory", "its bandwidth", "link", "$/hour"});
  table.may_omit({"its bandwidth", "link"});
  for (const auto& entry : profiles::catalog()) {
    const auto& machine = entry.machine;
    table.add_row({entry.name, std::to_string(machine.cpu.cores), bytes_text(machine.cpu.memory_bytes),
                   std::to_string(machine.device.count), machine.device.name,
                   bytes_text(machine.device.memory_bytes),
                   rate_text(machine.device.memory_bandwidth_bytes_per_s),
                   rate_text(machine.link.bandwidth_bytes_per_s),
                   machine.running.price_per_hour ? format_number(*machine.running.price_per_hour) : "-"});
  }
  std::string text = table.text() + "\nprofiles from papers' numbers:\n";
  for (const auto& name : reproduce::profile_names()) {
    text += "  " + name + "\n";
  }
  return text;
}

base::Json catalog_document() {
  base::Json machines = base::Json::array();
  for (const auto& entry : profiles::catalog()) {
    machines.push_back(base::to_document(entry));
  }
  return {{"schema", "gnomon.catalog/1"}, {"machines", machines}, {"profiles", reproduce::profile_names()}};
}

/// A name with a slash is a profile's.
base::Json entry_document(const std::string& name) {
  return name.find('/') == std::string::npos ? base::to_document(profiles::find_machine(name, "NAME"))
                                             : base::to_document(reproduce::find_profile(name));
}

void print_catalog(const CatalogFlags& options) {
  if (!options.name.empty()) {
    print_json(entry_document(options.name));
  } else if (options.json) {
    print_json(catalog_document());
  } else {
    std::cout << catalog_text();
  }
}

}  // namespace

Action add_catalog(CLI::App& app) {
  auto options = std::make_shared<CatalogFlags>();
  app.add_option("NAME", options->name, "Machine or profile to print, with its sources");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { print_catalog(*options); };
}

}  // namespace gnomon::apps
