#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::apps {

/// A command-line option that stands for one field of a struct with a field table.
struct FieldFlag {
  std::string names;  ///< as CLI11 takes them: "--vertices", "--undirected,!--directed"
  std::string path;   ///< "split.seed"
  std::string help;
};

/// Options for the fields of one struct: defaults and kinds come from its field table. Lives as long as the
/// parsed command line.
class FieldFlags {
 public:
  /// Declares the options; `defaults` is the struct as JSON (write_value).
  FieldFlags(CLI::App& app, base::Json defaults, const std::vector<FieldFlag>& flags);
  FieldFlags(const FieldFlags&) = delete;
  FieldFlags& operator=(const FieldFlags&) = delete;

  /// The struct that the command line describes. Throws InputError naming the field.
  template <class T>
  T value() const {
    T value;
    base::read_value(patched(), value, "options", {});
    return value;
  }
  /// The fields that the command line names, with the names of their options.
  std::map<std::string, std::string> named() const;

 private:
  base::Json patched() const;
  base::Json defaults_;
  std::map<std::string, std::string> given_;  ///< by path; CLI11 writes here
  std::map<std::string, std::string> names_;  ///< of the options, by path
};

}  // namespace gnomon::apps
