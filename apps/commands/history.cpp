#include "tuner/history/history.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <set>

#include "apps/commands/commands.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"
#include "base/error.h"
#include "tuner/history/lessons.h"

namespace gnomon::apps {
namespace {

struct HistoryFlags {
  bool forget = false;
  bool json = false;
};

/// What the runs on one kind of device teach of graphs without runs.
struct DeviceLessons {
  plan::DeviceKind device = plan::DeviceKind::host;
  std::int64_t runs = 0;
  std::int64_t graphs = 0;
  std::vector<tuner::StageLesson> stages{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("device", self.device);
    f.required("runs", self.runs);
    f.required("graphs", self.graphs);
    f.required("stages", self.stages);
  }
};

struct HistoryDocument {
  static constexpr std::string_view schema = "gnomon.history/1";
  std::string directory;
  std::vector<DeviceLessons> devices;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("directory", self.directory);
    f.required("devices", self.devices);
  }
};

std::vector<DeviceLessons> lessons_by_device(const std::vector<tuner::Outcomes>& history) {
  const auto machine = profiles::machine_key();
  std::vector<DeviceLessons> devices;
  for (const auto& [kind, name] : base::EnumNames<plan::DeviceKind>::values) {
    DeviceLessons of_device{.device = kind};
    std::set<std::string> graphs;
    for (const auto& outcomes : history) {
      if (outcomes.device == kind && is_same_machine(outcomes.machine, machine, true)) {
        ++of_device.runs;
        graphs.insert(outcomes.graph);
      }
    }
    of_device.graphs = std::ssize(graphs);
    of_device.stages = tuner::lessons_of(history, machine, kind);
    if (of_device.runs > 0) {
      devices.push_back(std::move(of_device));
    }
  }
  return devices;
}

std::string text_of(const DeviceLessons& lessons) {
  std::string text =
      fmt::format("{} on {} with device {}\n", format_counted(lessons.runs, "run", "runs"),
                  format_counted(lessons.graphs, "graph", "graphs"), base::name_of(lessons.device));
  if (lessons.graphs < tuner::min_lessons) {
    return text + fmt::format("corrections are judged from {} graphs on\n", tuner::min_lessons);
  }
  Table table({"stage", "times", "error", "corrected", "used"});
  for (const auto& stage : lessons.stages) {
    table.add_row({stage.stage, std::to_string(stage.rows), format_percent(stage.error_before),
                   format_percent(stage.error_after), stage.helps ? "yes" : "no"});
  }
  return text + table.text();
}

void print_history(const HistoryFlags& flags) {
  const tuner::History history;
  if (history.directory().empty()) {
    throw base::InputError("history", history.why_none());
  }
  if (flags.forget) {
    std::cout << "removed " << format_counted(history.forget(), "run", "runs") << " from "
              << history.directory().string() << "\n";
    return;
  }
  const auto devices = lessons_by_device(history.read());
  if (flags.json) {
    print_json(base::to_document(HistoryDocument{history.directory().string(), devices}));
    return;
  }
  std::cout << (devices.empty() ? "no run on this machine is in " : "") << history.directory().string()
            << "\n";
  for (const auto& of_device : devices) {
    std::cout << "\n" << text_of(of_device);
  }
}

}  // namespace

Action add_history(CLI::App& app) {
  auto options = std::make_shared<HistoryFlags>();
  app.add_flag("--forget", options->forget, "Remove the recorded stage times of all runs");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { print_history(*options); };
}

}  // namespace gnomon::apps
