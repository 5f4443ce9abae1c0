# What goes into the wheel: the library, Highway, and, where they can be built, the program with all libraries that it
# needs but those of glibc.
add_custom_target(gnomon_wheel DEPENDS gnomon_c_api)
set_target_properties(gnomon_c_api PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS gnomon_c_api LIBRARY DESTINATION gnomon COMPONENT python)
install(FILES $<TARGET_FILE:hwy::hwy> DESTINATION gnomon COMPONENT python RENAME $<TARGET_SONAME_FILE_NAME:hwy::hwy>)

# gnomon_install_program(TARGET): into gnomon/bin, its libraries into gnomon/libs.
function(gnomon_install_program target)
  add_dependencies(gnomon_wheel ${target})
  # As RPATH, not RUNPATH: the libraries find each other by it too.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH $ORIGIN/../libs)
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS ${target} RUNTIME DESTINATION gnomon/bin COMPONENT python)
  install(CODE "set(program \"$<TARGET_FILE:${target}>\")" COMPONENT python)
  install(CODE [[
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} RESOLVED_DEPENDENCIES_VAR libraries
      PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+])[.]so")
    set(folder $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/gnomon/libs)
    file(MAKE_DIRECTORY ${folder})
    foreach(library IN LISTS libraries)
      get_filename_component(name ${library} NAME)
      file(REAL_PATH ${library} file)
      file(COPY_FILE ${file} ${folder}/${name} ONLY_IF_DIFFERENT)
    endforeach()
  ]] COMPONENT python)
endfunction()
