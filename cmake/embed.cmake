# perdure_embed(TARGET folder STAMP stamp): the static library TARGET with every file of the folder,
# which is whole once the stamp is there; embedded_files() of net/server/static_files.h gives them. A
# program links one such.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(perdure_embed target folder)
  cmake_parse_arguments(embed "" "STAMP" "" ${ARGN})
  set(script ${CMAKE_SOURCE_DIR}/tools/embed_files.py)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_custom_command(OUTPUT ${out}.cc ${out}.bin
    COMMAND ${Python3_EXECUTABLE} ${script} ${folder} ${out}
    DEPENDS ${script} ${embed_STAMP} VERBATIM)
  add_library(${target} STATIC ${out}.cc)
  # The assembler reads the bytes, which no dependency scan sees.
  set_source_files_properties(${out}.cc PROPERTIES OBJECT_DEPENDS ${out}.bin)
  target_link_libraries(${target} PRIVATE perdure_options)
endfunction()
