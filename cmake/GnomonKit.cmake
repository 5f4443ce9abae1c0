# The target gnomon_kit: programs for a machine with a GPU, linked with LibTorch's CUDA libraries even where these cannot be
# loaded, from the objects of this build. bench/gpu/pack.sh packs them.

# gnomon_kit_program(NAME): the program NAME once more, in kit/bin of the build.
function(gnomon_kit_program name)
  add_executable(kit_${name} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
  get_target_property(links ${name} LINK_LIBRARIES)
  target_link_libraries(kit_${name} PRIVATE ${links} LibTorch::cuda)
  set_target_properties(kit_${name} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX GNOMON_LINKS_CUDA TRUE
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/kit/bin BUILD_RPATH_USE_ORIGIN TRUE SKIP_BUILD_RPATH TRUE)
  target_link_options(kit_${name} PRIVATE "LINKER:-rpath,$ORIGIN/../lib")
  add_dependencies(gnomon_kit kit_${name})
endfunction()

if(GNOMON_WITH_CUDA AND TARGET LibTorch::cuda)
  find_package(GTest QUIET)  # imported targets are known in the folder that finds them only
  find_package(benchmark QUIET)
  add_custom_target(gnomon_kit DEPENDS gnomon)
  foreach(program gnomon-compute test_kernels_cuda test_runtime bench_gpu)
    if(TARGET ${program})
      gnomon_kit_program(${program})
    endif()
  endforeach()
endif()
