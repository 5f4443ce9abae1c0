# The libraries of what trains: those that link LibTorch or CUDA.
find_package(LibTorch 2.6 REQUIRED)
include(GnomonCuda)

if(GNOMON_WITH_CUDA)
  gnomon_cuda_library(kernels_cuda FOLDER kernels/cuda LINKS gnomon_kernels)
  # The same bits, fused or one by one: a product that is kept is rounded before it is added. They wait for memory.
  set_source_files_properties(kernels/cuda/cross_entropy.cu kernels/cuda/gat.cu kernels/cuda/gcn.cu kernels/cuda/sparse.cu kernels/cuda/stored.cu PROPERTIES COMPILE_OPTIONS -fmad=false)
endif()
# What of nn and runtime needs LibTorch's CUDA libraries, and what stands there without. A program takes the former where they
# can be loaded, and everywhere if its property GNOMON_LINKS_CUDA is set (cmake/GnomonKit.cmake).
set(GNOMON_LINKS_CUDA "$<OR:$<BOOL:${GNOMON_WITH_TORCH_CUDA}>,$<BOOL:$<TARGET_PROPERTY:GNOMON_LINKS_CUDA>>>")

# gnomon_cuda_part(NAME WITH sources… WITHOUT sources… LINKS targets…): both parts of the library gnomon_NAME.
function(gnomon_cuda_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "WITH;WITHOUT;LINKS")
  add_library(gnomon_${name}_no_cuda STATIC ${arg_WITHOUT})
  target_link_libraries(gnomon_${name}_no_cuda PUBLIC gnomon_${name})
  gnomon_precompile(gnomon_${name}_no_cuda torch)
  if(GNOMON_WITH_CUDA)
    add_library(gnomon_${name}_cuda STATIC EXCLUDE_FROM_ALL ${arg_WITH})
    target_link_libraries(gnomon_${name}_cuda PUBLIC gnomon_${name} gnomon_kernels_cuda ${arg_LINKS})
    gnomon_precompile(gnomon_${name}_cuda torch)
  endif()
  # Each of the two libraries needs the other: linkers see static ones twice then.
  target_link_libraries(gnomon_${name} INTERFACE $<IF:${GNOMON_LINKS_CUDA},gnomon_${name}_cuda,gnomon_${name}_no_cuda>)
endfunction()

set(gnomon_torch_cuda CUDA::toolkit)
if(TARGET LibTorch::cuda)
  list(APPEND gnomon_torch_cuda LibTorch::cuda)
endif()
gnomon_library(nn TORCH EXCLUDE nn/cuda LINKS gnomon_sparse gnomon_plan)
gnomon_cuda_part(nn WITH nn/cuda/kernels.cpp nn/cuda/launch_graph.cpp WITHOUT nn/cuda/no_kernels.cpp LINKS ${gnomon_torch_cuda})
# at::parallel_for is a template that needs OpenMP where it is used; the precompiled headers are made without.
set_source_files_properties(nn/parallel.cpp nn/dense/chunks.cpp
  PROPERTIES COMPILE_OPTIONS -fopenmp SKIP_PRECOMPILE_HEADERS ON)
target_link_options(gnomon_nn PUBLIC -fopenmp)
gnomon_library(runtime TORCH EXCLUDE runtime/cuda runtime/no_gpu runtime/uring runtime/no_uring
  LINKS gnomon_schedule gnomon_nn)
if(liburing_FOUND)
  target_sources(gnomon_runtime PRIVATE ${PROJECT_SOURCE_DIR}/runtime/uring/open_uring_queue.cpp)
  target_link_libraries(gnomon_runtime PRIVATE PkgConfig::liburing)
else()
  message(STATUS "liburing not found: threads read the disk")
  target_sources(gnomon_runtime PRIVATE ${PROJECT_SOURCE_DIR}/runtime/no_uring/open_uring_queue.cpp)
endif()
file(GLOB gpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/cuda/*.cpp)
gnomon_cuda_part(runtime WITH ${gpu_sources} WITHOUT runtime/no_gpu/open_cuda_device.cpp LINKS ${gnomon_torch_cuda})
