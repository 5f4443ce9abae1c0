#include "tuner/search/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace gnomon::tuner {
namespace {

constexpr const char* schema = "gnomon.journal/1";

/// What of a prediction a search and its report need. An epoch of a plan that does not fit is infinite, which
/// JSON cannot say.
struct Record {
  sim::Prediction prediction;
  bool fits = true;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    auto& p = self.prediction;
    f("fits", self.fits);
    f("epoch_s", p.epoch_s);
    f("lower_bound_s", p.lower_bound_s);
    f("cpu_utilisation", p.cpu_utilisation);
    f("link_utilisation", p.link_utilisation);
    f("device_utilisation", p.device_utilisation);
    f("blocked_on_cpu_s", p.blocked_on_cpu_s);
    f("blocked_on_device_s", p.blocked_on_device_s);
    f("cpu_batches", p.cpu_batches);
    f("bound_by", p.bound_by);
  }
};

base::Json json_of(sim::Prediction prediction) {
  Record record{std::move(prediction)};
  record.fits = std::isfinite(record.prediction.epoch_s);
  if (!record.fits) {
    record.prediction.epoch_s = record.prediction.lower_bound_s = 0;
  }
  return base::write_value(record);
}

sim::Prediction prediction_of(const base::Json& json, const std::string& where) {
  Record record;
  base::read_value(json, record, where, {});
  if (!record.fits) {
    record.prediction.epoch_s = record.prediction.lower_bound_s = std::numeric_limits<double>::infinity();
  }
  return record.prediction;
}

/// Where two objects first differ, as a path; empty when they are equal.
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
        throw base::InputError(where, "is of another search: \"" + first_difference(search, line) +
                                          "\" differs; take another file, or remove this one to begin anew");
      }
    } else if (line.is_object() && line.contains("plan") && line.contains("prediction")) {
      known_.emplace_back(line["plan"], prediction_of(line["prediction"], where + ": prediction"));
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

void Journal::append(const base::Json& line) {
  const std::string text = line.dump() + "\n";
  if (write(descriptor_, text.data(), text.size()) != std::ssize(text)) {
    throw base::Failure(path_.string(), std::strerror(errno));
  }
}

EvaluateAll Journal::recording(EvaluateAll evaluate) {
  return [this, evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
    std::vector<sim::Prediction> predictions;
    std::size_t first = 0;
    for (; first < plans.size() && next_ < known_.size(); ++first, ++next_) {
      if (known_[next_].first != base::write_value(plans[first])) {
        throw base::InputError(
            path_.string() + ": line " + std::to_string(next_ + 2),
            "holds another plan than this search asks for; another version of gnomon wrote it");
      }
      predictions.push_back(known_[next_].second);
    }
    if (first == plans.size()) {
      return predictions;
    }
    const auto fresh = evaluate({plans.begin() + static_cast<std::ptrdiff_t>(first), plans.end()});
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      append({{"plan", base::write_value(plans[first + i])}, {"prediction", json_of(fresh[i])}});
      predictions.push_back(fresh[i]);
    }
    return predictions;
  };
}

}  // namespace gnomon::tuner
