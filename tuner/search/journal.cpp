#include "tuner/search/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/write_all.h"
#include "sim/prediction.h"

namespace gnomon::tuner {
namespace {

constexpr const char* schema = "gnomon.journal/2";

// JSON has no infinities.
constexpr const char* infinite = "infinite";
constexpr const char* minus_infinite = "-infinite";

/// Calls `change` with every leaf value of `json`.
template <class Change>
void change_values(base::Json& json, const Change& change) {
  if (!json.is_structured()) {
    change(json);
    return;
  }
  for (auto& value : json) {
    change_values(value, change);
  }
}

base::Json json_of(const sim::Prediction& prediction) {
  auto json = base::write_value(prediction);
  change_values(json, [](base::Json& value) {
    if (value.is_number_float() && std::isinf(value.get<double>())) {
      value = value.get<double>() > 0 ? infinite : minus_infinite;
    }
  });
  return json;
}

sim::Prediction prediction_of(base::Json json, const std::string& where) {
  change_values(json, [](base::Json& value) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (value == infinite) {
      value = infinity;
    } else if (value == minus_infinite) {
      value = -infinity;
    }
  });
  sim::Prediction prediction;
  base::read_value(json, prediction, where, {});
  return prediction;
}

/// The path of the first difference between two objects; empty if they are equal.
std::string first_difference(const base::Json& a, const base::Json& b) {
  if (!a.is_object() || !b.is_object()) {
    return "";
  }
  for (const auto& [name, value] : a.items()) {
    if (!b.contains(name) || b[name] != value) {
      const auto inner = b.contains(name) ? first_difference(value, b[name]) : "";
      return inner.empty() ? name : name + "." + inner;
    }
  }
  return "";
}

}  // namespace

Journal::Journal(std::filesystem::path path, const base::Json& search) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw base::Failure(path_.string(), std::strerror(errno));
  }
  try {
    read(base::read_file(path_), search);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

Journal::~Journal() { close(descriptor_); }

void Journal::read(const std::string& text, const base::Json& search) {
  const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is none
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < whole; ++number) {
    const std::size_t end = text.find('\n', begin);
    const std::string where = path_.string() + ": line " + std::to_string(number + 1);
    base::Json line = base::parse_json(std::string_view(text).substr(begin, end - begin), where);
    begin = end + 1;
    if (number == 0) {
      base::take_schema(line, schema, where);
      if (line != search) {
        throw base::InputError(where, "records another search: \"" + first_difference(search, line) +
                                          "\" differs; name another file, or remove this one to start again");
      }
    } else if (line.is_object() && line.contains("plan") && line.contains("prediction")) {
      known_.insert_or_assign(line["plan"].dump(), prediction_of(line["prediction"], where + ": prediction"));
      ++resumed_;
    } else {
      throw base::InputError(where, "holds no plan and prediction");
    }
  }
  if (whole < text.size() && ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) {
    throw base::Failure(path_.string(), std::strerror(errno));
  }
  if (number == 0) {
    base::Json first = {{"schema", schema}};
    first.update(search);
    append(first);
  }
}

void Journal::append(const base::Json& line) { base::write_all(descriptor_, path_, line.dump() + "\n"); }

EvaluateAll Journal::recording(EvaluateAll evaluate) {
  return [this, evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
    std::vector<std::string> documents;
    std::vector<plan::Plan> unknown;
    for (const auto& plan : plans) {
      documents.push_back(base::write_value(plan).dump());
      if (!known_.contains(documents.back())) {
        unknown.push_back(plan);
      }
    }
    const auto fresh = unknown.empty() ? std::vector<sim::Prediction>{} : evaluate(unknown);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const auto document = base::write_value(unknown[i]);
      append({{"plan", document}, {"prediction", json_of(fresh[i])}});
      known_.insert_or_assign(document.dump(), fresh[i]);
    }
    std::vector<sim::Prediction> predictions;
    for (const auto& document : documents) {
      predictions.push_back(known_.at(document));
    }
    return predictions;
  };
}

}  // namespace gnomon::tuner
