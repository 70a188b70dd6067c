# What the build declares: the components of src/, test executables, programs and fuzz targets.
add_library(perdure_options INTERFACE)
target_compile_options(perdure_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Werror
  -Wno-gnu-statement-expression -Wno-missing-field-initializers
  -Wno-missing-designated-field-initializers
  -fno-omit-frame-pointer)
target_include_directories(perdure_options INTERFACE ${CMAKE_SOURCE_DIR}/src)

add_library(perdure_test_options INTERFACE)
if(NOT CMAKE_CXX_FLAGS MATCHES "-O2")
  # The code under test is optimised, the tests themselves are not: they compile two to three
  # times faster, most of all with sanitizers.
  target_compile_options(perdure_test_options INTERFACE -O0)
endif()
include(cmake/precompiled.cmake)

add_custom_target(perdure_tests)

# perdure_components(): one static library per component of layers.txt, from its *.cc files and with
# exactly the links granted there. `core/session` becomes perdure_core_session; its *_test.cc files
# become the test executable core_session_test. New files are picked up automatically. Programs (main.cc
# and files in folders named cli or test_child) are declared separately.
function(perdure_components)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/layers.txt)
  file(STRINGS ${CMAKE_SOURCE_DIR}/layers.txt lines REGEX "^[a-z]")
  set(components ${lines})
  list(TRANSFORM components REPLACE ":.*" "")
  foreach(line ${lines})
    string(REGEX REPLACE ":.*" "" component "${line}")
    string(REGEX REPLACE "^[^:]*:" "" grants "${line}")
    string(REGEX REPLACE "\\|.*" "" grants "${grants}")
    set(test_grants "")
    if(line MATCHES "\\|(.*)$")
      set(test_grants "${CMAKE_MATCH_1}")
    endif()
    perdure_links(links_of_${component} "${grants}")
    perdure_links(test_links_of_${component} "${test_grants}")
  endforeach()
  foreach(component ${components})
    # A test that uses the fixture of another component needs what that fixture includes.
    set(test_links ${test_links_of_${component}})
    foreach(other ${components})
      string(REPLACE "/" "_" name ${other})
      if("perdure_${name}" IN_LIST links_of_${component} OR
         "perdure_${name}" IN_LIST test_links_of_${component})
        list(APPEND test_links ${test_links_of_${other}})
      endif()
    endforeach()
    perdure_component(${component} "${components}" "${links_of_${component}}" "${test_links}")
  endforeach()
endfunction()

# The libraries of the components named in a text, separated by spaces.
function(perdure_links out text)
  string(STRIP "${text}" text)
  string(REPLACE " " ";" names "${text}")
  list(TRANSFORM names REPLACE "/" "_")
  list(TRANSFORM names PREPEND perdure_)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

function(perdure_component component components links test_links)
  set(folder ${CMAKE_SOURCE_DIR}/src/${component})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$|/(cli|test_child)/")
  foreach(other ${components})
    if(other MATCHES "^${component}/")
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/src/${other}/")
    endif()
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  string(REPLACE "/" "_" name ${component})
  if(sources)
    add_library(perdure_${name} STATIC ${sources})
    target_link_libraries(perdure_${name} PUBLIC perdure_options ${links})
    perdure_use_pch(perdure_${name} perdure_pch)
  else()
    add_library(perdure_${name} INTERFACE)
    target_link_libraries(perdure_${name} INTERFACE perdure_options ${links})
  endif()
  if(tests)
    perdure_test(${name}_test ${tests} LINKS perdure_${name} ${test_links})
  endif()
endfunction()

# perdure_test(NAME sources… LINKS …): one GoogleTest executable that ./test runs.
function(perdure_test name)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE perdure_options perdure_test_options ${arg_LINKS}
    rapidcheck_gtest rapidcheck GTest::gmock GTest::gtest_main)
  perdure_use_pch(${name} perdure_test_pch)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(perdure_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# perdure_program(NAME sources… LINKS …): an executable at the top of the build folder.
function(perdure_program name)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE perdure_options ${arg_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# perdure_static_program(NAME sources… LINKS …): a program without shared libraries; base/ says where
# the archives of the others come from. A sanitizer cannot be linked so: there it is like any other.
function(perdure_static_program name)
  perdure_program(${name} ${ARGN})
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set_target_properties(${name} PROPERTIES PERDURE_STATIC ON)
    target_link_options(${name} PRIVATE -static)
  endif()
endfunction()

# perdure_fuzz(NAME sources… LINKS …): a libFuzzer target, built by the fuzz preset only. Its seed
# inputs are the files of tests/fuzz/corpus/NAME.
add_custom_target(perdure_fuzzers)
function(perdure_fuzz name)
  if(NOT PERDURE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  add_executable(fuzz_${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(fuzz_${name} PRIVATE perdure_options ${arg_LINKS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
  add_dependencies(perdure_fuzzers fuzz_${name})
endfunction()
