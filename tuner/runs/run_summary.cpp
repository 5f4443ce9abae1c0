#include "tuner/runs/run_summary.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/median.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;
using base::Json;

bool is_run(const fs::path& directory) {
  return fs::exists(directory / "job.json") && fs::exists(directory / "plan.json");
}

/// "cora-2" comes before "cora-10".
std::pair<std::string, long> natural_key(const fs::path& path) {
  const auto name = path.filename().string();
  const auto digits = name.find_last_not_of("0123456789") + 1;
  const auto number = name.substr(digits, 9);
  return {name.substr(0, digits), number.empty() ? -1 : std::stol(number)};
}

std::vector<fs::path> runs_in(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    throw base::InputError(directory.string(), "is not a directory; name runs, or a directory of runs");
  }
  if (is_run(directory)) {
    return {directory};
  }
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_directory() && is_run(entry.path())) {
      runs.push_back(entry.path());
    }
  }
  if (runs.empty()) {
    throw base::InputError(directory.string(), "holds no run of gnomon train");
  }
  std::sort(runs.begin(), runs.end(),
            [](const fs::path& a, const fs::path& b) { return natural_key(a) < natural_key(b); });
  return runs;
}

std::optional<double> number_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

NamedMetrics metrics_in(const Json& json, const char* field, const char* accuracy_field) {
  NamedMetrics metrics;
  if (const auto found = json.find(field); found != json.end() && found->is_object()) {
    for (const auto& [name, value] : found->items()) {
      metrics.emplace_back(name, value.is_number() ? std::optional(value.get<double>()) : std::nullopt);
    }
  } else {  // written by a version that only supported accuracy
    metrics.emplace_back("accuracy", number_in(json, accuracy_field));
  }
  return metrics;
}

/// The lines of log.jsonl up to the first that a killed run left incomplete.
std::vector<Json> log_lines(const fs::path& path) {
  std::vector<Json> lines;
  if (fs::exists(path)) {
    std::istringstream text(base::read_file(path));
    for (std::string line; std::getline(text, line);) {
      auto json = Json::parse(line, nullptr, false);
      if (!json.is_object()) {
        break;
      }
      lines.push_back(std::move(json));
    }
  }
  return lines;
}

std::optional<double> median_seconds(const std::vector<Json>& lines) {
  std::vector<double> seconds;
  for (const auto& line : lines) {
    if (const auto value = number_in(line, "seconds")) {
      seconds.push_back(*value);
    }
  }
  if (seconds.empty()) {
    return std::nullopt;
  }
  return base::median(std::move(seconds));
}

void add_report(const Json& report, RunSummary& run) {
  run.has_ended = true;
  run.data = report.value("data", "");
  run.valid = metrics_in(report, "valid_metrics", "valid_accuracy");
  run.test = metrics_in(report, "test_metrics", "test_accuracy");
  if (const auto epoch = number_in(report, "best_epoch")) {
    run.best_epoch = static_cast<std::int64_t>(*epoch);
  }
}

void fill(RunSummary& run) {
  const auto& directory = run.directory;
  run.job = base::read_document<plan::Job>(directory / "job.json");
  const auto plan_file = (directory / "plan.json").string();
  run.plan = base::parse_json(base::read_file(plan_file), plan_file).value("name", "");
  const auto lines = log_lines(directory / "log.jsonl");
  run.epochs = std::ssize(lines);
  run.epoch_s = median_seconds(lines);
  if (!lines.empty()) {
    run.loss = number_in(lines.back(), "loss");
    run.valid = metrics_in(lines.back(), "valid_metrics", "valid_accuracy");
  }
  const auto report = directory / "report.json";
  if (fs::exists(report)) {
    add_report(base::parse_json(base::read_file(report), report.string()), run);
  }
}

RunSummary summary_of(const fs::path& directory) {
  RunSummary run;
  run.directory = directory;
  try {
    fill(run);
  } catch (const base::InputError& error) {
    run.problem = error.what();
  } catch (const Json::exception& error) {
    run.problem = directory.string() + ": " + error.what();
  }
  return run;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const NamedMetrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) {
    json[name] = or_null(value);
  }
  return json;
}

Json to_json(const RunSummary& run) {
  if (!run.problem.empty()) {
    return {{"run", run.directory.string()}, {"problem", run.problem}};
  }
  return {{"run", run.directory.string()},
          {"data", run.data},
          {"plan", run.plan},
          {"job", base::write_value(run.job)},
          {"epochs", run.epochs},
          {"has_ended", run.has_ended},
          {"epoch_s", or_null(run.epoch_s)},
          {"loss", or_null(run.loss)},
          {"best_epoch", or_null(run.best_epoch)},
          {"valid_metrics", to_json(run.valid)},
          {"test_metrics", to_json(run.test)}};
}

}  // namespace

std::vector<RunSummary> summarise_runs(const std::vector<fs::path>& directories) {
  std::vector<RunSummary> runs;
  for (const auto& directory : directories) {
    for (const auto& run : runs_in(directory)) {
      runs.push_back(summary_of(run));
    }
  }
  return runs;
}

base::Json to_document(const std::vector<RunSummary>& runs) {
  Json rows = Json::array();
  for (const auto& run : runs) {
    rows.push_back(to_json(run));
  }
  return {{"schema", "gnomon.runs/1"}, {"runs", rows}};
}

}  // namespace gnomon::tuner
