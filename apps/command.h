#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <span>
#include <string_view>

namespace gnomon::apps {

/// A command's entry in `gnomon --help`. Both programs hold the table of all commands.
struct CommandInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view group;    ///< its heading in `gnomon --help`
  std::string_view example;  ///< the last line of the command's --help
  /// The option with which the command measures, and is therefore handed to the program that links LibTorch.
  std::string_view measuring_option = {};
};

/// All commands in the order of `gnomon --help`.
std::span<const CommandInfo> all_commands();

/// Runs a parsed command. The program exits with code 2 if it throws InputError, with code 1 if it throws
/// Interrupted or anything else.
using Action = std::function<void()>;

/// Declares a command's options on `app` and returns its action, which owns the options' values.
using AddCommand = Action (*)(CLI::App& app);

/// The commands of a program, by name.
using Commands = std::map<std::string_view, AddCommand>;

}  // namespace gnomon::apps
