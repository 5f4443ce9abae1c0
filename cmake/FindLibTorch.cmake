# Imports LibTorch's libraries without its own CMake package, which refuses to load where no CUDA toolkit is installed.
# Searched: LIBTORCH_ROOT, CMAKE_PREFIX_PATH, the active Python's torch, then the project's private environment.
# Defines the target LibTorch::cpu and, when the libraries were built with CUDA, LibTorch::cuda.

set(libtorch_hints ${LIBTORCH_ROOT} ${CMAKE_PREFIX_PATH})
execute_process(
  COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
  OUTPUT_VARIABLE libtorch_of_python ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
list(APPEND libtorch_hints ${libtorch_of_python})
file(GLOB libtorch_private ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/torch)
list(APPEND libtorch_hints ${libtorch_private})

find_path(LIBTORCH_INCLUDE_DIR torch/csrc/api/include/torch/torch.h
  HINTS ${libtorch_hints} PATH_SUFFIXES include torch/include)
find_library(LIBTORCH_CPU_LIBRARY torch_cpu HINTS ${libtorch_hints} PATH_SUFFIXES lib torch/lib)
find_library(LIBTORCH_C10_LIBRARY c10 HINTS ${libtorch_hints} PATH_SUFFIXES lib torch/lib)
find_library(LIBTORCH_CUDA_LIBRARY torch_cuda HINTS ${libtorch_hints} PATH_SUFFIXES lib torch/lib)
find_library(LIBTORCH_C10_CUDA_LIBRARY c10_cuda HINTS ${libtorch_hints} PATH_SUFFIXES lib torch/lib)

if(LIBTORCH_INCLUDE_DIR AND EXISTS ${LIBTORCH_INCLUDE_DIR}/torch/headeronly/version.h)
  file(STRINGS ${LIBTORCH_INCLUDE_DIR}/torch/headeronly/version.h libtorch_lines
    REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]+" "" libtorch_numbers "${libtorch_lines}")
  list(JOIN libtorch_numbers "." LibTorch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY LIBTORCH_INCLUDE_DIR VERSION_VAR LibTorch_VERSION)

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION ${LIBTORCH_C10_LIBRARY})
  add_library(LibTorch::cpu SHARED IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    IMPORTED_LOCATION ${LIBTORCH_CPU_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${LIBTORCH_INCLUDE_DIR};${LIBTORCH_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES LibTorch::c10)
  # What torch_cpu itself needs stands beside it (its RPATH finds it); the linker need not.
  set_property(TARGET LibTorch::cpu APPEND PROPERTY INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined")
  if(LIBTORCH_CUDA_LIBRARY AND LIBTORCH_C10_CUDA_LIBRARY)
    add_library(LibTorch::c10_cuda SHARED IMPORTED)
    set_target_properties(LibTorch::c10_cuda PROPERTIES IMPORTED_LOCATION ${LIBTORCH_C10_CUDA_LIBRARY})
    add_library(LibTorch::cuda SHARED IMPORTED)
    set_target_properties(LibTorch::cuda PROPERTIES
      IMPORTED_LOCATION ${LIBTORCH_CUDA_LIBRARY} INTERFACE_LINK_LIBRARIES "LibTorch::c10_cuda;LibTorch::cpu"
      # It announces its operations to torch_cpu when it is loaded; no symbol of it is named.
      INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed")
  endif()
endif()
mark_as_advanced(LIBTORCH_INCLUDE_DIR LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY LIBTORCH_CUDA_LIBRARY LIBTORCH_C10_CUDA_LIBRARY)
