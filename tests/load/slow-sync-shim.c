// Slows fsync and fdatasync of the records by SLOW_SYNC_MS, and notes in SLOW_SYNC_FILE those that were called on the main thread.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void slow(int descriptor, const char *name) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strstr(path, "records.sqlite") == NULL) return;
  const char *text = getenv("SLOW_SYNC_MS");
  long ms = text ? atol(text) : 0;
  const char *file = getenv("SLOW_SYNC_FILE");
  if (file && syscall(SYS_gettid) == getpid()) {
    int notes = open(file, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (notes >= 0) {
      if (write(notes, name, 1) < 0) abort();
      close(notes);
    }
  }
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000};
  nanosleep(&time, NULL);
}

int fsync(int descriptor) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  slow(descriptor, "f");
  return next(descriptor);
}

int fdatasync(int descriptor) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  slow(descriptor, "d");
  return next(descriptor);
}
