#pragma once

#include <string>
#include <vector>

namespace gnomon::base {

/// Runs a program and returns its standard output; it inherits this process's standard error. Throws Failure,
/// which names the program, if it cannot be started or does not exit with code 0.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace gnomon::base
