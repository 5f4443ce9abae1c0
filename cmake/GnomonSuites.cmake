# gnomon_discover_suites(TARGET PREFIX prefix PROPERTIES properties…): one test of ctest for each test suite of a program of
# GoogleTest, found when ctest runs. For programs that take long to load, where a process for each test would cost more
# than the tests; every test of the suite is run, and its name stands in the output.
function(gnomon_discover_suites target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "PROPERTIES")
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  string(JOIN " " properties ${arg_PROPERTIES})
  file(GENERATE OUTPUT ${script} CONTENT "\
execute_process(COMMAND \"$<TARGET_FILE:${target}>\" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  add_test(${arg_PREFIX}NOT_BUILT \"$<TARGET_FILE:${target}>\")
endif()
string(REGEX REPLACE \"[[;]\" \"\" listed \"\${listed}\")
string(REGEX MATCHALL \"(^|\\n)[^ \\n][^ \\n]*[.]\" suites \"\${listed}\")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE \"[\\n]|[.]$\" \"\" suite \"\${suite}\")
  add_test(\"${arg_PREFIX}\${suite}\" \"$<TARGET_FILE:${target}>\" \"--gtest_filter=\${suite}.*\")
  set_tests_properties(\"${arg_PREFIX}\${suite}\" PROPERTIES ${properties})
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()
