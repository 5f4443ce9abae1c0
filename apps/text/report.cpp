#include "apps/text/report.h"

#include "apps/text/page.h"
#include "serve/page_files.h"

namespace gnomon::apps {
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
      data["timelines"].push_back(tuner::timeline_document(row));
    }
  }
  write_page(path, {"gnomon explore", serve::page_file("report.html"), serve::page_file("report.js")}, data);
}

}  // namespace gnomon::apps
