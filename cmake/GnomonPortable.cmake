# GNOMON_PORTABLE=2.28: what is linked runs with that glibc and newer ones, whatever this system has (x86-64, GCC). Other
# libraries are linked statically, or come from wheels of PyPI that keep to the same limit (GNOMON_XGBOOST).
set(GNOMON_PORTABLE "" CACHE STRING "With GNOMON_ONLY_PYTHON: the oldest glibc that the package is to run with, or nothing for this system's")
set(GNOMON_XGBOOST "" CACHE PATH "With GNOMON_PORTABLE: where the wheel xgboost-cpu is unpacked; else there are no commands")
if(NOT GNOMON_PORTABLE)
  return()
endif()

if(NOT GNOMON_ONLY_PYTHON)
  message(FATAL_ERROR "GNOMON_PORTABLE is for the Python package (GNOMON_ONLY_PYTHON)")
endif()
enable_language(C)
set(portable ${PROJECT_SOURCE_DIR}/cmake/portable)
set(stubs ${PROJECT_BINARY_DIR}/glibc_stubs)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${portable}/glibc_stubs.py)
execute_process(COMMAND python3 ${portable}/glibc_stubs.py ${GNOMON_PORTABLE} ${stubs} COMMAND_ERROR_IS_FATAL ANY)
# Shared libraries of this system need symbols that the stubs lack. What programs link statically is not for the libraries
# that they load.
add_link_options(-L${stubs} -static-libstdc++ -shared-libgcc LINKER:--allow-shlib-undefined LINKER:--exclude-libs,ALL)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)

add_library(gnomon_newer_glibc OBJECT ${portable}/newer_glibc.c)
add_library(gnomon_start OBJECT ${portable}/start.c)
target_link_options(gnomon_start INTERFACE LINKER:--wrap=__libc_start_main)

# gnomon_make_portable(TARGET): links what the stubs alone do not give a shared library or a program.
function(gnomon_make_portable target)
  target_link_libraries(${target} PRIVATE gnomon_newer_glibc)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_libraries(${target} PRIVATE gnomon_start)
  endif()
endfunction()

if(GNOMON_XGBOOST)
  find_file(XGBOOST_LIBRARY libxgboost.so PATHS ${GNOMON_XGBOOST}/xgboost/lib REQUIRED NO_DEFAULT_PATH)
  add_library(xgboost_of_wheel SHARED IMPORTED)
  set_target_properties(xgboost_of_wheel PROPERTIES IMPORTED_LOCATION ${XGBOOST_LIBRARY})
endif()
