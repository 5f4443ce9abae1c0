#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <span>
#include <string_view>

namespace gnomon::apps {

/// What `gnomon --help` says of a command. The table of all commands is part of both programs.
struct CommandInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view group;    ///< heading of `gnomon --help` under which it stands
  std::string_view example;  ///< closes the command's own --help
};

/// All commands in the order of `gnomon --help`.
std::span<const CommandInfo> all_commands();

/// What a parsed command does. Throws InputError (the program ends with code 2), Interrupted or anything
/// else (code 1).
using Action = std::function<void()>;

/// Declares a command's options on `app` and returns its action, which owns the options' values.
using AddCommand = Action (*)(CLI::App& app);

/// The commands that a program is made of, by name.
using Commands = std::map<std::string_view, AddCommand>;

}  // namespace gnomon::apps
