# Writes the commit that the simulator is built from, for its failure lines. Runs in every build, but
# changes the file, and so causes a rebuild, only if the commit changes.
execute_process(COMMAND git describe --always --dirty=+ --exclude=*
  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "\"${commit}\"\n")
