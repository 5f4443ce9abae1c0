#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gnomon::apps {

/// Declares an option that names a file to write. That the file can be written is checked when the command
/// line is parsed, before any work (base::check_output).
CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& file, const std::string& help);

}  // namespace gnomon::apps
