#include "serve/state.h"

#include <algorithm>

#include "base/error.h"
#include "reproduce/explored_profile.h"

namespace gnomon::serve {
namespace {

constexpr std::size_t max_plans = 64;
constexpr std::size_t max_settings = 64;

const base::Json& field_of(const base::Json& json, const char* name) {
  static const base::Json absent;
  const auto found = json.find(name);
  return found == json.end() ? absent : *found;
}

std::string optional_text(const base::Json& json, const char* name) {
  const auto& field = field_of(json, name);
  if (!field.is_null() && !field.is_string()) {
    throw base::InputError(name, "must be text");
  }
  return field.is_null() ? "" : field.get<std::string>();
}

const base::Json& array_in(const base::Json& json, const char* name, std::size_t max) {
  static const base::Json none = base::Json::array();
  const auto& field = field_of(json, name);
  if (field.is_null()) {
    return none;
  }
  if (!field.is_array() || field.size() > max) {
    throw base::InputError(name, "must be an array of at most " + std::to_string(max) + " elements");
  }
  return field;
}

std::string offered(const std::vector<std::string>& names, const std::string& name, const char* where) {
  if (std::ranges::find(names, name) == names.end()) {
    throw base::InputError(where, "\"" + name + "\" is not on offer");
  }
  return name;
}

plan::Plan preset(const std::string& name) {
  for (auto& plan : plan::presets()) {
    if (plan.name == name) {
      return plan;
    }
  }
  throw base::InputError("plans", "\"" + name + "\" is not a preset");
}

plan::Plan plan_of(const base::Json& json) {
  if (json.is_string()) {
    return preset(json.get<std::string>());
  }
  auto plan = base::from_document<plan::Plan>(json, "plans");
  plan::check(plan, "plan \"" + plan.name + "\"");
  return plan;
}

std::vector<tuner::Setting> settings_in(const base::Json& json) {
  std::vector<tuner::Setting> settings;
  if (json.is_null()) {
    return settings;
  }
  if (!json.is_object() || json.size() > max_settings) {
    throw base::InputError("settings",
                           "must be an object of at most " + std::to_string(max_settings) + " fields");
  }
  for (const auto& [path, value] : json.items()) {
    if (path.empty() || value.is_structured()) {
      throw base::InputError("settings", "\"" + path + "\" must be a number, a text or a truth value");
    }
    settings.push_back({path, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return settings;
}

}  // namespace

State read_state(const base::Json& json, const Offer& offer) {
  if (!json.is_object()) {
    throw base::InputError("state", "must be an object");
  }
  State state;
  state.profile = offered(offer.profiles, optional_text(json, "profile"), "profile");
  if (const auto machine = optional_text(json, "machine"); !machine.empty()) {
    state.machine = offered(offer.machines, machine, "machine");
  }
  for (const auto& plan : array_in(json, "plans", max_plans)) {
    state.plans.push_back(plan_of(plan));
  }
  if (state.plans.empty()) {
    state.plans = plan::presets();
  }
  for (const auto& name : array_in(json, "drawn", 2)) {
    if (name.is_string()) {
      state.drawn.push_back(name.get<std::string>());
    }
  }
  state.settings = settings_in(field_of(json, "settings"));
  if (const auto& seed = field_of(json, "seed"); !seed.is_null()) {
    base::read_value(seed, state.seed, "seed", {});
  }
  return state;
}

tuner::ExplorationRequest request_of(const State& state) {
  tuner::ExplorationRequest request;
  std::vector<tuner::Setting> names;
  if (!state.machine.empty()) {
    names.push_back({"machine", state.machine});
  }
  request.profiles.push_back(reproduce::explored_profile(state.profile, state.machine, std::move(names)));
  request.plans = state.plans;
  for (const auto& [path, value] : state.settings) {
    request.sweeps.push_back({path, {value}});
  }
  request.seed = state.seed;
  return request;
}

}  // namespace gnomon::serve
