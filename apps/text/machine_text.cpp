#include "apps/text/machine_text.h"

#include <algorithm>

#include "apps/text/format.h"
#include "apps/text/table.h"

namespace gnomon::apps {
namespace {

using profiles::Speed;
using profiles::Work;

/// 12.3e9 as "12.3 G".
std::string scaled_text(double value) {
  constexpr std::array<const char*, 5> prefixes{"", "k", "M", "G", "T"};
  std::size_t i = 0;
  for (; value >= 1000 && i + 1 < prefixes.size(); ++i) {
    value /= 1000;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", value, prefixes[i]);
  return text;
}

bool is_of_bytes(Work work) {
  return work == Work::random_lines || work == Work::page_rows || work == Work::huge_page_rows ||
         work == Work::copies || work == Work::disk_random || work == Work::link_copies ||
         work == Work::device_copies || work == Work::device_rows;
}

std::string size_text(const Speed& speed) {
  if (!speed.size) {
    return "-";
  }
  return is_of_bytes(speed.work) ? format_bytes(*speed.size)
                                 : format_count(static_cast<std::int64_t>(*speed.size));
}

/// "12 s", "3 min 05 s", "5 h", "12 days".
std::string age_text(double seconds) {
  constexpr double hour = 3600;
  constexpr double day = 24 * hour;
  if (seconds < 1) {
    return "less than a second";
  }
  if (seconds < hour) {
    return format_seconds(seconds);
  }
  const bool is_long = seconds >= 2 * day;
  return std::to_string(static_cast<std::int64_t>(seconds / (is_long ? day : hour))) +
         (is_long ? " days" : " h");
}

std::string entry_text(const profiles::StoreEntry& entry, bool is_here) {
  std::string text = is_here ? "this machine: " : "";
  if (!entry.machine) {
    return text + "ignored, " + entry.problem + "\n";
  }
  const auto& speeds = *entry.machine->speeds;
  return text + entry.machine->name + "\n  " + entry.file.string() + "\n  measured " + age_text(entry.age_s) +
         " ago in " + format_seconds(speeds.seconds) + ", " +
         format_counted(static_cast<std::int64_t>(speeds.speeds.size()), "rate", "rates") +
         "\n  key: " + text_of(*entry.machine->key) + "\n";
}

}  // namespace

bool is_of_this_machine(const profiles::StoreEntry& entry, const profiles::MachineKey& here) {
  return entry.machine ? is_same_machine(*entry.machine->key, here, /*any_gpu=*/true)
                       : entry.file.filename() == file_name(here);
}

std::string stored_machines_text(const profiles::MachineStore& store, const profiles::MachineKey& here) {
  if (store.directory().empty()) {
    return "no machine is stored: " + store.why_none() + "\n";
  }
  std::string own;
  std::string others;
  for (const auto& entry : store.list()) {
    const bool is_here = is_of_this_machine(entry, here);
    (is_here ? own : others) += entry_text(entry, is_here);
  }
  if (own.empty()) {
    own = "this machine is not stored: " + text_of(here) + "\n";
  }
  return own + others;
}

std::string machine_text(const profiles::CatalogMachine& machine) {
  const auto& cpu = machine.machine.cpu;
  std::string text = machine.name + ": " + cpu.name + ", " + format_counted(cpu.cores, "core", "cores") +
                     (cpu.memory_bytes ? ", " + format_bytes(*cpu.memory_bytes) : "") + "\n";
  if (!machine.speeds) {
    return text;
  }
  Table table({"work", "threads", "size", "rate", "spread", "+-", "samples"});
  std::int64_t open = 0;
  for (const Speed& speed : machine.speeds->speeds) {
    open += speed.converged ? 0 : 1;
    table.add_row({std::string(base::name_of(speed.work)), std::to_string(speed.threads), size_text(speed),
                   scaled_text(speed.per_s) + std::string(profiles::unit_of(speed.work)),
                   format_percent(speed.deviation), format_percent(speed.interval),
                   std::to_string(speed.samples)});
  }
  text += table.text();
  text += "measured in " + format_seconds(machine.speeds->seconds);
  if (open > 0) {
    text += "; " + std::to_string(open) + " of " + std::to_string(machine.speeds->speeds.size()) +
            " rates are less certain than +-" + format_percent(machine.speeds->asked_interval) +
            " (--time-limit)";
  }
  const auto busy = base::busy_text(machine.speeds->other_load);
  return text + "\n" + (busy.empty() ? "" : busy + "\n");
}

}  // namespace gnomon::apps
