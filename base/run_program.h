#pragma once

#include <string>
#include <vector>

namespace gnomon::base {

/// Runs a program and returns what it writes to its standard output; its standard error is this process's.
/// Throws Failure, which names the program, if it cannot be started or does not exit with code 0.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace gnomon::base
