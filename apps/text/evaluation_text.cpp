#include "apps/text/evaluation_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/text/format.h"
#include "apps/text/table.h"

namespace gnomon::apps {
namespace {

using runtime::Evaluation;
using runtime::SplitEvaluation;

std::array<std::pair<const char*, const SplitEvaluation*>, 3> splits_of(const Evaluation& evaluation) {
  return {{{"train", &evaluation.train}, {"valid", &evaluation.valid}, {"test", &evaluation.test}}};
}

std::string percent_or_dash(double share) { return std::isnan(share) ? "-" : format_percent(share); }

base::Json number_or_null(double value) { return std::isnan(value) ? base::Json() : base::Json(value); }

}  // namespace

std::string text_of(const Evaluation& evaluation) {
  std::vector<std::string> headings = {"split", "vertices"};
  for (const auto& [metric, value] : evaluation.test.metrics) {
    headings.emplace_back(base::name_of(metric));
  }
  headings.insert(headings.end(), {"loss", "majority class"});
  Table table(headings);
  for (const auto& [name, split] : splits_of(evaluation)) {
    if (split->vertices > 0) {
      std::vector<std::string> row = {name, format_count(split->vertices)};
      for (const auto& [metric, value] : split->metrics) {
        row.push_back(percent_or_dash(value));
      }
      row.push_back(std::isnan(split->loss) ? "-" : fmt::format("{:.4f}", split->loss));
      row.push_back(percent_or_dash(split->majority));
      table.add_row(row);
    }
  }
  return table.text();
}

base::Json to_document(const Evaluation& evaluation, const std::string& run, const std::string& data) {
  base::Json document{{"schema", "gnomon.evaluation/1"},
                      {"run", run},
                      {"data", data},
                      {"job", base::write_value(evaluation.job)},
                      {"best_epoch", evaluation.best_epoch + 1}};
  for (const auto& [name, split] : splits_of(evaluation)) {
    document[name] = {{"vertices", split->vertices},
                      {"loss", number_or_null(split->loss)},
                      {"majority", number_or_null(split->majority)},
                      {"metrics", runtime::to_json(split->metrics)}};
  }
  return document;
}

}  // namespace gnomon::apps
