#include "apps/flags/output_flag.h"

#include "base/error.h"
#include "base/output_file.h"

namespace gnomon::apps {

CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& file, const std::string& help) {
  const auto fault = [](const std::string& path) -> std::string {
    try {
      base::check_output(path);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  return app.add_option(names, file, help)->check(fault)->type_name("FILE");
}

}  // namespace gnomon::apps
