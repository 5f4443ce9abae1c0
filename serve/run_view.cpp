#include "serve/run_view.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "reproduce/paper_profiles.h"
#include "schedule/timeline.h"
#include "sim/predict.h"

namespace gnomon::serve {
namespace {

namespace fs = std::filesystem;
using base::Json;

fs::file_time_type last_write(const fs::path& run) {
  std::error_code none;
  const auto log = run / "log.jsonl";
  return fs::last_write_time(fs::exists(log) ? log : run, none);
}

/// The complete lines: the last one may still be written.
Json epochs_in(const fs::path& log) {
  Json epochs = Json::array();
  if (fs::exists(log)) {
    std::istringstream text(base::read_file(log));
    for (std::string line; std::getline(text, line);) {
      auto json = Json::parse(line, nullptr, false);
      if (!json.is_object()) {
        break;
      }
      epochs.push_back(std::move(json));
    }
  }
  return epochs;
}

/// The directory of one of the runs.
fs::path directory_of(const Runs& runs, const std::string& name) {
  const auto names = run_names(runs);
  if (std::ranges::find(names, name) == names.end()) {
    throw base::InputError("run", "\"" + name + "\" is not one of the runs");
  }
  const bool is_single = std::ranges::find(runs.single, name) != runs.single.end();
  return is_single ? fs::path(name) : runs.directory / fs::path(name);
}

}  // namespace

bool is_run(const fs::path& directory) {
  std::error_code none;
  return fs::exists(directory / "job.json", none) && fs::exists(directory / "plan.json", none);
}

std::vector<std::string> run_names(const Runs& runs) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;  // times change while trainings write
  std::error_code none;
  const auto entries =
      runs.directory.empty() ? fs::directory_iterator() : fs::directory_iterator(runs.directory, none);
  for (const auto& entry : entries) {
    if (entry.is_directory() && is_run(entry.path())) {
      found.emplace_back(last_write(entry.path()), entry.path().filename().string());
    }
  }
  std::ranges::sort(found, std::greater<>());
  auto names = runs.single;
  for (auto& [time, name] : found) {
    names.push_back(std::move(name));
  }
  return names;
}

Json run_document(const Runs& runs, const std::string& name) {
  const auto directory = directory_of(runs, name);
  const auto plan = plan::read_plan(directory / "plan.json");
  return {{"run", name},
          {"plan", plan.name},
          {"workers", plan.workers},
          {"devices", plan.devices},
          {"has_ended", fs::exists(directory / "report.json")},
          {"epochs", epochs_in(directory / "log.jsonl")}};
}

Json predicted_run(const Runs& runs, const std::string& name, const std::string& profile) {
  const auto directory = directory_of(runs, name);
  const auto own = directory / "profile.json";
  const bool has_own = fs::exists(own);
  sim::Simulator simulator;
  const auto prediction = sim::predict(simulator, reproduce::find_profile(has_own ? own.string() : profile),
                                       plan::read_plan(directory / "plan.json"), true);
  auto document = base::write_value(prediction, base::Absent::as_null);
  document["stages"] = schedule::stages_document(prediction.timeline);
  document["profile"] = has_own ? "profile.json of the run" : profile;
  return document;
}

}  // namespace gnomon::serve
