#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/flags/field_flags.h"
#include "graph/import/import.h"

namespace gnomon::apps {

/// Help of the option --host-memory of commands that convert a graph.
inline constexpr std::string_view conversion_memory_help =
    "Maximum memory for intermediate data, the rest is spilled to disk (default: half of the\navailable "
    "memory)";

/// The options of graph::ImportOptions, for the commands that import a graph. Must live until the command
/// line is parsed and stay where it is.
class ImportFlags {
 public:
  /// Declares the options under a heading of --help; `seed` is the name of the option for the split's seed.
  ImportFlags(CLI::App& app, const std::string& heading, const std::string& seed);

  /// The options of the command line, without source and format. Throws InputError.
  graph::ImportOptions options() const;
  /// The first option that the command line names; empty if it names none.
  std::string first_named() const;

 private:
  FieldFlags fields_;
  std::int64_t memory_bytes_ = 0;
};

/// Prints the notes of an import on stderr, one line each.
void print_notes(const std::vector<std::string>& notes);

}  // namespace gnomon::apps
