// Tries to reach the daemon and agentctl through the kernel: pidfds, ptrace, /proc, descriptors.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static void tell(const char* what, long answer) {
  if (answer >= 0) {
    printf("BROKE %s\n", what);
  } else {
    printf("%s: %s\n", what, strerror(errno));
  }
}

static void by_pidfd(const char* who, int pidfd) {
  char what[100];
  struct iovec piece = {what, sizeof what};
  snprintf(what, sizeof what, "pidfd_getfd of %s", who);
  for (int fd = 0; fd < 32; fd++) {
    tell(what, syscall(SYS_pidfd_getfd, pidfd, fd, 0));
  }
  snprintf(what, sizeof what, "setns to the mounts of %s", who);
  tell(what, setns(pidfd, CLONE_NEWNS));
  snprintf(what, sizeof what, "setns to the user namespace of %s", who);
  tell(what, setns(pidfd, CLONE_NEWUSER));
  snprintf(what, sizeof what, "process_madvise of %s", who);
  tell(what, syscall(SYS_process_madvise, pidfd, &piece, 1, 20, 0));
}

// The kernel gives a connecting process a descriptor of the listening process.
static void daemon_by_its_socket(const char* path) {
  struct sockaddr_un place = {AF_UNIX};
  int line = socket(AF_UNIX, SOCK_STREAM, 0), pidfd = -1;
  socklen_t length = sizeof pidfd;
  strncpy(place.sun_path, path, sizeof place.sun_path - 1);
  if (connect(line, (struct sockaddr*)&place, sizeof place) != 0 ||
      getsockopt(line, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) != 0) {
    printf("no pidfd of the daemon: %s\n", strerror(errno));
    return;
  }
  tell("a signal to the daemon by its pidfd", syscall(SYS_pidfd_send_signal, pidfd, 0, 0, 0));
  by_pidfd("the daemon", pidfd);
}

static void agentctl(void) {
  static const char* const files[] = {"mem", "environ", "root/", "cwd/", "ns/mnt", "maps", "auxv",
                                      "syscall", "stack", "task/1/mem", "fd/3", "fd/4",
                                      "map_files/x"};
  char memory[64], path[64], byte[16];
  struct iovec piece = {memory, sizeof memory};
  tell("ptrace of process 1", ptrace(PTRACE_SEIZE, 1, 0, 0));
  tell("process_vm_readv of process 1", syscall(SYS_process_vm_readv, 1, &piece, 1, &piece, 1, 0));
  tell("kcmp with process 1", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
  for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
    snprintf(path, sizeof path, "/proc/1/%s", files[i]);
    int fd = open(path, O_RDONLY);
    tell(path, fd >= 0 && strstr(files[i], "/") == NULL ? read(fd, byte, sizeof byte) : fd);
  }
  int pidfd = syscall(SYS_pidfd_open, 1, 0);
  if (pidfd >= 0) {
    by_pidfd("process 1", pidfd);
  }
}

static void inherited(void) {
  char path[40], where[300];
  for (int fd = 3; fd < 1024; fd++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    long length = readlink(path, where, sizeof where - 1);
    if (length > 0) {
      where[length] = 0;
      printf("BROKE descriptor %d was left to us: %s\n", fd, where);
    }
  }
}

int main(int count, char** arguments) {
  if (count != 3) {
    return 2;
  }
  inherited();
  daemon_by_its_socket(arguments[1]);
  if (getpid() != 1) {
    agentctl();
  }
  int daemon = atoi(arguments[2]);
  if (kill(daemon, 0) == 0) {
    printf("BROKE the daemon can be sent signals by its number\n");
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", daemon);
  if (access(path, R_OK) == 0) {
    printf("BROKE the daemon's environment can be read\n");
  }
  return 0;
}
