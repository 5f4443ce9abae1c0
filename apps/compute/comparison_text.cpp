#include "apps/compute/comparison_text.h"

#include <fmt/format.h>

#include <map>

#include "apps/compute/comparison_page.h"
#include "apps/text/format.h"
#include "apps/text/page.h"
#include "apps/text/table.h"
#include "plan/exactness.h"

namespace gnomon::apps {
namespace {

std::string percent_or_none(const std::optional<double>& share) {
  return share ? format_percent(*share) : "-";
}

std::vector<std::string> cells_of(const tuner::ComparedPreset& compared) {
  const auto& epochs = compared.epochs;
  return {compared.preset,
          std::string(base::name_of(plan::exactness_of(epochs.plan))),
          format_with_interval(epochs.predicted_s, epochs.predicted_interval_s),
          format_seconds(epochs.median_s),
          format_change(epochs.error()),
          format_percent(compared.over_best),
          format_bytes_or_none(epochs.measured_bytes),
          format_bytes_or_none(epochs.measured_device_bytes),
          percent_or_none(compared.cache.row_hit_share()),
          percent_or_none(compared.cache.list_hit_share()),
          percent_or_none(compared.cache.row_peer_share()),
          percent_or_none(compared.cache.list_peer_share()),
          format_percent(compared.test_accuracy)};
}

/// "gas, ginex: simulated only: …", once for each reason.
std::string reasons_text(const tuner::Comparison& comparison) {
  std::map<std::string, std::string> presets;
  for (const auto& [preset, why] : comparison.left_out) {
    auto& list = presets[why];
    list += (list.empty() ? "" : ", ") + preset;
  }
  std::string text;
  for (const auto& [why, list] : presets) {
    text += list + ": " + why + "\n";
  }
  return text;
}

}  // namespace

std::string comparison_text(const tuner::Comparison& comparison) {
  Table table({"preset", "exact", "predicted", "measured", "error", "over best", "peak memory",
               "device memory", "row hits", "list hits", "rows by peers", "lists by peers", "accuracy"});
  table.may_omit({"exact", "device memory", "list hits", "lists by peers", "rows by peers"});
  for (const auto& compared : comparison.presets) {
    table.add_row(cells_of(compared));
  }
  if (!comparison.left_out.empty()) {
    table.add_rule();
  }
  for (const auto& left_out : comparison.left_out) {
    std::vector<std::string> cells(13, "-");
    cells.front() = left_out.preset;
    table.add_row(std::move(cells));
  }
  return table.text() +
         fmt::format("accuracy on the test vertices after {} of training; epochs are medians\n",
                     format_counted(comparison.trained_epochs, "epoch", "epochs")) +
         reasons_text(comparison);
}

void write_comparison(const std::filesystem::path& path, const tuner::Comparison& comparison) {
  write_page(path, {"gnomon compare", comparison_body, comparison_script},
             {{"rows", tuner::flat_rows(comparison)},
              {"device", std::string(base::name_of(comparison.device))},
              {"trained_epochs", comparison.trained_epochs}});
}

}  // namespace gnomon::apps
