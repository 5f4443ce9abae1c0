#include "tuner/run/resumed_plan.h"

#include <array>

#include "base/document.h"
#include "base/error.h"

namespace gnomon::tuner {

void check_resumed_plan(const plan::Plan& own, const plan::Plan& now, const std::string& where) {
  if (!plan::changes_training(own) && !plan::changes_training(now)) {
    return;
  }
  constexpr std::array fields{"exact", "bias", "cache", "embeddings", "super_batch", "macro"};
  const auto before = base::write_value(own);
  const auto after = base::write_value(now);
  for (const char* field : fields) {
    if (before[field] != after[field]) {
      throw base::InputError(where + ": plan." + field,
                             "the run was started with " + before[field].dump() + ", not " +
                                 after[field].dump() +
                                 ", which trains other mini-batches; resume with that, or use a new run "
                                 "directory");
    }
  }
}

}  // namespace gnomon::tuner
