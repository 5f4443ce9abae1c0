#pragma once

#include <CLI/CLI.hpp>

namespace gnomon::apps {

/// Checks of an option's number, for CLI::Option::check: what is wrong is told in one short sentence.
CLI::Validator in_range(double min, double max);
CLI::Validator non_negative();
CLI::Validator above_zero();

}  // namespace gnomon::apps
