#include "runtime/training/history_bytes.h"

#include "runtime/training/history.h"

namespace gnomon::runtime {

std::int64_t history_bytes(const plan::Plan& plan, const plan::Job& job, std::int64_t vertices) {
  const auto hidden_layers = static_cast<std::int64_t>(job.layers() - 1);
  const auto pushed_bytes = std::int64_t{sizeof(std::int64_t)};
  return keeps_history(plan)
             ? vertices * (hidden_layers * job.hidden * std::int64_t{sizeof(float)} + pushed_bytes)
             : 0;
}

}  // namespace gnomon::runtime
