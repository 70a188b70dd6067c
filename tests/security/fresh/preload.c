// Loaded by LD_PRELOAD into any program: reports whether that process sees the token.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
  const char* log = getenv("FRESH_LOG");
  const char* token = getenv("FRESH_TOKEN");
  FILE* file = log == NULL ? NULL : fopen(log, "a");
  if (file == NULL || token == NULL) {
    return;
  }
  char program[300] = {0};
  (void)!readlink("/proc/self/exe", program, sizeof program - 1);
  fprintf(file, "%s %s\n", access(token, R_OK) == 0 ? "SEES" : "blind", program);
  fclose(file);
}
