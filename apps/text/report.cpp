#include "apps/text/report.h"

#include <algorithm>

#include "apps/text/page.h"
#include "apps/text/report_page.h"

namespace gnomon::apps {
namespace {

/// Maximum number of stages in a timeline.
constexpr std::size_t max_spans = 150;

std::string lane_of(const schedule::StageSpan& span) {
  using schedule::Stage;
  const auto device = span.device == 0 ? std::string() : " " + std::to_string(span.device);
  switch (span.stage) {
    case Stage::cpu_batch:
    case Stage::group_prepare:
      return "worker " + std::to_string(span.worker);
    case Stage::transfer:
    case Stage::group_transfer:
      return "copies" + device;
    case Stage::group_read:
      return "disk";
    case Stage::all_reduce:
      return "gradients";
    default:
      return "device" + device;
  }
}

base::Json timeline_of(const tuner::ExplorationRow& row) {
  auto spans = row.prediction->timeline;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.begin_s < b.begin_s; });
  spans.resize(std::min(spans.size(), max_spans));
  base::Json json = {{"name", name_of(row)}, {"spans", base::Json::array()}};
  for (const auto& span : spans) {
    json["spans"].push_back({{"stage", std::string(schedule::name_of(span.stage))},
                             {"batch", span.batch},
                             {"lane", lane_of(span)},
                             {"begin_s", span.begin_s},
                             {"end_s", span.end_s}});
  }
  return json;
}

}  // namespace

void write_report(const std::filesystem::path& path, const std::vector<tuner::ExplorationRow>& rows) {
  base::Json data = {
      {"columns", base::Json::array()}, {"rows", base::Json::array()}, {"timelines", base::Json::array()}};
  for (const auto* row : tuner::by_epoch(rows)) {
    data["rows"].push_back(tuner::flat_row(*row));
  }
  for (const auto& setting : rows.front().settings) {
    data["columns"].push_back(setting.path);
  }
  for (const auto& row : rows) {
    if (row.prediction && !row.prediction->timeline.empty()) {
      data["timelines"].push_back(timeline_of(row));
    }
  }
  write_page(path, {"gnomon explore", report_body, report_script}, data);
}

}  // namespace gnomon::apps
