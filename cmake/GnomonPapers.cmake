# Embeds profiles/papers/*.json into the program (reproduce/paper_files.h), so that it needs no files beside it.
file(GLOB paper_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/profiles/papers/*.json)
list(SORT paper_files)
set(paper_entries "")
foreach(file IN LISTS paper_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  string(APPEND paper_entries "      {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/paper_files.cpp @ONLY CONTENT [[
#include "reproduce/paper_files.h"

namespace gnomon::reproduce {

std::vector<std::pair<std::string_view, std::string_view>> paper_files() {
  return {
@paper_entries@  };
}

}  // namespace gnomon::reproduce
]])
target_sources(gnomon_reproduce PRIVATE ${PROJECT_BINARY_DIR}/paper_files.cpp)
