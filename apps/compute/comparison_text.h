#pragma once

#include <filesystem>
#include <string>

#include "tuner/run/comparison.h"

namespace gnomon::apps {

/// A table of the presets, the fastest first, and below a line those that were not run, with the reasons.
std::string comparison_text(const tuner::Comparison& comparison);

/// Writes one page that needs no network: the presets' epochs, predicted beside measured, and the table.
/// Atomic. Throws InputError (require_charts) and base::Failure.
void write_comparison(const std::filesystem::path& path, const tuner::Comparison& comparison);

}  // namespace gnomon::apps
