#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "schedule/machine.h"

namespace gnomon::schedule {

/// Decorates any Machine: passes every call on and remembers the tickets, so that a simulated and a real
/// epoch leave timelines in one format.
class TracedMachine final : public Machine {
 public:
  /// `usual`: what is known of stages, from epochs before.
  explicit TracedMachine(Machine& machine, const StageTimes& usual = {}) : machine_(machine), usual_(usual) {}

  Ticket start_on(int device, Stage stage, std::int64_t batch, std::span<const Ticket> after) override;
  bool done(Ticket ticket) override;
  void wait_any(std::span<const Ticket> tickets) override;
  double now_s() override;
  StageSpan span(Ticket ticket) override;
  double usual_s(Stage stage) const override { return usual_[static_cast<std::size_t>(stage)]; }

  /// The spans of all stages that are done, in the order of their starts.
  std::vector<StageSpan> timeline();

 private:
  Machine& machine_;
  StageTimes usual_;
  std::vector<Ticket> started_;
};

/// What the stages of a timeline took in the mean; 0 where there were none.
StageTimes mean_times(const std::vector<StageSpan>& timeline);

/// A timeline with its name, for instance "predicted" or "measured".
struct NamedTimeline {
  std::string name;
  std::vector<StageSpan> spans;
};

/// Writes timelines in the Chrome trace event format (chrome://tracing, ui.perfetto.dev), each as a process
/// whose threads are the lanes. Atomic. Throws base::Failure.
void write_trace(const std::filesystem::path& path, const std::vector<NamedTimeline>& timelines);

/// Share of [begin_s, end_s) in which the stages of one kind of lane ran. For cpu_batch divided by `lanes`.
double utilisation(const std::vector<StageSpan>& spans, std::initializer_list<Stage> stages, double begin_s,
                   double end_s, int lanes);

}  // namespace gnomon::schedule
