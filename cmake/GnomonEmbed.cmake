# gnomon_embed_json(FOLDER KIND HEADER), gnomon_embed_files(FOLDER KIND HEADER): put all JSON files, or all files, of a folder into the program, so that it needs none
# beside it. HEADER declares the function that returns their names and texts,
#   std::vector<std::pair<std::string_view, std::string_view>> KIND_files(),
# in the namespace of its layer (HEADER is LAYER/…; the library is gnomon_LAYER).
function(gnomon_embed_json folder kind header)
  gnomon_embed(${folder} *.json ${kind} ${header})
endfunction()
function(gnomon_embed_files folder kind header)
  gnomon_embed(${folder} * ${kind} ${header})
endfunction()

function(gnomon_embed folder pattern kind header)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${pattern})
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME)
    string(APPEND entries "      {\"${name}\", R\"file(${text})file\"},\n")
  endforeach()
  get_filename_component(layer ${header} DIRECTORY)
  set(source ${PROJECT_BINARY_DIR}/${kind}_files.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "@header@"

namespace gnomon::@layer@ {

std::vector<std::pair<std::string_view, std::string_view>> @kind@_files() {
  return {
@entries@  };
}

}  // namespace gnomon::@layer@
]])
  target_sources(gnomon_${layer} PRIVATE ${source})
endfunction()
