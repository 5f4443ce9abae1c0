# Embeds profiles/catalog/*.json into the program (profiles/catalog_files.h), so that it needs no files beside it.
file(GLOB catalog_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/profiles/catalog/*.json)
list(SORT catalog_files)
set(catalog_entries "")
foreach(file IN LISTS catalog_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  string(APPEND catalog_entries "      {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/catalog_files.cpp @ONLY CONTENT [[
#include "profiles/catalog_files.h"

namespace gnomon::profiles {

std::vector<std::pair<std::string_view, std::string_view>> catalog_files() {
  return {
@catalog_entries@  };
}

}  // namespace gnomon::profiles
]])
target_sources(gnomon_profiles PRIVATE ${PROJECT_BINARY_DIR}/catalog_files.cpp)
