# perdure_folder(NAME LINKS a b …): the static library of src/NAME from its *.cc files, and, when
# there are *_test.cc files, the test executable NAME_test. New files are picked up by themselves.
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

function(perdure_folder name)
  cmake_parse_arguments(arg "" "" "LINKS;TEST_LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(perdure_${name} STATIC ${sources})
    target_link_libraries(perdure_${name} PUBLIC perdure_options ${arg_LINKS})
    perdure_use_pch(perdure_${name} perdure_pch)
  else()
    add_library(perdure_${name} INTERFACE)
    target_link_libraries(perdure_${name} INTERFACE perdure_options ${arg_LINKS})
  endif()
  if(tests)
    perdure_test(${name}_test ${tests} LINKS perdure_${name} ${arg_TEST_LINKS})
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
