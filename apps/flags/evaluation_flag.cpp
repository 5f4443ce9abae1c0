#include "apps/flags/evaluation_flag.h"

#include <string>

namespace gnomon::apps {

void add_evaluate_every(CLI::App& app, std::int64_t& epochs) {
  const auto read = [&epochs](const std::string& text) {
    if (text == "never") {
      epochs = 0;
    } else if (!CLI::detail::lexical_cast(text, epochs) || epochs < 1) {
      throw CLI::ParseError("--evaluate-every: \"" + text + "\" is neither a number of epochs nor \"never\"",
                            CLI::ExitCodes::ConversionError);
    }
  };
  app.add_option_function<std::string>("--evaluate-every", read,
                                       "Evaluate on the validation vertices every N epochs; "
                                       "\"never\" also skips the test vertices")
      ->type_name("N|never")
      ->default_str("1");
}

}  // namespace gnomon::apps
