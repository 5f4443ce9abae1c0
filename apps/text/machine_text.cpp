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

}  // namespace

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
