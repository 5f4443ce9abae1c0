# Embeds plan/presets/*.json into the program (plan/presets.h), so that it needs no files beside it.
file(GLOB preset_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plan/presets/*.json)
list(SORT preset_files)
set(preset_entries "")
foreach(file IN LISTS preset_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  string(APPEND preset_entries "      {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/preset_files.cpp @ONLY CONTENT [[
#include "plan/presets.h"

namespace gnomon::plan {

std::vector<std::pair<std::string_view, std::string_view>> preset_files() {
  return {
@preset_entries@  };
}

}  // namespace gnomon::plan
]])
target_sources(gnomon_plan PRIVATE ${PROJECT_BINARY_DIR}/preset_files.cpp)
