#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"

namespace gnomon::plan {

/// In which order stages are started; each is one function of schedule/policies.h.
enum class Schedule : std::uint8_t { sequential, pipelined, dual_buffer, claim_ahead };

/// Who prepares mini-batches (systems.md §1): CPU workers followed by a copy, the device itself, or both.
enum class Route : std::uint8_t { cpu, device, both };

/// `index`: batch i is update i, whatever the timing. `as_ready`: batches are trained as they become ready,
/// each once; the order is logged and can be replayed.
enum class Order : std::uint8_t { index, as_ready };

}  // namespace gnomon::plan

namespace gnomon::base {

template <>
struct EnumNames<plan::Schedule> {
  static constexpr std::array<std::pair<plan::Schedule, std::string_view>, 4> values{
      {{plan::Schedule::sequential, "sequential"},
       {plan::Schedule::pipelined, "pipelined"},
       {plan::Schedule::dual_buffer, "dual_buffer"},
       {plan::Schedule::claim_ahead, "claim_ahead"}}};
};
template <>
struct EnumNames<plan::Route> {
  static constexpr std::array<std::pair<plan::Route, std::string_view>, 3> values{
      {{plan::Route::cpu, "cpu"}, {plan::Route::device, "device"}, {plan::Route::both, "both"}}};
};
template <>
struct EnumNames<plan::Order> {
  static constexpr std::array<std::pair<plan::Order, std::string_view>, 2> values{
      {{plan::Order::index, "index"}, {plan::Order::as_ready, "as_ready"}}};
};

}  // namespace gnomon::base

namespace gnomon::plan {

/// Everything a system decides about *how* mini-batches are prepared and trained. Which mini-batches these
/// are is the Job's (plan/job.h): a plan changes the speed, never the training, unless it says `"exact":
/// false`.
struct Plan {
  static constexpr std::string_view schema = "gnomon.plan/1";

  std::string name;    ///< what tables call it
  std::string source;  ///< the paper and section it follows
  Schedule schedule = Schedule::sequential;
  Route route = Route::cpu;
  Order order = Order::index;
  bool exact = true;      ///< sees the same mini-batches as every other exact plan
  int workers = 0;        ///< CPU batching workers; 0: what the machine's cores allow (resolve)
  int cpu_buffer = 2;     ///< finished mini-batches the host holds beside those in the workers' hands
  int device_buffer = 2;  ///< mini-batches the device holds beside the one in training
  int look_ahead = 4;     ///< claim_ahead: a worker claims at least this far ahead of the training head
  bool copy_during_device_batch =
      false;                ///< whether copies may start while the device reads host memory to prepare
  int handover_copies = 0;  ///< extra host copies of each CPU batch (worker processes hand over by copying)
  int device_threads =
      0;  ///< threads of a host device (no GPU) for its kernels; 0: what the machine's cores allow

  bool uses_cpu_route() const { return route != Route::device; }
  bool uses_device_route() const { return route != Route::cpu; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f("source", self.source);
    f.required("schedule", self.schedule);
    f.required("route", self.route);
    f("order", self.order);
    f("exact", self.exact);
    f("workers", self.workers, base::Range{0, 4096});
    f("cpu_buffer", self.cpu_buffer, base::Range{1, 4096});
    f("device_buffer", self.device_buffer, base::Range{1, 4096});
    f("look_ahead", self.look_ahead, base::Range{1, 1 << 20});
    f("copy_during_device_batch", self.copy_during_device_batch);
    f("handover_copies", self.handover_copies, base::Range{0, 4});
    f("device_threads", self.device_threads, base::Range{0, 4096});
  }
  bool operator==(const Plan&) const = default;
};

/// Throws InputError, naming `where` and the field, when the fields contradict each other.
void check(const Plan& plan, const std::string& where);

/// The cores a plan runs on. `host_device`: there is no GPU, the device is threads of the same cores.
struct Cores {
  int count = 1;
  bool host_device = true;
};

/// Fills in workers and device_threads where they are 0. Throws InputError when the plan asks for more
/// workers or device threads than there are cores.
Plan resolve(Plan plan, const Cores& cores, const std::string& where);

/// Reads and checks a plan file. Throws InputError.
Plan read_plan(const std::filesystem::path& path);

/// A preset by name ("salient") or, when `name` ends in .json, a plan file. Throws InputError that lists the
/// presets.
Plan find_plan(const std::string& name);

/// The presets built into the program, in the order of their names.
std::vector<Plan> presets();

}  // namespace gnomon::plan
