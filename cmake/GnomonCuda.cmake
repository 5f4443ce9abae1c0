# Whether the device kernels are built for CUDA, and why or why not. Sets GNOMON_WITH_CUDA and GNOMON_CUDA_REASON.
option(GNOMON_CUDA "Build the CUDA kernels when a CUDA compiler is found" ON)
set(GNOMON_CUDA_ARCHITECTURES "" CACHE STRING
  "What to compile the CUDA kernels for, as CMAKE_CUDA_ARCHITECTURES takes it; empty: 75, 80, 90 and newer by PTX")

set(GNOMON_WITH_CUDA FALSE)
if(NOT GNOMON_CUDA)
  set(GNOMON_CUDA_REASON "switched off by GNOMON_CUDA=OFF")
else()
  if(NOT CMAKE_CUDA_COMPILER)
    # Where toolkits stand that are not on the PATH.
    find_program(GNOMON_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(GNOMON_NVCC)
      set(CMAKE_CUDA_COMPILER ${GNOMON_NVCC})
    endif()
    mark_as_advanced(GNOMON_NVCC)
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    set(GNOMON_CUDA_REASON "no CUDA compiler (nvcc) found")
  else()
    if(GNOMON_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES ${GNOMON_CUDA_ARCHITECTURES})
    else()
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
      set(GNOMON_WITH_CUDA TRUE)
      set(GNOMON_CUDA_REASON "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
    else()
      set(GNOMON_CUDA_REASON "the CUDA compiler found does not compile")
    endif()
  endif()
endif()

# CMake 3.25 knows no C++20 for nvcc; the headers that .cu files share with the rest keep to C++17.
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

# gnomon_cuda_library(NAME FOLDER folder LINKS targets…): the library gnomon_NAME of all CUDA sources in a folder.
function(gnomon_cuda_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "LINKS")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*.cu)
  add_library(gnomon_${name} STATIC ${sources})
  target_link_libraries(gnomon_${name} PUBLIC ${arg_LINKS})
  # The toolkit from PyPI keeps its libraries in lib, where nvcc's own settings say lib64.
  cmake_path(GET CMAKE_CUDA_COMPILER PARENT_PATH toolkit)
  cmake_path(GET toolkit PARENT_PATH toolkit)
  if(EXISTS ${toolkit}/lib/libcudart_static.a)
    target_link_directories(gnomon_${name} PUBLIC ${toolkit}/lib)
  endif()
  # The rules that the device shares with the CPU are constexpr functions.
  target_compile_options(gnomon_${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Werror=all-warnings -Xcompiler=-Wall,-Wextra>)
endfunction()

if(GNOMON_WITH_CUDA)
  message(STATUS "gnomon: with CUDA (${GNOMON_CUDA_REASON})")
else()
  message(STATUS "gnomon: without CUDA (${GNOMON_CUDA_REASON})")
endif()
