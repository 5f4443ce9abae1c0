#include "apps/text/replanning_text.h"

#include <fmt/format.h>

#include "apps/text/format.h"

namespace gnomon::apps {

std::string replanned_text(const tuner::Replanned& replanned) {
  const auto why = fmt::format("epoch {}, after {} mini-batches: they take {:.2f} x the expected time; ",
                               replanned.epoch + 1, replanned.batches, replanned.drift);
  const auto measured = replanned.turns == 0
                            ? "predicted"
                            : fmt::format("measured in {} turns, which cost {}", replanned.turns,
                                          format_seconds(replanned.extra_s));
  if (!replanned.is_change()) {
    return why + fmt::format("plan {} remains the best ({})\n", replanned.to, measured);
  }
  return why + fmt::format("plan {} saves {} of what {} takes ({})\n", replanned.to,
                           format_percent(replanned.gain.value_or(replanned.predicted_gain)), replanned.from,
                           measured);
}

}  // namespace gnomon::apps
