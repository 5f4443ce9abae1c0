#include "apps/flags/field_flags.h"

#include <utility>

#include "tuner/explore/patch.h"

namespace gnomon::apps {

FieldFlags::FieldFlags(CLI::App& app, base::Json defaults, const std::vector<FieldFlag>& flags)
    : defaults_(std::move(defaults)) {
  for (const auto& flag : flags) {
    const auto& present = tuner::field_at(defaults_, flag.path, flag.names);
    auto& text = given_[flag.path];
    names_[flag.path] = flag.names;
    if (present.is_boolean()) {
      app.add_flag(flag.names, text, flag.help);
    } else {
      app.add_option(flag.names, text, flag.help)
          ->type_name(present.is_string()           ? "TEXT"
                      : present.is_number_integer() ? "INT"
                                                    : "NUMBER")
          ->default_str(present.is_string() ? present.get<std::string>() : present.dump());
    }
  }
}

std::map<std::string, std::string> FieldFlags::named() const {
  auto named = names_;
  std::erase_if(named, [&](const auto& name) { return given_.at(name.first).empty(); });
  return named;
}

base::Json FieldFlags::patched() const {
  auto document = defaults_;
  for (const auto& [path, text] : given_) {
    if (!text.empty()) {
      auto& field = tuner::field_at(document, path, path);
      field = tuner::value_like(field, text);
    }
  }
  return document;
}

}  // namespace gnomon::apps
