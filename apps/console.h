#pragma once

#include <optional>
#include <string>

#include "apps/progress_bar.h"
#include "base/progress.h"

namespace gnomon::apps {

/// Text on stdout and a progress bar on stderr that makes way for it. One thread uses it.
class Console {
 public:
  /// A quiet console prints no text, as stdout will carry one document.
  explicit Console(bool quiet) : quiet_(quiet) {}

  /// How the libraries report to the bar. The console must outlive the result.
  base::Progress progress();
  /// Wipes the bar and prints the text.
  void say(const std::string& text);
  /// Wipes the bar.
  void wipe() { bar_.reset(); }

 private:
  bool quiet_;
  std::optional<ProgressBar> bar_;
};

}  // namespace gnomon::apps
