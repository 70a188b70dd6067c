// The program that probes an agent: it reads an order from standard input, prints one line per
// completed step, and the report as the last line. A separate process, because the daemon must not
// block.
#pragma once

namespace perdure::probe {

// Lines: {"step":{…}} and {"report":{…}}. Returns the exit code; errors go to stderr.
int probe_program_main();

}  // namespace perdure::probe
