#include "apps/program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "apps/build_facts.h"
#include "base/error.h"
#include "base/names.h"

namespace gnomon::apps {
namespace {

/// Prints an error as one line.
int complain(const std::string& who, std::string message, ExitCode code) {
  while (!message.empty() && message.back() == '\n') {
    message.pop_back();
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cerr << who << ": " << message << "\n";
  return code;
}

const CommandInfo* find_command(std::string_view name) {
  const auto commands = all_commands();
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandInfo& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

/// Replaces this process by the program `sibling`; returns only by throwing.
[[noreturn]] void hand_over(char** argv, const char* sibling) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / sibling;
  if (!std::filesystem::exists(program)) {
    throw base::InputError("needs " + program.string() +
                           ", which only builds with LibTorch have (./gnomon.sh setup in a clone)");
  }
  // OpenMP reads it when it is loaded: waiting threads must sleep, or they occupy the workers' cores.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::execv(program.c_str(), argv);
  throw base::Failure(program.string(), std::string("cannot be started: ") + std::strerror(errno));
}

/// A parsed command line.
struct Parsed {
  CLI::App app{
      "Measures a machine, predicts every way of training a graph neural network on it, picks the "
      "best and runs it."};
  std::map<std::string, Action> actions;
};

void declare(Parsed& parsed, const Commands& commands) {
  auto& app = parsed.app;
  app.name("gnomon");
  app.set_version_flag("--version", "gnomon " + build_facts().version);
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  app.footer("`gnomon COMMAND --help` says more about a command and ends with an example.");
  for (const auto& info : all_commands()) {
    auto* command = app.add_subcommand(std::string(info.name), std::string(info.summary));
    command->group(std::string(info.group));
    command->footer("Example:\n  " + std::string(info.example));
    command->option_defaults()->always_capture_default();
    if (const auto found = commands.find(info.name); found != commands.end()) {
      parsed.actions[std::string(info.name)] = found->second(*command);
    }
  }
}

void run_parsed(const Parsed& parsed) {
  const auto name = parsed.app.get_subcommands().front()->get_name();
  const auto action = parsed.actions.find(name);
  if (action == parsed.actions.end()) {
    throw base::Failure(name, "is not included in this build");
  }
  action->second();
  if (!std::cout.flush()) {
    throw base::Failure("standard output", "cannot be written");
  }
}

/// The command that may have been meant, or where all are listed.
std::string meant_text(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& command : all_commands()) {
    names.emplace_back(command.name);
  }
  const auto similar = base::similar_names(name, names);
  return similar.empty() ? "see gnomon --help" : "did you mean " + similar.front() + "?";
}

/// The command that argv[1] names; null when it is an option. Throws InputError for an unknown one.
const CommandInfo* asked_command(int argc, char** argv) {
  if (argc < 2) {
    throw base::InputError("no command given; see gnomon --help");
  }
  const auto* command = find_command(argv[1]);
  if (command == nullptr && argv[1][0] != '-') {
    throw base::InputError("\"" + std::string(argv[1]) + "\" is not a command; " + meant_text(argv[1]));
  }
  return command;
}

/// The innermost command of a parsed line.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

/// "gnomon surrogate predict", for the innermost command.
std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

/// What is wrong with the first argument that the command does not take, and the option that may have been
/// meant.
std::string unexpected_text(const CLI::App& command, int argc, char** argv) {
  const auto extra = command.remaining();
  const std::set<std::string> unexpected(extra.begin(), extra.end());
  const auto first =
      std::find_if(argv, argv + argc, [&](const char* word) { return unexpected.contains(word); });
  const std::string word = first == argv + argc ? "an argument" : *first;
  if (!word.starts_with("-")) {
    return "\"" + word + "\" is one argument too many";
  }
  std::vector<std::string> options;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) {
      options.push_back("--" + name);
    }
  }
  const auto name = word.substr(0, word.find('='));
  const auto similar = base::similar_names(name, options);
  return name + " is not an option" + (similar.empty() ? "" : "; did you mean " + similar.front() + "?");
}

bool has_option(int argc, char** argv, std::string_view option) {
  return std::any_of(argv, argv + argc, [&](std::string_view argument) {
    return argument == option || argument.starts_with(std::string(option) + "=");
  });
}

/// Whether only the sibling has the command, or the option that is given.
bool is_for_sibling(int argc, char** argv, const CommandInfo& command, const Commands& commands) {
  const bool measures = !command.measuring_option.empty() && has_option(argc, argv, command.measuring_option);
  return measures || commands.find(command.name) == commands.end();
}

int parse_and_run(int argc, char** argv, const Commands& commands, const char* sibling, std::string& who) {
  if (const auto* command = asked_command(argc, argv)) {
    who = "gnomon " + std::string(command->name);
    if (sibling != nullptr && is_for_sibling(argc, argv, *command, commands)) {
      hand_over(argv, sibling);
    }
  }
  Parsed parsed;
  declare(parsed, commands);
  try {
    parsed.app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    parsed.app.exit(asked, std::cout, std::cerr);
    return done;
  } catch (const CLI::ExtrasError&) {
    const auto& command = innermost(parsed.app);
    return complain(who, unexpected_text(command, argc, argv) + " (see " + full_name(command) + " --help)",
                    bad_input);
  } catch (const CLI::ParseError& error) {
    return complain(who, std::string(error.what()) + "; see " + full_name(innermost(parsed.app)) + " --help",
                    bad_input);
  }
  run_parsed(parsed);
  return done;
}

}  // namespace

int run_program(int argc, char** argv, const Commands& commands, const char* sibling) {
  std::string who = "gnomon";
  try {
    return parse_and_run(argc, argv, commands, sibling, who);
  } catch (const base::InputError& error) {
    return complain(who, error.what(), bad_input);
  } catch (const std::bad_alloc&) {
    return complain(who, "out of memory", failure);
  } catch (const std::exception& error) {
    return complain(who, error.what(), failure);
  }
}

}  // namespace gnomon::apps
