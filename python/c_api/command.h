#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "python/c_api/gnomon.h"

namespace gnomon::c_api {

/// Returns the program gnomon: `given`, else what GNOMON_PROGRAM names, else bin/gnomon in the folder of this
/// library or in the one above it. Throws Failure if there is none.
std::filesystem::path find_program(const char* given);

/// A gnomon_progress and its first argument.
struct Callback {
  gnomon_progress function = nullptr;
  void* data = nullptr;
};

/// Runs what gnomon_run documents and returns the result. Throws InputError for a request that is not valid
/// and for input that the command refuses, Failure if the command fails, Interrupted if `progress` cancels.
std::string run_command(const std::filesystem::path& program, std::string_view request,
                        const Callback& progress);

}  // namespace gnomon::c_api
