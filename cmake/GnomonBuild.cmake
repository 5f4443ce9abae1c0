# Compiler settings of all our targets, and the two functions that make them.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(GNOMON_SANITIZE "" CACHE STRING "Sanitizers of all targets, as -fsanitize takes them (address,undefined or thread)")

find_program(GNOMON_CCACHE ccache)
if(GNOMON_CCACHE)
  # Precompiled headers differ in their time stamps only.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${GNOMON_CCACHE})
endif()
find_program(GNOMON_MOLD mold)
if(GNOMON_MOLD)
  # Where thread-local data is what begins the part that is read-only after relocation, mold 1.10 lets that part
  # begin on a page that is not mapped, and the program cannot be loaded.
  add_link_options(-fuse-ld=mold LINKER:-z,norelro)
endif()

add_library(gnomon_settings INTERFACE)
target_include_directories(gnomon_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(gnomon_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bugs 105651 and 105329: std::string's insert and operator+ warn wrongly when inlined, in three ways when the
  # headers are precompiled.
  target_compile_options(gnomon_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)
endif()
if(GNOMON_SANITIZE)
  target_compile_options(gnomon_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GNOMON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>
    # Here, as what a target says of itself stands before what it takes over, and the last option holds.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:$<TARGET_PROPERTY:GNOMON_CHECKS_MEMORY_ONLY>>>:-fno-sanitize=undefined>)
  target_link_options(gnomon_settings INTERFACE -fsanitize=${GNOMON_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The sanitizers' own code hides initialisations: GCC then warns wrongly, inside <regex> for one.
    target_compile_options(gnomon_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()

# gnomon_precompile(TARGET KIND): takes the headers of a kind precompiled, once for all targets of that kind and for the
# same optimisation. What is precompiled is only what costs more to parse than to load: of LibTorch that is ATen, as all
# of torch/torch.h leaves 4 s of pending template instantiations to each source.
set(GNOMON_STD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream>
  <functional> <iostream> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <sstream>
  <stdexcept> <string> <string_view> <thread> <utility> <variant> <vector>)
set(GNOMON_TEST_HEADERS <gtest/gtest.h> <gmock/gmock.h>)
set(GNOMON_PLAIN_HEADERS ${GNOMON_STD_HEADERS} <nlohmann/json.hpp>)
set(GNOMON_TORCH_HEADERS <ATen/ATen.h> ${GNOMON_PLAIN_HEADERS})
set(GNOMON_PLAIN_TEST_HEADERS ${GNOMON_PLAIN_HEADERS} ${GNOMON_TEST_HEADERS})
set(GNOMON_TORCH_TEST_HEADERS ${GNOMON_TORCH_HEADERS} ${GNOMON_TEST_HEADERS})
set(GNOMON_APPS_HEADERS ${GNOMON_PLAIN_HEADERS} <CLI/CLI.hpp> <fmt/format.h>)
function(gnomon_precompile target kind)
  string(TOUPPER ${kind} upper)
  if(NOT TARGET gnomon_${kind}_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${kind}_headers.cpp CONTENT "")
    add_library(gnomon_${kind}_headers STATIC ${PROJECT_BINARY_DIR}/${kind}_headers.cpp)
    target_link_libraries(gnomon_${kind}_headers PRIVATE gnomon_settings)
    if(kind MATCHES torch)
      target_link_libraries(gnomon_${kind}_headers PRIVATE LibTorch::cpu)
    endif()
    if(kind MATCHES test)
      target_link_libraries(gnomon_${kind}_headers PRIVATE GTest::gmock)
    endif()
    if(kind STREQUAL apps)
      target_link_libraries(gnomon_${kind}_headers PRIVATE CLI11::CLI11 ${gnomon_fmt})
    endif()
    if(kind MATCHES "test|apps")
      gnomon_compile_quickly(gnomon_${kind}_headers)
    endif()
    if(kind MATCHES test)
      gnomon_check_memory_only(gnomon_${kind}_headers)
    endif()
    target_precompile_headers(gnomon_${kind}_headers PRIVATE ${GNOMON_${upper}_HEADERS})
    target_compile_options(gnomon_${kind}_headers PRIVATE -fpch-preprocess)
  endif()
  # The shared header is compiled as for a library: a program's -fPIE would not accept it.
  target_compile_options(${target} PRIVATE -fpch-preprocess -fPIC)
  target_precompile_headers(${target} REUSE_FROM gnomon_${kind}_headers)
endfunction()

# gnomon_unify(TARGET): compiles several sources at a time where GNOMON_UNITY is set, as each source costs seconds for what
# the precompiled headers leave to it. Names in the unnamed namespaces of sources of one folder must differ for that.
option(GNOMON_UNITY "Compile several sources at a time: faster from nothing, slower after a change" OFF)
function(gnomon_unify target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GNOMON_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(GNOMON_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # takes a source that is included for a header
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gnomon_compile_quickly(TARGET): optimises little, for code that takes longer to optimise than it ever runs. (Not at all would
# make the sanitizers' tests take four minutes instead of two and a half.)
function(gnomon_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)
endfunction()

# gnomon_check_memory_only(TARGET): of the sanitizers' checks leaves out those of undefined behaviour, which take most of
# the time to compile: for tests, whose own code is not what is checked.
function(gnomon_check_memory_only target)
  set_target_properties(${target} PROPERTIES GNOMON_CHECKS_MEMORY_ONLY ON)
endfunction()

# gnomon_sources(VARIABLE FOLDER [EXCLUDE folders…]): all C++ sources below a folder, but for those below the excluded ones.
function(gnomon_sources variable folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCLUDE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(excluded IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${excluded}/")
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# gnomon_library(NAME [TORCH] [UNIFY] [FOLDER folder] [EXCLUDE folders…] LINKS targets…): the library gnomon_NAME of all
# sources below a folder. Those on LibTorch are unified in any case. A library of which a program takes only what it links
# with, as the Python package of graph, is not.
function(gnomon_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;UNIFY" "FOLDER" "EXCLUDE;LINKS")
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  gnomon_sources(sources ${arg_FOLDER} EXCLUDE ${arg_EXCLUDE})
  if(NOT sources)
    add_library(gnomon_${name} INTERFACE)
    target_link_libraries(gnomon_${name} INTERFACE gnomon_settings ${arg_LINKS})
    return()
  endif()
  add_library(gnomon_${name} STATIC ${sources})
  target_link_libraries(gnomon_${name} PUBLIC gnomon_settings ${arg_LINKS})
  if(arg_TORCH)
    target_link_libraries(gnomon_${name} PUBLIC LibTorch::cpu)
    gnomon_precompile(gnomon_${name} torch)
  else()
    gnomon_precompile(gnomon_${name} plain)
  endif()
  if(arg_TORCH OR arg_UNIFY)
    gnomon_unify(gnomon_${name})
  endif()
endfunction()
