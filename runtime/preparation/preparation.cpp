#include "runtime/preparation/preparation.h"

#include <algorithm>

#include "plan/cached_rows.h"

namespace gnomon::runtime {

bool reads_graph(const plan::Plan& plan) {
  return plan.schedule != plan::Schedule::macro_batch &&
         (plan.uses_device_route() || plan.prepares_samples() || plan::leaves_out_cached_rows(plan));
}

bool reads_cache(const plan::Plan& plan) { return plan.cache.is_used() && reads_graph(plan); }

bool shares_cache(const plan::Plan& plan) {
  return reads_cache(plan) && plan.cache.sharded && plan.devices > 1;
}

double preparing_share(const plan::Plan& plan) {
  return plan.prepares_beside_training() ? plan.prepare_share : 1;
}

std::int64_t smaller_limit(std::int64_t first, std::int64_t second) {
  return first == 0 || second == 0 ? std::max(first, second) : std::min(first, second);
}

bool may_take_more(const plan::Plan& plan, const plan::Plan& other) {
  return plan.batches_ahead_on_device() > other.batches_ahead_on_device() || plan.graphs > other.graphs ||
         plan.route != other.route || plan.gather != other.gather ||
         plan.embeddings.reuse != other.embeddings.reuse;
}

bool repeats_training(const plan::Plan& plan, const plan::Job& job) {
  return plan.devices == 1 && !plan.graphs && plan.embeddings.reuse == plan::Reuse::none &&
         job.norm != plan::Norm::batch;
}

std::string what_lowers_memory(const plan::Plan& plan) {
  std::string fields;
  const auto add = [&](bool helps, const char* field) {
    if (helps) {
      fields += (fields.empty() ? "" : ", ") + std::string(field);
    }
  };
  add(plan.cache.is_used(), "cache.budget");
  add(plan.topology == plan::Home::device, "topology");
  add(plan.features == plan::Home::device, "features");
  add(plan.schedule == plan::Schedule::macro_batch, "macro.resident");
  add(plan.device_buffer > 1, "device_buffer");
  add(plan.graphs, "graphs");
  return fields.empty() ? "use a smaller batch size or smaller fanouts in the job"
                        : "lower the plan's " + fields + ", or the job's batch size";
}

}  // namespace gnomon::runtime
