# The simulator. perdure-sim runs the product's code; perdure-sim-mutants runs copies of
# core/session and daemon/runtime with switchable mutations, to check whether the simulator detects them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# The sources of the mutants.
set(sim_folder ${CMAKE_CURRENT_BINARY_DIR}/sim)
file(MAKE_DIRECTORY ${sim_folder})
set(source_root ${CMAKE_SOURCE_DIR}/src)
file(GLOB_RECURSE mutable CONFIGURE_DEPENDS
  ${source_root}/core/session/*.cc ${source_root}/daemon/runtime/*.cc)
list(FILTER mutable EXCLUDE REGEX "_test\\.cc$")
set(probes ${sim_folder}/sim_probes.inc)
set(probed_folders core/session core/views core/rules daemon/runtime daemon/registry daemon/rules
  daemon/hosting agentctl/client agentctl/supervisor agentctl/workspace sim)
set(probed_sources)
foreach(folder ${probed_folders})
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${source_root}/${folder}/*.cc)
  list(APPEND probed_sources ${found})
endforeach()
list(TRANSFORM probed_folders PREPEND ${source_root}/)
add_custom_command(OUTPUT ${probes}
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/probes.py ${probes} ${probed_folders}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/probes.py ${probed_sources})
target_sources(perdure_sim PRIVATE ${probes})
target_include_directories(perdure_sim PRIVATE ${sim_folder})

set(commit ${sim_folder}/sim_commit.inc)
add_custom_target(perdure_sim_commit BYPRODUCTS ${commit}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${commit} -P ${source_root}/sim/driver/commit.cmake)
add_dependencies(perdure_sim perdure_sim_commit)

add_executable(perdure-sim sim/driver/cli/perdure_sim.cc)
target_link_libraries(perdure-sim PRIVATE perdure_sim)
set_target_properties(perdure-sim PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# The mutants: generated copies, never the product's own objects. What the simulator does not drive is
# left out: values, and what the runtime does for a person (deletion, redaction, export, masking, the
# audit trail, lists, what an agent reaches). Their own tests answer for them.
set(PERDURE_MUTANT_COUNT 300 CACHE STRING "mutants, chosen evenly; 0: all there are")
set(mutant_folder ${sim_folder}/mutants)
set(mutated ${mutable})
list(FILTER mutated EXCLUDE REGEX
  "core/session/(events|inputs|effects|state|redacted|values)\\.cc$")
list(FILTER mutated EXCLUDE REGEX
  "daemon/runtime/(audit/.*|counts|(care|reads)/(folds|forks_of|journal_scan|masking|reach|reads|redaction|node_redaction|text_finder|lineage|removal|session_list|task_view|transfer))\\.cc$")
set(mutant_sources)
foreach(source ${mutated})
  file(RELATIVE_PATH name ${source_root} ${source})
  string(REPLACE "/" "__" name ${name})
  list(APPEND mutant_sources ${mutant_folder}/${name})
endforeach()
add_custom_command(OUTPUT ${mutant_sources} ${mutant_folder}/mutants.inc
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/mutate.py ${source_root} ${mutant_folder} ${PERDURE_MUTANT_COUNT} ${mutated}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/mutate.py ${mutated})
# Part of the default build only if ./test needs it (the dev preset).
if(NOT PERDURE_MUTANTS)
  set(without_all EXCLUDE_FROM_ALL)
endif()
add_library(perdure_mutants STATIC ${without_all} ${mutant_sources})
target_link_libraries(perdure_mutants PUBLIC perdure_options)
target_compile_options(perdure_mutants PRIVATE -w)
perdure_use_pch(perdure_mutants perdure_pch)
add_executable(perdure-sim-mutants ${without_all}
  sim/driver/cli/perdure_sim.cc sim/driver/cli/mutants.cc ${mutant_folder}/mutants.inc)
target_compile_definitions(perdure-sim-mutants PRIVATE PERDURE_MUTANTS)
target_include_directories(perdure-sim-mutants PRIVATE ${mutant_folder})
# The copies come first: the linker uses the first definition of each symbol.
target_link_libraries(perdure-sim-mutants PRIVATE perdure_mutants perdure_sim)
set_target_properties(perdure-sim-mutants PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
