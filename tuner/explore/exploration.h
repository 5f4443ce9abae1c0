#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "plan/plan.h"
#include "profiles/catalog.h"
#include "profiles/more_cores.h"
#include "profiles/profile.h"
#include "schedule/timeline.h"
#include "sim/prediction.h"
#include "tuner/explore/patch.h"

namespace gnomon::tuner {

/// A profile to explore.
struct ExploredProfile {
  base::Json document;         ///< patched and parsed again for each combination
  std::string where;           ///< its file, for errors
  std::vector<Setting> names;  ///< columns that distinguish its rows from those of other profiles
  std::vector<profiles::StageScaling> scalings{};  ///< of a profile that was moved to another machine
  std::optional<plan::Cores> measured_on{};        ///< of such a profile: where its times were measured
  std::vector<plan::Plan> own_plans{};             ///< predicted on this profile only, before all others
  /// Of a profile that was moved by data sheets: the memory bandwidth of the measured machine.
  std::optional<double> measured_bandwidth_bytes_per_s{};
};

/// A request to predict every plan on every profile with every combination of the sweeps' values.
struct ExplorationRequest {
  std::vector<ExploredProfile> profiles;
  std::vector<plan::Plan> plans;
  std::vector<Sweep> sweeps;  ///< "plan.…" changes the plan, any other path the profile
  std::uint64_t seed = 0;
  std::optional<int> epochs{};  ///< of the whole training; absent: as many as the profile's job has
  bool with_timeline = false;
  bool with_explanation = false;
  int jobs = 0;  ///< processes; 0: one for each core
  /// Compute epochs by arithmetic (sim::predict_quickly), in this process: within 0.1 % of the simulated ones
  /// for batches without spread, and no timelines. Any thread may do it.
  bool quickly = false;
};

/// One plan with one combination of values: its prediction, or why it cannot run on that machine.
struct ExplorationRow {
  plan::Plan plan;
  std::vector<Setting> settings;  ///< the profile's names, then the sweeps' values
  std::optional<sim::Prediction> prediction;
  std::string why_not;
  std::vector<profiles::StageScaling> scalings{};  ///< of its profile
  sim::Shortage shortage = sim::Shortage::none;    ///< the memory in which the plan does not fit
  double missing_bytes = 0;
  /// Why the runtime does not execute the plan on the profile's kind of device; empty if it does.
  std::string why_not_run{};
  std::vector<std::string> extrapolations{};  ///< assumptions beyond the measurements
  /// The weakest of what the plan's epoch rests on, and why.
  profiles::RestsOn rests_on = profiles::RestsOn::measured;
  std::string rests_on_why{};
  std::vector<std::string> explanation{};  ///< from counts to the epoch, if it was requested
  std::optional<double> interval_s{};      ///< of the epoch (sim::epoch_interval_s)
  /// Of a profile that was moved by data sheets: the epoch that no schedule beats if all stages took only
  /// what the peaks of data sheets allow (profiles::at_data_sheet_bounds).
  std::optional<double> data_sheet_bound_s{};
  int epochs = 0;  ///< of the whole training

  bool runs_here() const { return why_not.empty() && why_not_run.empty(); }
  /// Relative excess of the epoch over its lower bound, 0.1 for 10 %. Precondition: there is a prediction.
  double over_bound() const;
  /// Time of all epochs, without evaluations. Precondition: there is a prediction.
  double training_s() const { return epochs * prediction->epoch_s; }
  /// The half width of the confidence interval of `value`, which is proportional to the epoch: a time or a
  /// price of one or all epochs. The errors of all epochs are those of the stages' mean times, so that they
  /// do not average out. Precondition: there is a prediction.
  std::optional<double> times_interval(double value) const {
    return interval_s ? std::optional(value * *interval_s / prediction->epoch_s) : std::nullopt;
  }
  /// Absent if the machine has no price.
  std::optional<double> training_price() const {
    const auto& price = prediction->consumption.price;
    return price ? std::optional(epochs * *price) : std::nullopt;
  }
};

/// Predicts all rows, profile by profile and combination by combination. The result does not depend on the
/// number of processes. What `progress` throws ends the exploration (base::stoppable). Throws InputError if a
/// path or value is wrong, or if no row is possible.
std::vector<ExplorationRow> explore(const ExplorationRequest& request, const base::Progress& progress);

/// Applies the settings of profile fields, ignoring those of plan fields. Throws InputError, also for fields
/// from which measured times do not follow (check_may_be_set). Speed-ups reach all cores of the machine
/// (profiles::extended).
profiles::Profile changed_profile(const ExploredProfile& explored, const std::vector<Setting>& settings);

/// The plans of a list: preset names and plan files separated by commas, or "all". Throws InputError.
std::vector<plan::Plan> plans_of(const std::string& list);

/// The sort key of rows.
enum class RowOrder { epoch, price };

/// The rows in display order: first those that run here, then those that can only be simulated, each sorted
/// by epoch time or by price per epoch, and last those that are not possible. Rows without a price come after
/// those with one.
std::vector<const ExplorationRow*> sorted(const std::vector<ExplorationRow>& rows, RowOrder order);

/// One row as a flat object.
base::Json flat_row(const ExplorationRow& row);

/// The rows as flat objects with one column for each swept field, for CSV and JSON, in the order of
/// the request. "interval_s" is the half width of the epoch's 95 % confidence interval, and so are
/// "price_interval", "training_interval_s" and "training_price_interval"; "moved_by" is what a moved
/// profile's times are based on (profiles::MovedBy), "runs_here" is false for plans that can only be
/// simulated ("why_not_run"), "exact" is the plan's plan::Exactness, "rests_on" the weakest of what the epoch
/// rests on (profiles::RestsOn) and "rests_on_why" the reason, "extrapolated" lists assumptions beyond the
/// measurements, "scaled" how the stages of a moved profile were scaled, and "short_of" and
/// "missing_bytes" why a plan that does not fit has no epoch.
std::vector<base::Json> flat_rows(const std::vector<ExplorationRow>& rows);

/// The prediction's assumptions beyond the measurements, separated by "; ".
std::string extrapolations_text(const ExplorationRow& row);

/// The plan's name and settings, as in "gnomon machine.cpu.cores=8".
std::string name_of(const ExplorationRow& row);

/// Maximum number of stages in a timeline's document.
inline constexpr std::size_t max_spans = 150;

/// The row's name and the start of its timeline, for charts. Precondition: there is a prediction.
base::Json timeline_document(const ExplorationRow& row);

/// The rows' timelines, named by plan and settings.
std::vector<schedule::NamedTimeline> timelines_of(std::vector<ExplorationRow> rows);

}  // namespace gnomon::tuner

namespace gnomon::base {
template <>
struct EnumNames<tuner::RowOrder> {
  static constexpr std::array<std::pair<tuner::RowOrder, std::string_view>, 2> values{
      {{tuner::RowOrder::epoch, "epoch"}, {tuner::RowOrder::price, "price"}}};
};
}  // namespace gnomon::base
