// A fuzz target with a planted bug. If libFuzzer does not find it, ./test fails: then the fuzzers
// do not work.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 4 && data[0] == 'f' && data[1] == 'u' && data[2] == 'z' && data[3] == 'z')
    std::abort();
  return 0;
}
