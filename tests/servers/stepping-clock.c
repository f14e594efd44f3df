/* Stepping clock: what a process reads as the time of day is ahead by the number of milliseconds in CLOCK_FILE, which may change at any moment.
 * Monotonic clocks are left alone, as when an operator or NTP sets the clock of a machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead_ms;

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("CLOCK_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *ahead_ms, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) ahead_ms = mapped;
  close(file);
}

static int64_t ahead_ns(void) { return ahead_ms ? *ahead_ms * 1000000 : 0; }

int clock_gettime(clockid_t clock, struct timespec *at) {
  REAL(clock_gettime);
  int answer = real(clock, at);
  if (answer || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return answer;
  int64_t ns = at->tv_sec * INT64_C(1000000000) + at->tv_nsec + ahead_ns();
  at->tv_sec = ns / 1000000000;
  at->tv_nsec = ns % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int answer = clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return answer;
}

time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
