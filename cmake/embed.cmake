# perdure_embed(TARGET folder): the static library TARGET with every file of the folder, compressed
# when it is built; embedded_files() of http/static_files.h gives them. A program links one such.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(perdure_embed target folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  set(script ${CMAKE_SOURCE_DIR}/tools/embed_files.py)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_custom_command(OUTPUT ${out}.cc ${out}.bin
    COMMAND ${Python3_EXECUTABLE} ${script} --version ${PROJECT_VERSION} ${folder} ${out}
    DEPENDS ${script} ${files} VERBATIM)
  add_library(${target} STATIC ${out}.cc)
  # The assembler reads the bytes, which no dependency scan sees.
  set_source_files_properties(${out}.cc PROPERTIES OBJECT_DEPENDS ${out}.bin)
  target_link_libraries(${target} PRIVATE perdure_options)
endfunction()
