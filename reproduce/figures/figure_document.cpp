#include "reproduce/figures/figure_document.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "reproduce/figure_files.h"

namespace gnomon::reproduce {
namespace {

using base::InputError;

void check_panel(const PanelSource& panel, const std::string& where) {
  const int sources = (panel.profiles.empty() ? 0 : 1) + (panel.table.empty() ? 0 : 1) +
                      (panel.draw.empty() ? 0 : 1) + (panel.measure.empty() ? 0 : 1) +
                      (panel.from.empty() ? 0 : 1);
  if (sources != 1) {
    throw InputError(where, "needs one of profiles, table, draw, measure and from");
  }
  if (panel.from.empty() != (panel.derived == Derived::none)) {
    throw InputError(where + ".derived", "belongs to from, and from to it");
  }
  const bool has_base = panel.derived == Derived::lost || panel.derived == Derived::mean_ratio;
  if (has_base == panel.base.empty()) {
    throw InputError(where + ".base", "belongs to lost and mean_ratio, and they to it");
  }
  if (panel.profiles.size() > 1 && (!panel.x.empty() || panel.view != View::values)) {
    throw InputError(where + ".profiles", "must be one where the panel has an x of its own");
  }
  if (panel.profiles.empty() != panel.series.empty() && panel.measure.empty()) {
    throw InputError(where + ".series", "belong to profiles, and profiles to series");
  }
}

void check_measured_on(const FigureSource& figure, const std::string& where) {
  const bool is_measured = std::any_of(figure.panels.begin(), figure.panels.end(),
                                       [](const PanelSource& panel) { return !panel.measure.empty(); });
  if (is_measured != figure.measured_on.has_value()) {
    throw InputError(where + ".measured_on", "belongs to panels that are measured, and they to it");
  }
  if (is_measured && figure.measured_on->planted.has_value() == figure.measured_on->rmat.has_value()) {
    throw InputError(where + ".measured_on", "needs one of planted and rmat");
  }
  if (is_measured) {
    plan::check(figure.measured_on->job, where + ".measured_on.job");
  }
}

void check_claim(const ClaimSource& claim, const std::string& where) {
  if (!claim.why_not.empty()) {
    return;
  }
  if (!claim.of) {
    throw InputError(where + ".of", "is missing; a claim that is not computed needs why_not");
  }
  const bool compares = claim.quantity == Quantity::difference || claim.quantity == Quantity::crossing;
  if (compares && !claim.over) {
    throw InputError(where + ".over", "is missing");
  }
  const bool has_size = claim.printed && !claim.limit;
  if (!claim.above && !claim.below && !has_size) {
    throw InputError(where, "needs above, below or a printed size, or it could not fail");
  }
  if ((claim.printed_to || claim.limit) && !claim.printed) {
    throw InputError(where + ".printed", "is missing");
  }
}

}  // namespace

const FigureSource& FiguresDocument::figure(std::string_view id) const {
  std::string known;
  for (const auto& one : figures) {
    if (one.id == id) {
      return one;
    }
    known += (known.empty() ? "" : ", ") + one.id;
  }
  throw InputError("FIGURE",
                   "\"" + std::string(id) + "\" is not in " + paper + "; use all or some of " + known);
}

void check(const FiguresDocument& document, const std::string& where) {
  std::set<std::string> ids;
  for (const auto& figure : document.figures) {
    const std::string here = where + ": " + figure.id;
    if (!ids.insert(figure.id).second) {
      throw InputError(here, "is there twice");
    }
    const bool drawn = figure.verdict != Verdict::not_drawn;
    if (figure.why.empty() != drawn || figure.given.empty() == drawn || figure.panels.empty() == drawn) {
      throw InputError(here, "needs given and panels or, if it is not drawn, why");
    }
    check_measured_on(figure, here);
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
      check_panel(figure.panels[i], here + ".panels[" + std::to_string(i) + "]");
    }
    for (std::size_t i = 0; i < figure.claims.size(); ++i) {
      check_claim(figure.claims[i], here + ".claims[" + std::to_string(i) + "]");
    }
  }
}

FiguresDocument find_figures(std::string_view paper) {
  const std::string wanted = std::string(paper) + ".json";
  for (const auto& [file, text] : figure_files()) {
    if (file == wanted) {
      const std::string where = "figures of " + std::string(paper);
      auto document = base::from_document<FiguresDocument>(base::parse_json(text, where), where);
      check(document, where);
      return document;
    }
  }
  throw InputError("PAPER", "\"" + std::string(paper) + "\" has no list of figures");
}

}  // namespace gnomon::reproduce
