#pragma once

#include "apps/command.h"

namespace gnomon::apps {

/// Exit codes of every command.
enum ExitCode : int { done = 0, failure = 1, bad_input = 2 };

/// The main function of both programs: runs the command that argv names. Commands not in `commands` are
/// passed to the program `sibling` in the same directory (exec), if given. The one place where errors are
/// caught: each becomes one line on stderr and an exit code.
int run_program(int argc, char** argv, const Commands& commands, const char* sibling = nullptr);

}  // namespace gnomon::apps
