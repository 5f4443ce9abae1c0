#include "profiles/measure/mapped_history.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

namespace gnomon::profiles {

std::optional<runtime::History> mapped_history(const plan::Plan& plan, const plan::Job& job,
                                               std::int64_t vertices) {
  if (!runtime::keeps_history(plan)) {
    return std::nullopt;
  }
  std::vector<at::Tensor> hidden(static_cast<std::size_t>(job.layers() - 1));
  for (auto& layer : hidden) {
    layer = at::ones({vertices, job.hidden});
  }
  return runtime::History(std::move(hidden), vertices);
}

}  // namespace gnomon::profiles
