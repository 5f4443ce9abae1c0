#include "apps/text/replanning_text.h"

#include <fmt/format.h>

#include "apps/text/format.h"

namespace gnomon::apps {

std::string replanned_text(const tuner::Replanned& replanned) {
  if (const auto brought = replanned.brought()) {
    return fmt::format("plan {} takes {} a mini-batch, {} took {}: {} less (predicted: {})\n", replanned.to,
                       format_seconds(*replanned.after_batch_s), replanned.from,
                       format_seconds(*replanned.before_batch_s), format_percent(*brought),
                       format_percent(replanned.predicted_gain));
  }
  const auto why = fmt::format("epoch {}, after {} mini-batches: {:.2f} x the expected time; ",
                               replanned.epoch, replanned.batches, replanned.drift);
  const auto turns = replanned.turns == 0 ? "predicted"
                                          : fmt::format("measured in {} turns, which cost {}",
                                                        replanned.turns, format_seconds(replanned.extra_s));
  if (!replanned.is_change()) {
    return why + fmt::format("keeping plan {} ({})\n", replanned.to, turns);
  }
  const auto measured =
      replanned.gain ? fmt::format(", and {} less {}", format_percent(*replanned.gain), turns) : "";
  return why + fmt::format("changing to plan {}, which is predicted to take {} less time than {}{}\n",
                           replanned.to, format_percent(replanned.predicted_gain), replanned.from, measured);
}

}  // namespace gnomon::apps
