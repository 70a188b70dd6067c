// Tries to look under the cover of the data folder with mounts and namespaces of its own.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* data;
static const char* name;
static char parent[500], at[500], text[1200];

static void look(const char* how, const char* folder) {
  snprintf(text, sizeof text, "%s/token", folder);
  if (access(text, R_OK) == 0) {
    printf("BROKE %s: %s can be read\n", how, text);
  }
}

static void look_below(const char* how, const char* folder, long answer) {
  printf("%s: %s\n", how, answer < 0 ? strerror(errno) : "done");
  if (answer >= 0) {
    char below[700];
    snprintf(below, sizeof below, "%s/%s", folder, name);
    look(how, below);
    if (umount2(below, MNT_DETACH) == 0) {
      look("umount of a copy", below);
    }
  }
}

static void put(const char* file, const char* value) {
  int fd = open(file, O_WRONLY);
  if (fd < 0 || write(fd, value, strlen(value)) < 0) {
    printf("%s: %s\n", file, strerror(errno));
  }
}

static void own_namespaces(void) {
  char map[60];
  unsigned user = getuid(), group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    printf("unshare: %s\n", strerror(errno));
    _exit(0);
  }
  put("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "0 %u 1", user);
  put("/proc/self/uid_map", map);
  snprintf(map, sizeof map, "0 %u 1", group);
  put("/proc/self/gid_map", map);
}

static void overlays(const char* work) {
  char folders[3][600], options[2000];
  static const char* const parts[] = {"upper", "inner", "lower"};
  for (int i = 0; i < 3; i++) {
    snprintf(folders[i], sizeof folders[i], "%s/%s", work, parts[i]);
    mkdir(folders[i], 0700);
  }
  snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", parent, folders[0],
           folders[1]);
  look_below("overlay", at, mount("overlay", at, "overlay", 0, options));
  snprintf(options, sizeof options, "lowerdir=%s:%s", parent, folders[2]);
  look_below("overlay that is read-only", at, mount("overlay", at, "overlay", 0, options));
}

static void handles(void) {
  struct file_handle* handle = calloc(1, sizeof *handle + 128);
  int mount_id, root = open(parent, O_RDONLY);
  handle->handle_bytes = 128;
  if (name_to_handle_at(AT_FDCWD, parent, handle, &mount_id, 0) != 0) {
    return;
  }
  int folder = open_by_handle_at(root, handle, O_RDONLY);
  if (folder >= 0) {
    snprintf(text, sizeof text, "/proc/self/fd/%d", folder);
    look_below("a handle of the parent", strdup(text), 0);
  }
  struct stat covered;
  if (fstatat(root, "..", &covered, 0) == 0) {
    handle->handle_type = 1;
    handle->handle_bytes = 8;
    for (unsigned inode = covered.st_ino; inode < covered.st_ino + 2000; inode++) {
      memcpy(handle->f_handle, (unsigned[]){inode, 0}, 8);
      int guess = open_by_handle_at(root, handle, O_RDONLY);
      if (guess >= 0) {
        printf("BROKE a guessed handle was opened\n");
        return;
      }
    }
  }
}

static void mounts(const char* work) {
  look_below("bind of the parent", at, mount(parent, at, 0, MS_BIND, 0));
  look_below("bind of the parent with all below", at, mount(parent, at, 0, MS_BIND | MS_REC, 0));
  look_below("bind of /", at, mount("/", at, 0, MS_BIND, 0));
  for (int i = 0; i < 2; i++) {
    int tree = syscall(SYS_open_tree, AT_FDCWD, parent, 1 | (i ? AT_RECURSIVE : 0));
    snprintf(text, sizeof text, "/proc/self/fd/%d", tree);
    look_below(i ? "a whole tree" : "a tree", strdup(text), tree);
  }
  overlays(work);
  if (umount2(data, MNT_DETACH) == 0 || umount2(data, 0) == 0) {
    look("umount", data);
  }
  if (mount(data, at, 0, MS_MOVE, 0) == 0) {
    look("move", data);
  }
  if (mount(0, data, 0, MS_REMOUNT | MS_BIND, 0) == 0) {
    printf("BROKE the cover could be made writable\n");
  }
  handles();
}

int main(int count, char** arguments) {
  if (count != 3) {
    return 2;
  }
  data = arguments[1];
  strncpy(parent, data, sizeof parent - 1);
  name = strrchr(data, '/') + 1;
  *strrchr(parent, '/') = 0;
  snprintf(at, sizeof at, "%s/at", arguments[2]);
  mkdir(at, 0700);
  look("the plain path", data);
  fflush(stdout);
  if (fork() == 0) {
    own_namespaces();
    mounts(arguments[2]);
    fflush(stdout);
    // Repeats the attempts in a nested namespace: mounts may be locked in one and not in the other.
    if (fork() == 0) {
      own_namespaces();
      mounts(arguments[2]);
      fflush(stdout);
      _exit(0);
    }
    wait(0);
    _exit(0);
  }
  wait(0);
  return 0;
}
