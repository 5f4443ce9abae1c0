#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/compute/device_flags.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"

/// Measures a plan's peak memory by running this program again, because the peak is a property of a process.
namespace gnomon::apps {

/// Declares the hidden option --peak-memory-of, with which a command does nothing but print_peak_memory().
void add_peak_memory_option(CLI::App& app, std::string& request);

/// Runs `command` again with --peak-memory-of. Returns the maximum of its resident memory in bytes.
double peak_memory(std::vector<std::string> command, const DeviceFlags& device, const plan::Job& job,
                   const plan::Plan& plan);

/// Trains some mini-batches as the option's value says, and prints the process's maximum resident memory.
void print_peak_memory(const std::string& request, const graph::Graph& graph,
                       const runtime::DeviceOptions& device);

}  // namespace gnomon::apps
