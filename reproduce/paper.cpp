#include "reproduce/paper.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "reproduce/paper_files.h"

namespace gnomon::reproduce {
namespace {

using base::InputError;
using base::Json;

/// Keys of a row that hold a number and name its metric.
constexpr std::string_view number_keys[] = {"epoch_s", "iteration_ms"};

[[noreturn]] void wrong(const std::string& where, const std::string& expected, const Json& found) {
  throw InputError(where, "must be " + expected + ", not " + std::string(found.type_name()));
}

const Json& array_at(const Json& object, const char* key, const std::string& where) {
  const Json& array = object.at(key);
  if (!array.is_array()) {
    wrong(where + "." + key, "an array", array);
  }
  return array;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The number of a row and its metric; none in a row without a number.
std::optional<std::pair<std::string, double>> number_of(const Json& row, const std::string& where) {
  const auto number = [&](std::string_view key) -> std::optional<double> {
    const auto found = row.find(std::string(key));
    if (found == row.end() || found->is_null()) {
      return std::nullopt;
    }
    if (!found->is_number()) {
      wrong(where + "." + std::string(key), "a number", *found);
    }
    return found->get<double>();
  };
  const std::string metric = text_of(row, "metric");
  if (!metric.empty()) {
    if (const auto value = number("value")) {
      return std::pair(metric, *value);
    }
    return std::nullopt;
  }
  for (const auto key : number_keys) {
    if (const auto value = number(key)) {
      return std::pair(std::string(key), *value);
    }
  }
  return std::nullopt;
}

void add_row(Paper& paper, const std::string& table, const Json& row, const std::string& where) {
  if (!row.is_object()) {
    wrong(where, "an object", row);
  }
  const auto number = number_of(row, where);
  if (!number) {
    return;
  }
  Fact fact{{}, number->second};
  for (const auto& [key, value] : row.items()) {
    if (value.is_string()) {
      fact.labels[key] = value.get<std::string>();
    } else if (value.is_number_integer() && key != "value") {
      fact.labels[key] = value.dump();
    }
  }
  fact.labels.try_emplace("table", table);
  fact.labels["metric"] = number->first;
  paper.facts.push_back(std::move(fact));
}

void add_rows(Paper& paper, const std::string& table, const Json& rows, const std::string& where) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    add_row(paper, table, rows[i], where + "[" + std::to_string(i) + "]");
  }
}

std::vector<Entry> entries(const Json& document, const char* key, const std::string& where) {
  std::vector<Entry> all;
  if (!document.contains(key)) {
    return all;
  }
  const Json& array = array_at(document, key, where);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::string here = where + "." + key + "[" + std::to_string(i) + "]";
    if (!array[i].is_object()) {
      wrong(here, "an object", array[i]);
    }
    const std::string name = text_of(array[i], "id");
    if (name.empty()) {
      throw InputError(here + ".id", "is missing; it names what the rows speak of");
    }
    all.push_back({name, array[i]});
  }
  return all;
}

const Entry* find_entry(const std::vector<Entry>& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

bool has_all(const Fact& fact, const Labels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const auto found = fact.labels.find(label.first);
    return found != fact.labels.end() && found->second == label.second;
  });
}

std::string stem_of(std::string_view file) { return std::string(file.substr(0, file.find('.'))); }

}  // namespace

double Entry::number(const char* key, double otherwise) const {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_number() ? found->get<double>() : otherwise;
}

const Fact* Paper::find_fact(const Labels& wanted) const {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return has_all(fact, wanted); });
  return found == facts.end() ? nullptr : &*found;
}

std::optional<double> Paper::find(const Labels& wanted) const {
  const Fact* fact = find_fact(wanted);
  return fact == nullptr ? std::nullopt : std::optional(fact->value);
}

double Paper::at(const Labels& wanted) const {
  if (const auto found = find(wanted)) {
    return *found;
  }
  std::string text;
  for (const auto& [label, value] : wanted) {
    text += " " + label + "=" + value;
  }
  throw base::Failure("paper " + name, "there is no number with" + text);
}

std::vector<std::string> Paper::values(std::string_view label, const Labels& wanted) const {
  std::vector<std::string> all;
  for (const Fact& fact : facts) {
    const auto found = fact.labels.find(label);
    if (found != fact.labels.end() && has_all(fact, wanted) &&
        std::find(all.begin(), all.end(), found->second) == all.end()) {
      all.push_back(found->second);
    }
  }
  return all;
}

const Entry* Paper::machine(std::string_view wanted) const { return find_entry(machines, wanted); }
const Entry* Paper::dataset(std::string_view wanted) const { return find_entry(datasets, wanted); }

Paper parse_paper(const Json& document, const std::string& where) {
  if (!document.is_object()) {
    wrong(where, "an object", document);
  }
  Paper paper;
  paper.name = text_of(document, "name");
  paper.source = text_of(document, "source");
  paper.machines = entries(document, "machines", where);
  paper.datasets = entries(document, "datasets", where);
  if (document.contains("rows")) {
    add_rows(paper, "given", array_at(document, "rows", where), where + ".rows");
  }
  if (document.contains("tables")) {
    const Json& tables = array_at(document, "tables", where);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const std::string here = where + ".tables[" + std::to_string(i) + "]";
      if (!tables[i].is_object() || !tables[i].contains("rows")) {
        throw InputError(here + ".rows", "is missing");
      }
      add_rows(paper, text_of(tables[i], "id"), array_at(tables[i], "rows", here), here + ".rows");
    }
  }
  return paper;
}

Paper find_paper(std::string_view name) {
  std::string known;
  for (const auto& [file, text] : paper_files()) {
    if (stem_of(file) == name) {
      Json document = base::parse_json(text, std::string(file));
      base::take_schema(document, Paper::schema, std::string(file));
      return parse_paper(document, std::string(file));
    }
    known += (known.empty() ? "" : ", ") + stem_of(file);
  }
  throw InputError("\"" + std::string(name) + "\" is not a paper that gnomon knows; use one of " + known);
}

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const auto& [file, text] : paper_files()) {
    names.push_back(stem_of(file));
  }
  return names;
}

Paper read_baselines(const std::filesystem::path& path) {
  Json document = base::parse_json(base::read_file(path), path.string());
  if (document.is_array()) {
    document = Json{{"rows", std::move(document)}};
  }
  Paper paper = parse_paper(document, path.string());
  if (paper.facts.empty()) {
    throw InputError(path.string(),
                     "has no rows with numbers; give {\"rows\": [{\"machine\": …, \"model\": …, "
                     "\"dataset\": …, \"system\": …, \"epoch_s\": …}, …]}");
  }
  return paper;
}

Paper with(const Paper& more, Paper paper) {
  paper.machines.insert(paper.machines.begin(), more.machines.begin(), more.machines.end());
  paper.datasets.insert(paper.datasets.begin(), more.datasets.begin(), more.datasets.end());
  paper.facts.insert(paper.facts.begin(), more.facts.begin(), more.facts.end());
  return paper;
}

}  // namespace gnomon::reproduce
