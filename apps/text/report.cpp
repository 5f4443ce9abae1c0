#include "apps/text/report.h"

#include <algorithm>

#include "apps/text/page.h"
#include "apps/text/report_page.h"
#include "schedule/lane.h"

namespace gnomon::apps {
namespace {

/// Maximum number of stages in a timeline.
constexpr std::size_t max_spans = 150;

base::Json timeline_of(const tuner::ExplorationRow& row) {
  auto spans = row.prediction->timeline;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.begin_s < b.begin_s; });
  spans.resize(std::min(spans.size(), max_spans));
  base::Json json = {{"name", name_of(row)}, {"spans", base::Json::array()}};
  for (const auto& span : spans) {
    json["spans"].push_back({{"stage", std::string(schedule::name_of(span.stage))},
                             {"batch", span.batch},
                             {"lane", schedule::lane_of(span)},
                             {"begin_s", span.begin_s},
                             {"end_s", span.end_s}});
  }
  return json;
}

}  // namespace

void write_report(const std::filesystem::path& path, const std::vector<tuner::ExplorationRow>& rows,
                  tuner::RowOrder order) {
  base::Json data = {
      {"columns", base::Json::array()}, {"rows", base::Json::array()}, {"timelines", base::Json::array()}};
  for (const auto* row : tuner::sorted(rows, order)) {
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
