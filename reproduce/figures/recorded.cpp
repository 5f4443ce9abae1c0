#include "reproduce/figures/recorded.h"

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"

namespace gnomon::reproduce {
namespace {

using base::InputError;
using base::Json;

/// The member of that name, or null: of what is no object, too.
Json member(const Json& json, std::string_view name) {
  const bool has = json.is_object() && json.contains(name);
  return has ? json.at(std::string(name)) : Json(nullptr);
}

std::string text_in(const Json& json, std::string_view name) {
  const auto text = member(json, name);
  return text.is_string() ? text.get<std::string>() : "";
}

/// The array of the paper's figures.
Json figures_in(const Json& document, std::string_view paper, const std::string& where) {
  const auto schema = text_in(document, "schema");
  if (schema == "gnomon.measured_figures/1") {
    return member(member(document, "papers"), paper);
  }
  if (schema != "gnomon.drawn_figures/1") {
    throw InputError(where,
                     "is no record of figures; gnomon reproduce PAPER FIGURE --measure --json writes one");
  }
  if (text_in(document, "paper") != paper) {
    throw InputError(where,
                     "has figures of " + text_in(document, "paper") + ", not of " + std::string(paper));
  }
  return member(document, "figures");
}

}  // namespace

RecordedCharts::RecordedCharts(const std::filesystem::path& path, std::string_view paper) {
  const auto where = path.string();
  const auto document = base::parse_json(base::read_file(path), where);
  for (const auto& figure : figures_in(document, paper, where)) {
    const auto id = text_in(figure, "id");
    for (const auto& recorded : member(figure, "charts")) {
      Chart chart;
      base::read_value(recorded, chart, where + ": " + id, {});
      std::erase_if(chart.series, [](const ChartSeries& series) { return series.printed; });
      charts_.insert_or_assign({id, chart.title}, std::move(chart));
    }
  }
}

std::optional<Chart> RecordedCharts::find(const std::string& figure, const std::string& panel) const {
  const auto found = charts_.find({figure, panel});
  return found == charts_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace gnomon::reproduce
