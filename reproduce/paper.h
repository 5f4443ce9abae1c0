#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"

namespace gnomon::reproduce {

/// Identify a number: "table" → "table4", "machine" → "A", "system" → "SALIENT" and so on.
using Labels = std::map<std::string, std::string, std::less<>>;

/// One printed number.
struct Fact {
  Labels labels;
  double value = 0;

  /// Returns the text of a label, or an empty one if there is no such label.
  std::string label(std::string_view name) const {
    const auto found = labels.find(name);
    return found == labels.end() ? "" : found->second;
  }
};

/// A machine or data set of a paper, with its printed facts.
struct Entry {
  std::string name;
  base::Json facts;  ///< an object

  /// Returns one of its numbers, or `otherwise` if there is none.
  double number(const char* key, double otherwise) const;
};

/// The printed numbers of one paper, from a document of profiles/papers.
struct Paper {
  static constexpr std::string_view schema = "gnomon.paper/1";

  std::string name;
  std::string source;
  std::vector<Entry> machines;
  std::vector<Entry> datasets;
  std::vector<Fact> facts;

  /// Returns the first fact with all of these labels (it may have more), or null.
  const Fact* find_fact(const Labels& wanted) const;
  std::optional<double> find(const Labels& wanted) const;
  /// Returns the number of find(). Throws Failure if there is none, because the built-in documents must have
  /// it.
  double at(const Labels& wanted) const;
  /// Returns the different values of one label in all facts with the labels `wanted`, in their order.
  std::vector<std::string> values(std::string_view label, const Labels& wanted) const;
  const Entry* machine(std::string_view wanted) const;
  const Entry* dataset(std::string_view wanted) const;
};

/// Parses a document of the form of profiles/papers. A row of a table is an object; its texts and integers
/// are labels, its "value" is the number and "metric" another label. Without "value", one of "epoch_s" and
/// "iteration_ms" is the number and its name the metric. Rows without a number and unused keys are ignored,
/// so that a paper's whole transcript can be read. Throws InputError.
Paper parse_paper(const base::Json& document, const std::string& where);

/// Returns a document of profiles/papers, which are built into the program. Throws InputError that lists
/// them.
Paper find_paper(std::string_view name);

/// Returns the names of the built-in papers.
std::vector<std::string> paper_names();

/// Reads a user's numbers from a file of the same form, or of an array of rows or an object with "rows",
/// which make up one table "given". Throws InputError.
Paper read_baselines(const std::filesystem::path& path);

/// Returns `paper` with the machines, data sets and facts of `more` before its own, so that these are found
/// first.
Paper with(const Paper& more, Paper paper);

}  // namespace gnomon::reproduce
