#include "tuner/space/relevance.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tuner/space/space.h"

namespace gnomon::tuner {
namespace {

using plan::CachePolicy;
using plan::Cores;
using plan::Gather;
using plan::Home;
using plan::Plan;
using plan::Reuse;
using plan::Route;
using plan::Schedule;

/// Where a number's range ends when the field table leaves it (almost) open.
constexpr double most_steps = 64;

/// Workers beside the device, and a buffer between them.
bool has_cpu_lanes(const Plan& plan, const Cores&) {
  return plan.uses_workers() && plan.schedule != Schedule::sequential;
}

/// With batches from the CPU, too: sampling may lean towards what the device holds.
bool can_cache(const Plan& plan, const Cores& cores) {
  return plan.features == Home::disk || (!cores.host_device && plan.features != Home::device);
}

using Rule = bool (*)(const Plan&, const Cores&);

/// Fields that are not listed always matter.
const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> by_path = {
      // What a plan says of itself, follows from the rest, or only makes it slower.
      {"exact", [](const Plan&, const Cores&) { return false; }},
      {"device_memory_bytes", [](const Plan&, const Cores&) { return false; }},
      // The simulator does not tell these apart.
      {"pinning", [](const Plan&, const Cores&) { return false; }},
      {"placement", [](const Plan&, const Cores&) { return false; }},
      {"handover_copies", [](const Plan&, const Cores&) { return false; }},
      {"unaligned_reads", [](const Plan&, const Cores&) { return false; }},
      {"order", [](const Plan& p, const Cores&) { return p.schedule != Schedule::sequential; }},
      {"gather", [](const Plan& p, const Cores&) { return p.route != Route::both; }},
      // It leaves the trainer nothing to gather; whoever else would have gathered only samples.
      {"fused",
       [](const Plan& p, const Cores&) {
         return p.features != Home::disk && (p.gather == Gather::sampler || p.schedule == Schedule::factored);
       }},
      {"workers", has_cpu_lanes},
      {"worker_threads", [](const Plan& p, const Cores&) { return p.uses_workers(); }},
      {"cpu_buffer", has_cpu_lanes},
      {"device_buffer", [](const Plan& p, const Cores&) { return p.schedule != Schedule::sequential; }},
      {"look_ahead", [](const Plan& p, const Cores&) { return p.schedule == Schedule::claim_ahead; }},
      // Without a link of its own a host device's copies are a thread's work, which nothing else holds up.
      {"copy_during_device_batch",
       [](const Plan& p, const Cores& c) {
         return !c.host_device &&
                (p.schedule == Schedule::dual_buffer || p.schedule == Schedule::claim_ahead);
       }},
      {"device_threads", [](const Plan&, const Cores& c) { return c.host_device; }},
      {"devices", [](const Plan&, const Cores& c) { return c.devices > 1; }},
      {"samplers", [](const Plan& p, const Cores&) { return p.schedule == Schedule::factored; }},
      {"switch_roles", [](const Plan& p, const Cores&) { return p.schedule == Schedule::factored; }},
      {"cpu_share", [](const Plan& p, const Cores&) { return p.schedule == Schedule::mixed; }},
      {"prepare_share",
       [](const Plan& p, const Cores&) {
         return p.schedule == Schedule::pipelined && p.route == Route::device;
       }},
      {"topology", [](const Plan&, const Cores& c) { return !c.host_device; }},
      {"features",
       [](const Plan& p, const Cores& c) { return !c.host_device || p.schedule == Schedule::macro_batch; }},
      {"cache.policy", can_cache},
      {"cache.features", [](const Plan& p, const Cores&) { return p.cache.policy != CachePolicy::none; }},
      {"cache.topology",
       [](const Plan& p, const Cores&) {
         return p.cache.policy != CachePolicy::none && p.uses_device_route() && p.topology == Home::host;
       }},
      {"cache.place",
       [](const Plan& p, const Cores&) {
         return p.cache.policy != CachePolicy::none && p.features == Home::disk;
       }},
      {"cache.budget", [](const Plan& p, const Cores&) { return p.cache.policy != CachePolicy::none; }},
      {"cache.sharded",
       [](const Plan& p, const Cores& c) { return p.cache.policy != CachePolicy::none && c.devices > 1; }},
      {"bias", [](const Plan& p, const Cores&) { return p.cache.policy != CachePolicy::none; }},
      {"embeddings.hot_ratio", [](const Plan& p, const Cores&) { return p.embeddings.reuse == Reuse::hot; }},
      {"super_batch", [](const Plan& p, const Cores&) { return p.schedule == Schedule::super_batch; }},
  };
  return by_path;
}

std::vector<double> of_integers(const std::vector<int>& values) { return {values.begin(), values.end()}; }

/// least, …, most in steps of a half and a third: 1, 2, 3, 4, 6, 8, 12, 16 …
std::vector<double> log_steps(double least, double most) {
  std::vector<double> values;
  for (double value = std::max(1.0, least); value <= most; value *= 2) {
    values.push_back(value);
    if (const double between = value * 3 / 2; between == std::floor(between) && between <= most) {
      values.push_back(between);
    }
  }
  if (least <= 0) {
    values.insert(values.begin(), 0);
  }
  return values;
}

std::vector<double> values_of_integer(const Field& field, const Cores& cores, std::int64_t batches) {
  if (field.path == "workers") {
    return of_integers(worker_choices(cores.count));
  }
  if (field.path == "device_threads") {
    return of_integers(thread_choices(cores));
  }
  if (field.path == "worker_threads") {  // more are asked for where a profile says that they are of use
    return {1};
  }
  if (field.path == "devices" || field.path == "samplers") {
    return log_steps(1, cores.devices);
  }
  double most = std::min(field.range.max, most_steps);
  if (!field.path.starts_with("macro.")) {
    most = std::min(most, static_cast<double>(batches));
  }
  return log_steps(field.range.min, most);
}

std::vector<double> values_of_real(const Field& field) {
  std::vector<double> values;
  if (field.range.max > 1) {
    for (double value = std::max(1.0, field.range.min); value <= std::min(field.range.max, most_steps);
         value *= 2) {
      values.push_back(value);
    }
    return values;
  }
  for (int tenth = 0; tenth <= 10; ++tenth) {
    if (const double value = tenth / 10.0; value >= field.range.min && value <= field.range.max) {
      values.push_back(value);
    }
  }
  return values;
}

std::vector<double> values_of_category(const Field& field, const Cores& cores) {
  std::vector<double> values;
  for (std::size_t position = 0; position < field.names.size(); ++position) {
    // A cache cannot know the coming epoch, and a random one is only there to compare with.
    const bool is_baseline = field.path == "cache.policy" &&
                             (field.names[position] == "optimal" || field.names[position] == "random");
    // One device only takes turns in its roles, which schedule sequential does without a queue.
    const bool needs_devices =
        field.path == "schedule" && field.names[position] == "factored" && cores.devices == 1;
    if (!is_baseline && !needs_devices) {
      values.push_back(static_cast<double>(position));
    }
  }
  return values;
}

}  // namespace

bool matters(const std::string& path, const Plan& plan, const Cores& cores) {
  if (path.starts_with("macro.")) {
    return plan.schedule == Schedule::macro_batch;
  }
  const auto rule = rules().find(path);
  return rule == rules().end() || rule->second(plan, cores);
}

std::vector<double> usual_values(const Field& field, const Cores& cores, std::int64_t batches) {
  switch (field.kind) {
    case FieldKind::integer:
      return values_of_integer(field, cores, batches);
    case FieldKind::real:
      return values_of_real(field);
    case FieldKind::category:
      break;
  }
  return values_of_category(field, cores);
}

std::vector<std::string> deciding_categories() {
  return {"schedule", "route", "gather", "order", "topology", "features", "embeddings.reuse"};
}

}  // namespace gnomon::tuner
