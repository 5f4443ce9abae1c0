#include "schedule/timeline.h"

#include <algorithm>
#include <set>

#include "base/atomic_file.h"

namespace gnomon::schedule {
namespace {

/// Thread numbers of the engines in the trace, in the order of display: the first device's compute and copy
/// engine, the workers, the disk, the interconnect, the other devices.
constexpr int first_worker = 2;
constexpr int disk_thread = 10000;
constexpr int interconnect_thread = 10001;
constexpr int first_other_device = 10002;

int thread_of(const StageSpan& span) {
  const int device = span.device == 0 ? 0 : first_other_device + 2 * (span.device - 1);
  switch (span.stage) {
    case Stage::device_batch:
    case Stage::device_gather:
    case Stage::train:
      return device;
    case Stage::transfer:
    case Stage::group_transfer:
      return device + 1;
    case Stage::group_read:
      return disk_thread;
    case Stage::all_reduce:
      return interconnect_thread;
    case Stage::cpu_batch:
    case Stage::group_prepare:
      break;
  }
  return first_worker + span.worker;
}

std::string thread_name(int thread) {
  if (thread == disk_thread || thread == interconnect_thread) {
    return thread == disk_thread ? "disk" : "gradients";
  }
  if (thread >= first_worker && thread < disk_thread) {
    return "worker " + std::to_string(thread - first_worker);
  }
  const int number = thread < first_worker ? thread : thread - first_other_device + 2;
  const std::string device = number < 2 ? "" : " " + std::to_string(number / 2);
  return (number % 2 == 0 ? "device" : "copies") + device;
}

base::Json name_event(const char* what, std::size_t process, int thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

base::Json span_event(const StageSpan& span, std::size_t process) {
  constexpr double microseconds = 1e6;
  return {{"name", std::string(name_of(span.stage)) + " " + std::to_string(span.batch)},
          {"cat", name_of(span.stage)},
          {"ph", "X"},
          {"ts", span.begin_s * microseconds},
          {"dur", span.seconds() * microseconds},
          {"pid", process},
          {"tid", thread_of(span)},
          {"args", {{"batch", span.batch}}}};
}

void append_events(base::Json& events, const NamedTimeline& timeline, std::size_t process) {
  events.push_back(name_event("process_name", process, 0, timeline.name));
  std::set<int> threads;
  for (const auto& span : timeline.spans) {
    threads.insert(thread_of(span));
  }
  for (const int thread : threads) {
    events.push_back(name_event("thread_name", process, thread, thread_name(thread)));
  }
  for (const auto& span : timeline.spans) {
    events.push_back(span_event(span, process));
  }
}

}  // namespace

Ticket TracedMachine::start_on(int device, Stage stage, std::int64_t batch, std::span<const Ticket> after) {
  started_.push_back(machine_.start_on(device, stage, batch, after));
  return started_.back();
}

bool TracedMachine::done(Ticket ticket) { return machine_.done(ticket); }

void TracedMachine::wait_any(std::span<const Ticket> tickets) { machine_.wait_any(tickets); }

double TracedMachine::now_s() { return machine_.now_s(); }

StageSpan TracedMachine::span(Ticket ticket) { return machine_.span(ticket); }

std::vector<StageSpan> TracedMachine::timeline() {
  std::vector<StageSpan> spans;
  spans.reserve(started_.size());
  for (const Ticket ticket : started_) {
    if (machine_.done(ticket)) {
      spans.push_back(machine_.span(ticket));
    }
  }
  return spans;
}

void write_trace(const std::filesystem::path& path, const std::vector<NamedTimeline>& timelines) {
  base::Json events = base::Json::array();
  for (std::size_t process = 0; process < timelines.size(); ++process) {
    append_events(events, timelines[process], process);
  }
  const base::Json document = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  base::write_file_atomically(path, document.dump() + "\n");
}

StageTimes mean_times(const std::vector<StageSpan>& timeline) {
  StageTimes times{};
  StageTimes counts{};
  for (const StageSpan& span : timeline) {
    const auto stage = static_cast<std::size_t>(span.stage);
    times[stage] += span.seconds();
    ++counts[stage];
  }
  for (std::size_t stage = 0; stage < times.size(); ++stage) {
    times[stage] /= std::max(1.0, counts[stage]);
  }
  return times;
}

base::Json stages_document(const std::vector<StageSpan>& timeline) {
  const auto means = mean_times(timeline);
  base::Json document = base::Json::object();
  for (std::size_t stage = 0; stage < means.size(); ++stage) {
    const auto count = std::count_if(timeline.begin(), timeline.end(), [stage](const StageSpan& span) {
      return static_cast<std::size_t>(span.stage) == stage;
    });
    if (count > 0) {
      document[std::string(name_of(static_cast<Stage>(stage)))] = {{"count", count},
                                                                   {"mean_s", means[stage]}};
    }
  }
  return document;
}

double utilisation(const std::vector<StageSpan>& spans, std::initializer_list<Stage> stages, double begin_s,
                   double end_s, int num_engines) {
  double busy_s = 0;
  for (const auto& span : spans) {
    if (std::find(stages.begin(), stages.end(), span.stage) != stages.end()) {
      busy_s += std::max(0.0, std::min(span.end_s, end_s) - std::max(span.begin_s, begin_s));
    }
  }
  return end_s > begin_s && num_engines > 0 ? busy_s / ((end_s - begin_s) * num_engines) : 0;
}

}  // namespace gnomon::schedule
