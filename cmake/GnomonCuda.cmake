# Whether the device kernels are built for CUDA, and why or why not: GNOMON_WITH_CUDA and GNOMON_CUDA_REASON. Whether models
# can train on CUDA tensors, which takes LibTorch's CUDA libraries (found before) and all that they need:
# GNOMON_WITH_TORCH_CUDA and GNOMON_TORCH_CUDA_REASON.
option(GNOMON_CUDA "Build the CUDA kernels when a CUDA compiler is found" ON)
set(GNOMON_CUDA_ARCHITECTURES "" CACHE STRING
  "What to compile the CUDA kernels for, as CMAKE_CUDA_ARCHITECTURES takes it; empty: 75, 80, 90 and newer by PTX")

set(GNOMON_WITH_CUDA FALSE)
if(CMAKE_CUDA_COMPILER MATCHES "NOTFOUND$")
  unset(CMAKE_CUDA_COMPILER CACHE)  # a toolkit may have come since
endif()
if(DEFINED ENV{CUDACXX})
  set(GNOMON_NVCC $ENV{CUDACXX} CACHE FILEPATH "The CUDA compiler that was found" FORCE)
else()
  find_program(GNOMON_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
endif()
mark_as_advanced(GNOMON_NVCC)

if(NOT GNOMON_CUDA)
  set(GNOMON_CUDA_REASON "switched off by GNOMON_CUDA=OFF")
elseif(NOT CMAKE_CUDA_COMPILER AND NOT GNOMON_NVCC)
  set(GNOMON_CUDA_REASON "no CUDA compiler (nvcc) found")
else()
  if(GNOMON_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${GNOMON_CUDA_ARCHITECTURES})
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  endif()
  # Tried beside this build first: a compiler that does not work must not end it.
  if(NOT CMAKE_CUDA_COMPILER)
    set(ENV{CUDACXX} ${GNOMON_NVCC})
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(GNOMON_WITH_CUDA TRUE)
    set(GNOMON_CUDA_REASON "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
  else()
    set(GNOMON_CUDA_REASON "${GNOMON_NVCC} was found but does not work")
  endif()
endif()

# One CUDA runtime a process: LibTorch brings the shared one.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)

# CMake 3.25 knows no C++20 for nvcc; the headers that .cu files share with the rest keep to C++17.
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

# gnomon_cuda_library(NAME FOLDER folder LINKS targets…): the library gnomon_NAME of all CUDA sources in a folder.
function(gnomon_cuda_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "LINKS")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*.cu)
  add_library(gnomon_${name} STATIC ${sources})
  target_link_libraries(gnomon_${name} PUBLIC ${arg_LINKS})
  # The rules that the device shares with the CPU are constexpr functions.
  target_compile_options(gnomon_${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -lineinfo -Werror=all-warnings -Xcompiler=-Wall,-Wextra>)
  set_target_properties(gnomon_${name} PROPERTIES CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas_info.sh)
endfunction()

if(GNOMON_WITH_CUDA)
  message(STATUS "gnomon: with CUDA (${GNOMON_CUDA_REASON})")
else()
  message(STATUS "gnomon: without CUDA (${GNOMON_CUDA_REASON})")
endif()

# Sets `missing` to the libraries that `library` needs and that are not there.
function(gnomon_missing_libraries library missing)
  execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE needed ERROR_VARIABLE error RESULT_VARIABLE status)
  string(REGEX MATCHALL "[^ \t\n]+ => not found" lines "${needed}")
  list(TRANSFORM lines REPLACE " => not found" "")
  if(NOT status EQUAL 0)
    list(APPEND lines "ldd: ${error}")
  endif()
  list(JOIN lines ", " lines)
  set(${missing} "${lines}" PARENT_SCOPE)
endfunction()

set(GNOMON_WITH_TORCH_CUDA FALSE)
if(NOT GNOMON_WITH_CUDA)
  set(GNOMON_TORCH_CUDA_REASON ${GNOMON_CUDA_REASON})
elseif(NOT TARGET LibTorch::cuda)
  set(GNOMON_TORCH_CUDA_REASON "LibTorch was built without CUDA")
else()
  gnomon_missing_libraries(${LIBTORCH_CUDA_LIBRARY} missing)
  if(missing)
    set(GNOMON_TORCH_CUDA_REASON "${LIBTORCH_CUDA_LIBRARY} cannot be loaded; missing: ${missing}")
  else()
    set(GNOMON_WITH_TORCH_CUDA TRUE)
    set(GNOMON_TORCH_CUDA_REASON "LibTorch ${LibTorch_VERSION}")
  endif()
endif()
if(GNOMON_WITH_TORCH_CUDA)
  message(STATUS "gnomon: training on CUDA devices (${GNOMON_TORCH_CUDA_REASON})")
else()
  message(STATUS "gnomon: no training on CUDA devices (${GNOMON_TORCH_CUDA_REASON})")
endif()
