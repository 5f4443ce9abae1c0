#pragma once

#include <filesystem>
#include <string_view>

#include "base/document.h"

namespace gnomon::apps {

/// A page with charts beside its data.
struct Page {
  std::string_view title;
  std::string_view body;    ///< HTML
  std::string_view script;  ///< draws `data` with the functions of serve/page/common.js
};

/// Throws InputError if gnomon was built without Chart.js, so that no charts can be drawn.
void require_charts();

/// Writes the page as one file that needs no network. Atomic. Throws InputError as require_charts(), and
/// base::Failure.
void write_page(const std::filesystem::path& path, const Page& page, const base::Json& data);

}  // namespace gnomon::apps
