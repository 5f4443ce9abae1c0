#include "reproduce/report.h"

#include <algorithm>

namespace gnomon::reproduce {
namespace {

using base::Json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const Row& row) {
  return {{"table", row.table},
          {"machine", row.machine},
          {"cell", row.cell},
          {"unit", row.unit},
          {"printed", or_null(row.printed)},
          {"predicted", row.predicted},
          {"error", or_null(row.error())},
          {"error_is", row.measure == Measure::relative ? "relative" : "absolute"}};
}

Json tables_json(const Report& report) {
  Json tables = Json::array();
  for (const auto& table : report.tables()) {
    const auto rows = std::count_if(report.rows.begin(), report.rows.end(),
                                    [&](const Row& row) { return row.table == table; });
    tables.push_back({{"table", table},
                      {"rows", rows},
                      {"mean_absolute_error", or_null(report.mean_absolute_error(table))}});
  }
  return tables;
}

}  // namespace

std::optional<double> Row::error() const {
  if (!printed || (measure == Measure::relative && *printed == 0)) {
    return std::nullopt;
  }
  return measure == Measure::relative ? predicted / *printed - 1 : predicted - *printed;
}

std::optional<double> Report::mean_absolute_error(const std::string& table) const {
  double sum = 0;
  int count = 0;
  for (const Row& row : rows) {
    const auto error = row.error();
    if (row.table == table && error) {
      sum += std::abs(*error);
      ++count;
    }
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::vector<std::string> Report::tables() const {
  std::vector<std::string> all;
  for (const Row& row : rows) {
    if (std::find(all.begin(), all.end(), row.table) == all.end()) {
      all.push_back(row.table);
    }
  }
  return all;
}

Json to_json(const Report& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows) {
    rows.push_back(row_json(row));
  }
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"what", finding.what},
                        {"asked", finding.asked},
                        {"value", finding.value},
                        {"unit", finding.unit},
                        {"holds", finding.holds}});
  }
  Json left_out = Json::array();
  for (const Unpredicted& unpredicted : report.not_predicted) {
    left_out.push_back(
        {{"table", unpredicted.table}, {"cells", unpredicted.cells}, {"reason", unpredicted.reason}});
  }
  return {{"schema", "gnomon.reproduction/1"},
          {"paper", report.paper},
          {"source", report.source},
          {"rows", rows},
          {"mean_absolute_error", or_null(report.mean_absolute_error(report.main_table))},
          {"mean_absolute_error_of", report.main_table},
          {"tables", tables_json(report)},
          {"findings", findings},
          {"not_predicted", left_out}};
}

}  // namespace gnomon::reproduce
