#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "python/c_api/gnomon.h"

namespace gnomon::c_api {

/// Returns the path of the program gnomon: `given`, else $GNOMON_PROGRAM, else bin/gnomon in the directory of
/// this library or its parent. Throws Failure if there is none.
std::filesystem::path find_program(const char* given);

/// A gnomon_progress and its first argument.
struct Callback {
  gnomon_progress function = nullptr;
  void* data = nullptr;
};

/// Runs a command as documented at gnomon_run and returns its result. Throws InputError for an invalid
/// request and for input that the command refuses, Failure if the command fails, Interrupted if `progress`
/// cancels it.
std::string run_command(const std::filesystem::path& program, std::string_view request,
                        const Callback& progress);

}  // namespace gnomon::c_api
