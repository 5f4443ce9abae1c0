#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "base/size.h"

namespace gnomon::apps {

/// Declares an option for a size in bytes, whose units are those of base::parse_size. `bytes` is any number.
template <class Number>
CLI::Option* add_size(CLI::App& app, const std::string& name, Number& bytes, const std::string& help) {
  const auto read = [&bytes, name](const std::string& text) {
    try {
      bytes = static_cast<Number>(base::parse_size(name, text));
    } catch (const base::InputError& error) {
      throw CLI::ParseError(error.what(), CLI::ExitCodes::ConversionError);
    }
  };
  auto* option = app.add_option_function<std::string>(
      name, read, help + "; a size is in " + std::string(base::size_units));
  return option->type_name("SIZE");
}

}  // namespace gnomon::apps
