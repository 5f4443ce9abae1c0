#include "apps/text/page.h"

#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "serve/page_files.h"

namespace gnomon::apps {
namespace {

/// JSON for use within a script element, which nothing in it can end.
std::string script_text(const base::Json& json) {
  std::string text = json.dump();
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at)) {
    text.replace(at, 2, "<\\/");
  }
  return text;
}

}  // namespace

void require_charts() {
  if (serve::chart_library().empty()) {
    throw base::InputError(
        "--html", "this gnomon was built without Chart.js; install libjs-chart.js and build it again");
  }
}

void write_page(const std::filesystem::path& path, const Page& page, const base::Json& data) {
  require_charts();
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  text.append(page.title).append("</title>\n<style>\n").append(serve::page_file("style.css"));
  text.append("</style>\n<script>").append(serve::chart_library());
  text.append("</script>\n</head>\n<body>\n")
      .append(page.body)
      .append("<script>\n")
      .append(serve::page_file("common.js"));
  text.append("const data = ").append(script_text(data)).append(";\n").append(page.script);
  text.append("</script>\n</body>\n</html>\n");
  base::write_file_atomically(path, text);
}

}  // namespace gnomon::apps
