#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace gnomon::apps {

/// Declares --evaluate-every N|never; never is 0, as in runtime::TrainOptions.
void add_evaluate_every(CLI::App& app, std::int64_t& epochs);

}  // namespace gnomon::apps
