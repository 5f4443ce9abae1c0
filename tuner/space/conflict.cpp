#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {
namespace {

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

/// The parts of a request that can be omitted.
struct Parts {
  std::vector<std::string> names;
  std::vector<bool> kept;
};

Parts parts_of(const SpaceRequest& request) {
  Parts parts;
  for (const auto& constraint : request.constraints) {
    parts.names.push_back(constraint.name);
  }
  for (const auto& [path, texts] : request.values) {
    std::string name = path + " = ";
    for (const auto& text : texts) {
      name += (&text == &texts.front() ? "" : " or ") + text;
    }
    parts.names.push_back(name);
  }
  parts.kept.assign(parts.names.size(), true);
  return parts;
}

SpaceRequest request_of(const SpaceRequest& whole, const std::vector<bool>& kept) {
  SpaceRequest request{whole.cores, whole.batches, {}, {}};
  std::size_t part = 0;
  for (const auto& constraint : whole.constraints) {
    if (kept[part++]) {
      request.constraints.push_back(constraint);
    }
  }
  for (const auto& value : whole.values) {
    if (kept[part++]) {
      request.values.insert(value);
    }
  }
  return request;
}

bool holds_plans(const SpaceRequest& request) {
  try {
    const Space space(request);
    return true;
  } catch (const NoPlans&) {
    return false;
  }
}

/// Finds a minimal conflicting set of parts: omitting any one of them leaves some plans.
std::string conflict_of(const SpaceRequest& request) {
  Parts parts = parts_of(request);
  for (std::size_t part = 0; part < parts.kept.size(); ++part) {
    parts.kept[part] = false;
    if (holds_plans(request_of(request, parts.kept))) {
      parts.kept[part] = true;
    }
  }
  std::vector<std::string> names;
  for (std::size_t part = 0; part < parts.kept.size(); ++part) {
    if (parts.kept[part]) {
      names.push_back(in_quotes(parts.names[part]));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text + (names.size() > 1 ? " exclude each other" : " excludes every plan");
}

}  // namespace

Space make_space(const SpaceRequest& request) {
  try {
    return Space(request);
  } catch (const NoPlans&) {
    throw base::InputError("no plan is left", conflict_of(request));
  }
}

}  // namespace gnomon::tuner
