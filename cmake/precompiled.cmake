# Two precompiled headers for the whole build, of headers that are not ours: what nearly every file
# includes (perdure_pch), and GoogleTest besides (perdure_test_pch). They save 1 to 2 s of CPU a file.
# Files include what they use all the same: the fuzz preset builds without.

# perdure_precompile(NAME headers… LINKS …): makes one; perdure_use_pch(TARGET NAME) uses it.
function(perdure_precompile name)
  if(NOT PERDURE_PCH)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.cc)
  file(WRITE ${source} "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE perdure_options ${arg_LINKS})
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  perdure_pch_checksum(${name} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# A precompiled header holds the absolute path of its build folder, so that by its bytes ccache would
# never hit from one clone to another. It takes the content of a file NAME.sum instead when it is
# there: the hash of every header that goes in. When one of those changes, ninja configures again.
function(perdure_pch_checksum name)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \\1\n" OUTPUT_VARIABLE lines)
  string(JOIN "" text ${lines})
  set(header ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.h)
  file(WRITE ${header} "${text}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=gnu++23 -M -x c++ ${header}
    OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "/[^ \n\\]+" found "${found}")
  list(REMOVE_ITEM found ${header})
  set(hashes "${text}")
  foreach(path ${found})
    file(SHA256 ${path} hash)
    string(APPEND hashes "${path} ${hash}\n")
  endforeach()
  string(SHA256 sum "${hashes}")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum "${sum}\n")
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${found})
endfunction()

function(perdure_use_pch target name)
  if(PERDURE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

if(PERDURE_PCH)
  # CMake's own options name the header's text besides, by its absolute path, which is hashed too.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  # Without the time in it: the same headers give the same bytes.
  target_compile_options(perdure_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
set(std_headers <algorithm> <array> <charconv> <cstdint> <deque> <expected> <functional> <map>
  <memory> <optional> <set> <span> <string> <string_view> <utility> <vector>)
perdure_precompile(perdure_pch ${std_headers})
perdure_precompile(perdure_test_pch ${std_headers} <gtest/gtest.h> <gmock/gmock.h>
  LINKS perdure_test_options GTest::gmock)
