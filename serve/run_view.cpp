#include "serve/run_view.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "reproduce/paper_profiles.h"
#include "sim/predict.h"

namespace gnomon::serve {
namespace {

namespace fs = std::filesystem;
using base::Json;

bool is_run(const fs::path& directory) {
  return fs::exists(directory / "job.json") && fs::exists(directory / "plan.json");
}

fs::file_time_type last_write(const fs::path& run) {
  std::error_code none;
  const auto log = run / "log.jsonl";
  return fs::last_write_time(fs::exists(log) ? log : run, none);
}

/// The complete lines: the last one may be in the writing.
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

Json predicted(const fs::path& run, const std::string& profile, const plan::Plan& plan) {
  const auto own = run / "profile.json";
  const auto used = reproduce::find_profile(fs::exists(own) ? own.string() : profile);
  auto document = base::write_value(sim::predict_quickly(used, plan), base::Absent::as_null);
  document["profile"] = fs::exists(own) ? "profile.json of the run" : profile;
  return document;
}

}  // namespace

std::vector<std::string> run_names(const fs::path& runs) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(runs, none)) {
    if (entry.is_directory() && is_run(entry.path())) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return last_write(a) > last_write(b); });
  std::vector<std::string> names;
  for (const auto& run : found) {
    names.push_back(run.filename().string());
  }
  return names;
}

Json run_document(const fs::path& runs, const std::string& name, const std::string& profile) {
  const auto names = run_names(runs);
  if (std::ranges::find(names, name) == names.end()) {
    throw base::InputError("run", "\"" + name + "\" is not one of the runs");
  }
  const auto directory = runs / name;
  const auto plan = plan::read_plan(directory / "plan.json");
  Json document = {{"run", name},
                   {"plan", plan.name},
                   {"has_ended", fs::exists(directory / "report.json")},
                   {"epochs", epochs_in(directory / "log.jsonl")},
                   {"predicted", nullptr},
                   {"why_not", ""}};
  try {
    document["predicted"] = predicted(directory, profile, plan);
  } catch (const base::InputError& error) {
    document["why_not"] = error.what();
  }
  return document;
}

}  // namespace gnomon::serve
