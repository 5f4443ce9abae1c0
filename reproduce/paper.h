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

/// What a number belongs to: "table" → "table4", "machine" → "A", "system" → "SALIENT" and so on.
using Labels = std::map<std::string, std::string, std::less<>>;

/// One number of a paper.
struct Fact {
  Labels labels;
  double value = 0;

  /// The text of a label; empty where there is none.
  std::string label(std::string_view name) const {
    const auto found = labels.find(name);
    return found == labels.end() ? "" : found->second;
  }
};

/// A machine or data set of a paper: its name and what the paper says of it.
struct Entry {
  std::string name;
  base::Json facts;  ///< an object

  /// A number of it, or `otherwise` where there is none.
  double number(const char* key, double otherwise) const;
};

/// What gnomon knows of one paper: a document of profiles/papers.
struct Paper {
  static constexpr std::string_view schema = "gnomon.paper/1";

  std::string name;
  std::string source;
  std::vector<Entry> machines;
  std::vector<Entry> datasets;
  std::vector<Fact> facts;

  /// The first fact with all of these labels (it may have more); null when there is none.
  const Fact* find_fact(const Labels& wanted) const;
  std::optional<double> find(const Labels& wanted) const;
  /// Likewise; throws Failure, for a document of our own that lacks it.
  double at(const Labels& wanted) const;
  /// The values of one label of all facts with the labels `wanted`, each once, in their order.
  std::vector<std::string> values(std::string_view label, const Labels& wanted) const;
  const Entry* machine(std::string_view wanted) const;
  const Entry* dataset(std::string_view wanted) const;
};

/// Reads a document of the form of profiles/papers. A row of a table is an object; its texts and integers are
/// labels, its "value" the number and "metric" another label. Without "value", one of "epoch_s" and
/// "iteration_ms" is the number and its name the metric. Rows without a number, and keys that are not used,
/// are passed over, so a paper's whole transcript can be given. Throws InputError.
Paper parse_paper(const base::Json& document, const std::string& where);

/// A document of profiles/papers, which are built into the program. Throws InputError that lists them.
Paper find_paper(std::string_view name);

/// The names of all papers that are built in.
std::vector<std::string> paper_names();

/// Numbers of a user's file in the same form; also a bare array of rows, or an object with "rows", which make
/// one table "given". Throws InputError.
Paper read_baselines(const std::filesystem::path& path);

/// `paper` with the machines, data sets and facts of `more` before its own.
Paper with(const Paper& more, Paper paper);

}  // namespace gnomon::reproduce
