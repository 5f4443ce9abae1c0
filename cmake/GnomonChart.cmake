# Embeds Chart.js (MIT, https://www.chartjs.org) into the program (serve/page_files.h), so that its reports open without a
# network. Debian's libjs-chart.js has it; without it there are no HTML reports.
find_file(CHART_JS NAMES chart.min.js chart.umd.min.js chart.umd.js
  PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH)
set(chart_text "")
if(CHART_JS)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CHART_JS})
  file(READ ${CHART_JS} chart_text)
else()
  message(STATUS "Chart.js not found: no HTML reports (Debian: libjs-chart.js)")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/chart_library.cpp @ONLY CONTENT [[
#include "serve/page_files.h"

namespace gnomon::serve {

std::string_view chart_library() { return R"chart(@chart_text@)chart"; }

}  // namespace gnomon::serve
]])
target_sources(gnomon_serve PRIVATE ${PROJECT_BINARY_DIR}/generated/chart_library.cpp)
