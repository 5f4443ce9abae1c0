#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/document.h"
#include "schedule/machine.h"

namespace gnomon::schedule {

/// Decorates a Machine: forwards every call and records the tickets, so that simulated and real epochs yield
/// timelines in the same format.
class TracedMachine final : public Machine {
 public:
  /// `expected` holds the stage times of earlier epochs, which expected_s() returns.
  explicit TracedMachine(Machine& machine, const StageTimes& expected = {})
      : machine_(machine), expected_(expected) {}

  Ticket start_on(int device, Stage stage, std::int64_t batch, std::span<const Ticket> after) override;
  bool done(Ticket ticket) override;
  void wait_any(std::span<const Ticket> tickets) override;
  double now_s() override;
  StageSpan span(Ticket ticket) override;
  double expected_s(Stage stage) const override { return expected_[static_cast<std::size_t>(stage)]; }
  std::vector<std::int64_t> group_sizes() const override { return machine_.group_sizes(); }
  void assign(std::int64_t position, std::int64_t index, int pass) override {
    machine_.assign(position, index, pass);
  }

  /// Returns the spans of all finished stages, in the order of their starts.
  std::vector<StageSpan> timeline();

 private:
  Machine& machine_;
  StageTimes expected_;
  std::vector<Ticket> started_;
};

/// Returns the mean duration of each stage in a timeline; 0 for stages that it does not contain.
StageTimes mean_times(const std::vector<StageSpan>& timeline);

/// Returns the mean duration of one stage in a timeline; 0 if it does not contain it.
inline double mean_time(const std::vector<StageSpan>& timeline, Stage stage) {
  return mean_times(timeline)[static_cast<std::size_t>(stage)];
}

/// How often each stage of a timeline ran, and its mean duration: {"train": {"count": 8, "mean_s": 0.01}, …}.
base::Json stages_document(const std::vector<StageSpan>& timeline);

/// A timeline with its name, for instance "predicted" or "measured".
struct NamedTimeline {
  std::string name;
  std::vector<StageSpan> spans;
};

/// Writes timelines in the Chrome trace event format (chrome://tracing, ui.perfetto.dev). Each timeline
/// becomes a process and each engine one of its threads. The file is written atomically. Throws
/// base::Failure.
void write_trace(const std::filesystem::path& path, const std::vector<NamedTimeline>& timelines);

/// Returns the mean utilisation in [begin_s, end_s) of the `num_engines` engines that run these stages: their
/// busy time over the available time.
double utilisation(const std::vector<StageSpan>& spans, std::initializer_list<Stage> stages, double begin_s,
                   double end_s, int num_engines);

}  // namespace gnomon::schedule
