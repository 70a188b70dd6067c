// The program that probes an agent: an order on its standard input, a line for each step on its
// output as it is done, the report as the last one. Apart from the daemon, which must not wait.
#pragma once

namespace perdure::probe {

// Lines: {"step":{…}} and {"report":{…}}. Gives the exit code; trouble is told on stderr.
int probe_program_main();

}  // namespace perdure::probe
