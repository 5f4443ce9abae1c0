#include "runtime/disk/host_memory.h"

#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "base/process_memory.h"
#include "base/usable.h"
#include "plan/disk_plans.h"
#include "plan/host_cache.h"

namespace gnomon::runtime {
namespace {

std::string mib(std::int64_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB"; }

std::string parts_of(const HostNeeds& needs) {
  return "process " + mib(needs.process) + ", mini-batches " + mib(needs.batches) + ", samplers " +
         mib(needs.samplers) + ", reads in flight " + mib(needs.readers) + ", training or evaluation " +
         mib(needs.training) + ", model " + mib(needs.model) +
         (needs.macro_batches > 0 ? ", macro-batches " + mib(needs.macro_batches) : "");
}

std::int64_t limit_of(const HostNeeds& needs, std::int64_t allowed) {
  return allowed > 0 ? allowed : needs.process + base::available_memory_bytes();
}

}  // namespace

std::int64_t training_bytes(const plan::Job& job, const kernels::MiniBatch& batch,
                            const graph::Features& features) {
  constexpr std::int64_t value_bytes = sizeof(float);
  constexpr std::int64_t outputs = 3;  // output, activation, gradient
  std::int64_t bytes = 0;
  std::int64_t columns = features.columns;
  if (features.type != graph::FeatureType::fp32) {
    bytes += std::ssize(batch.vertices) * columns * value_bytes;
  }
  for (const auto& block : std::views::reverse(batch.blocks)) {
    bytes += block.num_destinations * (columns + outputs * job.hidden) * value_bytes;
    columns = job.hidden;
  }
  return bytes;
}

std::int64_t process_bytes(const graph::Graph& graph) {
  const auto memory = base::process_memory();
  return memory.anonymous_bytes +
         std::max<std::int64_t>(0, memory.file_bytes - base::mapped_bytes(graph.directory));
}

HostNeeds needs_of(const plan::Plan& plan, const BatchNeeds& each, std::int64_t batches, std::int64_t weights,
                   std::int64_t process) {
  const auto to_spare = [](std::int64_t bytes) { return bytes + bytes / 4; };
  const std::int64_t slots =
      std::min<std::int64_t>(plan.workers + plan.cpu_buffer + plan.device_buffer + 1, batches);
  constexpr std::int64_t gradients_and_moments = 3;
  HostNeeds needs;
  needs.process = process;
  needs.batches = slots * to_spare(each.slot);
  needs.samplers = (plan::looks_ahead(plan) ? 2 : 1) * plan.workers * to_spare(each.sampler);
  needs.readers = plan.workers * plan::arrays_on_disk(plan) * plan::disk_reader_bytes;
  needs.training = to_spare(each.training);
  needs.model = gradients_and_moments * weights;
  return needs;
}

void check_room(const plan::Plan& plan, const HostNeeds& needs, std::int64_t allowed) {
  const std::int64_t limit = limit_of(needs, allowed);
  if (needs.total() > limit) {
    throw base::InputError("host memory",
                           "plan \"" + plan.name + "\" needs " + mib(needs.total()) + " without caches (" +
                               parts_of(needs) + "); " + mib(limit) +
                               " may be used; allow more, or use a smaller batch size, fewer workers and "
                               "buffers or --evaluate-every never");
  }
}

std::int64_t cache_room(const plan::Plan& plan, const HostNeeds& needs, std::int64_t allowed) {
  check_room(plan, needs, allowed);
  const std::int64_t room = limit_of(needs, allowed) - needs.total();
  return static_cast<std::int64_t>(plan.cache.budget * static_cast<double>(room));
}

}  // namespace gnomon::runtime
