#include <algorithm>

#include "reproduce/paper.h"
#include "reproduce/papers.h"

namespace gnomon::reproduce {
namespace {

/// Columns of the two feature widths that the table has.
constexpr double narrow = 128;
constexpr double wide = 256;

struct Setting {
  std::string dataset;
  std::string fanouts;
  std::string columns;

  std::string name() const { return dataset + "/" + fanouts + "+" + columns; }
};

std::optional<double> iteration_ms(const Paper& paper, const Setting& setting, const char* system) {
  return paper.find({{"dataset", setting.dataset},
                     {"fanouts", setting.fanouts},
                     {"feature_dim", setting.columns},
                     {"system", system}});
}

std::vector<Setting> settings_of(const Paper& paper) {
  std::vector<Setting> settings;
  for (const auto& dataset : paper.values("dataset", {})) {
    for (const auto& fanouts : paper.values("fanouts", {{"dataset", dataset}})) {
      for (const char* columns : {"128", "256"}) {
        settings.push_back({dataset, fanouts, columns});
      }
    }
  }
  return settings;
}

/// What DGL spends beside reading features: its line through both widths at width 0.
double without_features_ms(const Paper& paper, const Setting& setting) {
  const double at_narrow = iteration_ms(paper, {setting.dataset, setting.fanouts, "128"}, "DGL").value();
  const double at_wide = iteration_ms(paper, {setting.dataset, setting.fanouts, "256"}, "DGL").value();
  return std::max(0.0, at_narrow - narrow * (at_wide - at_narrow) / (wide - narrow));
}

/// The share of that which DUCATI saves on the other data sets.
double saved_share(const Paper& paper, const std::vector<Setting>& settings, const Setting& setting) {
  double sum = 0;
  int count = 0;
  for (const auto& other : settings) {
    const auto ducati = iteration_ms(paper, other, "DUCATI");
    if (other.dataset != setting.dataset && other.fanouts == setting.fanouts && ducati) {
      sum += (iteration_ms(paper, other, "SOTA").value() - *ducati) / without_features_ms(paper, other);
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

/// The order of the three in a row, and whether it is the printed one.
bool order_is_right(const Paper& paper, const Setting& setting, double predicted) {
  const double dgl = iteration_ms(paper, setting, "DGL").value();
  const double sota = iteration_ms(paper, setting, "SOTA").value();
  const double printed = iteration_ms(paper, setting, "DUCATI").value();
  return (sota > predicted) == (sota > printed) && (dgl > predicted) == (dgl > printed);
}

}  // namespace

Report reproduce_ducati(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("ducati");
  Report report{paper.name, paper.source, "tableVIII", {}, {}, {}};
  const auto settings = settings_of(paper);
  int right = 0;
  int printed_rows = 0;
  double gain = 0;
  for (const auto& setting : settings) {
    const double sota = iteration_ms(paper, setting, "SOTA").value();
    const double predicted =
        sota - saved_share(paper, settings, setting) * without_features_ms(paper, setting);
    const auto printed = iteration_ms(paper, setting, "DUCATI");
    report.rows.push_back({"tableVIII", "ducati_machine", setting.name() + " DUCATI", "ms", printed,
                           predicted, Measure::relative});
    gain += sota / predicted;
    if (printed) {
      ++printed_rows;
      right += order_is_right(paper, setting, predicted) ? 1 : 0;
    }
  }
  report.findings = {{"tableVIII: rows with DGL, SOTA and DUCATI in the printed order",
                      "90 % of " + std::to_string(printed_rows), static_cast<double>(right), "rows",
                      right * 10 >= printed_rows * 9},
                     {"tableVIII: mean speed-up over SOTA", "1.32 printed, within 10 %",
                      gain / static_cast<double>(settings.size()), "x",
                      std::abs(gain / static_cast<double>(settings.size()) / 1.32 - 1) <= 0.1}};
  report.not_predicted = {{"tableVIII", "DGL, SOTA", "inputs: the baselines' columns"},
                          {"tableVII", "all", "sizes of data sets, not times"}};
  return report;
}

}  // namespace gnomon::reproduce
