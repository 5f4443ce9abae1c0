#include "apps/text/replanning_text.h"

#include <fmt/format.h>

#include "apps/text/format.h"

namespace gnomon::apps {

std::string replanned_text(const tuner::Replanned& replanned) {
  const auto why = fmt::format("epoch {}, after {} mini-batches: {:.2f} x the expected time; ",
                               replanned.epoch, replanned.batches, replanned.drift);
  const auto measured = replanned.turns == 0
                            ? "predicted"
                            : fmt::format("measured in {} turns, which cost {}", replanned.turns,
                                          format_seconds(replanned.extra_s));
  if (!replanned.is_change()) {
    return why + fmt::format("keeping plan {} ({})\n", replanned.to, measured);
  }
  return why + fmt::format("changing to plan {}, which takes {} less time than {} ({})\n", replanned.to,
                           format_percent(replanned.gain.value_or(replanned.predicted_gain)), replanned.from,
                           measured);
}

}  // namespace gnomon::apps
