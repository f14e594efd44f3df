/* Power cut: keeps a copy of only those bytes and names of a folder that were synced, and makes chosen calls fail or wait.
 * POWER_DATA   the folder, absolute
 * POWER_SHADOW what a power cut leaves: data/ has the names, inodes/ the contents by inode number
 * POWER_FAULTS optional file of lines "call part-of-path EIO|ENOSPC|delay-ms", read again whenever it changes; calls: write, fsync
 * Preloaded with UV_USE_IO_URING=0; the real syncs are left out, because only the process ends here, never the machine. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 65536
#define RANGES 512
#define PATHS 8192

struct range { off_t from, to; };
struct file { ino_t ino; char *path; int all, count; struct range ranges[RANGES]; struct file *next; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *by_ino[1024];
static struct file *of_fd[FDS];
static char *dir_of_fd[FDS];
static char *data, *shadow, *faults;
static size_t data_length;
static __thread int inside;

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void start(void) {
  data = getenv("POWER_DATA");
  shadow = getenv("POWER_SHADOW");
  faults = getenv("POWER_FAULTS");
  data_length = data ? strlen(data) : 0;
}

static int is_ours(const char *path) {
  return data && shadow && path && !strncmp(path, data, data_length) && (path[data_length] == '/' || !path[data_length]);
}

/* What the chosen call on the path answers: 0, or an errno; a delay is waited for here. */
static int fault(const char *call, const char *path) {
  if (!faults || !path) return 0;
  FILE *file = fopen(faults, "re");
  if (!file) return 0;
  char name[32], part[256], what[32];
  int answer = 0;
  long delay = 0;
  while (fscanf(file, "%31s %255s %31s", name, part, what) == 3) {
    if (strcmp(name, call) || !strstr(path + data_length, part)) continue;
    if (!strcmp(what, "EIO")) answer = EIO;
    else if (!strcmp(what, "ENOSPC")) answer = ENOSPC;
    else delay = atol(what);
  }
  fclose(file);
  if (delay > 0) usleep((useconds_t)delay * 1000);
  return answer;
}

static void shadow_name(char *to, const char *path) { snprintf(to, PATHS, "%s/data%s", shadow, path + data_length); }
static void shadow_inode(char *to, ino_t ino) { snprintf(to, PATHS, "%s/inodes/%lu", shadow, (unsigned long)ino); }

/* The name of the file becomes durable in place of whatever had it, with the folders above it, as on ext4, xfs and btrfs. */
static void keep_name(const char *path, ino_t ino) {
  char name[PATHS], inode[PATHS], fresh[PATHS];
  struct stat had, has;
  shadow_name(name, path);
  for (char *slash = name + strlen(shadow) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = 0;
    mkdir(name, 0700);
  }
  shadow_inode(inode, ino);
  if (stat(inode, &has)) {
    int made = open(inode, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (made >= 0) close(made);
    stat(inode, &has);
  }
  if (!stat(name, &had) && had.st_ino == has.st_ino) return;
  snprintf(fresh, PATHS, "%s/inodes/name-%d", shadow, (int)gettid());
  unlink(fresh);
  if (!link(inode, fresh)) rename(fresh, name);
}

static struct file *file_of(ino_t ino, const char *path, int is_new) {
  struct file *file = by_ino[ino % 1024];
  while (file && file->ino != ino) file = file->next;
  if (!file) {
    file = calloc(1, sizeof *file);
    file->ino = ino;
    file->next = by_ino[ino % 1024];
    by_ino[ino % 1024] = file;
  }
  if (is_new) {
    /* The number of an older file is used again; its durable name keeps its content. */
    char inode[PATHS];
    shadow_inode(inode, ino);
    unlink(inode);
    file->count = 0;
    file->all = 1;
  }
  free(file->path);
  file->path = strdup(path);
  return file;
}

static void dirty(int fd, off_t from, size_t length) {
  if (fd < 0 || fd >= FDS || !of_fd[fd]) return;
  pthread_mutex_lock(&lock);
  struct file *file = of_fd[fd];
  if (file) {
    struct range *last = file->count ? &file->ranges[file->count - 1] : NULL;
    if (last && from == last->to) last->to += (off_t)length;
    else if (file->count == RANGES) file->all = 1;
    else file->ranges[file->count++] = (struct range){from, from + (off_t)length};
  }
  pthread_mutex_unlock(&lock);
}

static void copy(int from, int to, off_t at, off_t end) {
  char buffer[65536];
  while (at < end) {
    size_t wanted = end - at < (off_t)sizeof buffer ? (size_t)(end - at) : sizeof buffer;
    ssize_t got = pread(from, buffer, wanted, at);
    if (got <= 0) return;
    if (pwrite(to, buffer, (size_t)got, at) != got) abort();
    at += got;
  }
}

/* What was written to the file before the call becomes durable, and its name as far as it has one. */
static void sync_file(int fd) {
  struct stat now, named;
  char inode[PATHS], own[64];
  if (fstat(fd, &now)) return;
  pthread_mutex_lock(&lock);
  struct file *file = of_fd[fd];
  if (!file) {
    pthread_mutex_unlock(&lock);
    return;
  }
  struct range ranges[RANGES];
  int count = file->count, all = file->all;
  memcpy(ranges, file->ranges, sizeof(struct range) * (size_t)count);
  file->count = file->all = 0;
  shadow_inode(inode, file->ino);
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  int from = open(own, O_RDONLY | O_CLOEXEC);
  int to = open(inode, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (from < 0 || to < 0) abort();
  if (ftruncate(to, now.st_size)) abort();
  if (all) copy(from, to, 0, now.st_size);
  else for (int i = 0; i < count; i++) copy(from, to, ranges[i].from, ranges[i].to);
  close(from);
  close(to);
  if (!stat(file->path, &named) && named.st_ino == file->ino) keep_name(file->path, file->ino);
  pthread_mutex_unlock(&lock);
}

/* The names in the folder become durable as they are; what was never synced of a file is empty. */
static void sync_dir(const char *path) {
  char name[PATHS], other[PATHS];
  struct stat found;
  struct dirent *entry;
  pthread_mutex_lock(&lock);
  shadow_name(name, path);
  mkdir(name, 0700);
  DIR *real = opendir(path);
  while (real && (entry = readdir(real))) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    snprintf(other, PATHS, "%s/%s", path, entry->d_name);
    if (lstat(other, &found)) continue;
    if (S_ISREG(found.st_mode)) keep_name(other, found.st_ino);
    else if (S_ISDIR(found.st_mode)) {
      shadow_name(name, other);
      mkdir(name, 0700);
    }
  }
  if (real) closedir(real);
  shadow_name(name, path);
  DIR *kept = opendir(name);
  while (kept && (entry = readdir(kept))) {
    snprintf(other, PATHS, "%s/%s", path, entry->d_name);
    if (!lstat(other, &found)) continue;
    if (snprintf(other, PATHS, "%s/%s", name, entry->d_name) >= PATHS) continue;
    if (unlink(other)) rmdir(other);
  }
  if (kept) closedir(kept);
  pthread_mutex_unlock(&lock);
}

/* Node closes files by a call of its own, so that a descriptor may stand for something else by now. */
static int is_still(int fd) {
  struct stat now;
  if (!of_fd[fd] && !dir_of_fd[fd]) return 0;
  if (!fstat(fd, &now) && (of_fd[fd] ? S_ISREG(now.st_mode) && now.st_ino == of_fd[fd]->ino : S_ISDIR(now.st_mode))) return 1;
  of_fd[fd] = NULL;
  dir_of_fd[fd] = NULL;
  return 0;
}

static void opened(int fd, int flags, int existed) {
  struct stat found;
  char path[PATHS], link[64];
  if (fd < 0 || fd >= FDS || !data || inside) return;
  of_fd[fd] = NULL;
  dir_of_fd[fd] = NULL;
  inside = 1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATHS - 1);
  if (length > 0) {
    path[length] = 0;
    if (is_ours(path) && !fstat(fd, &found)) {
      pthread_mutex_lock(&lock);
      if (S_ISDIR(found.st_mode)) dir_of_fd[fd] = strdup(path);
      else if (S_ISREG(found.st_mode)) {
        of_fd[fd] = file_of(found.st_ino, path, (flags & O_CREAT) && !existed);
        if (flags & O_TRUNC) of_fd[fd]->all = 1;
      }
      pthread_mutex_unlock(&lock);
    }
  }
  inside = 0;
}

#define OPEN(name, AT, CALL)                                             \
  {                                                                      \
    mode_t mode = 0;                                                     \
    if (flags & (O_CREAT | O_TMPFILE)) {                                 \
      va_list rest;                                                      \
      va_start(rest, flags);                                             \
      mode = va_arg(rest, mode_t);                                       \
      va_end(rest);                                                      \
    }                                                                    \
    REAL(name);                                                          \
    int saved = errno, existed = !(flags & O_CREAT) || !faccessat(AT, path, F_OK, 0); \
    errno = saved;                                                       \
    int fd = CALL;                                                       \
    saved = errno;                                                       \
    opened(fd, flags, existed);                                     \
    errno = saved;                                                       \
    return fd;                                                           \
  }

int open(const char *path, int flags, ...) OPEN(open, AT_FDCWD, real(path, flags, mode))
int open64(const char *path, int flags, ...) OPEN(open64, AT_FDCWD, real(path, flags, mode))
int openat(int at, const char *path, int flags, ...) OPEN(openat, at, real(at, path, flags, mode))
int openat64(int at, const char *path, int flags, ...) OPEN(openat64, at, real(at, path, flags, mode))

int close(int fd) {
  REAL(close);
  if (fd >= 0 && fd < FDS && !inside && (of_fd[fd] || dir_of_fd[fd])) {
    pthread_mutex_lock(&lock);
    of_fd[fd] = NULL;
    dir_of_fd[fd] = NULL;
    pthread_mutex_unlock(&lock);
  }
  return real(fd);
}

static int tracked(int fd) { return !inside && fd >= 0 && fd < FDS && is_still(fd) && of_fd[fd]; }
static int refused(int fd, const char *call) {
  inside = 1;
  int error = fault(call, of_fd[fd] ? of_fd[fd]->path : dir_of_fd[fd]);
  inside = 0;
  if (error) errno = error;
  return error;
}

#define WRITE(name, BEFORE, CALL)                                        \
  {                                                                      \
    REAL(name);                                                          \
    int ours = tracked(fd);                                              \
    if (ours && refused(fd, "write")) return -1;                         \
    ssize_t done = CALL;                                                 \
    if (ours && done > 0) dirty(fd, BEFORE, (size_t)done);               \
    return done;                                                         \
  }

ssize_t write(int fd, const void *bytes, size_t length) WRITE(write, lseek(fd, 0, SEEK_CUR) - done, real(fd, bytes, length))
ssize_t writev(int fd, const struct iovec *parts, int count) WRITE(writev, lseek(fd, 0, SEEK_CUR) - done, real(fd, parts, count))
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) WRITE(pwrite, at, real(fd, bytes, length, at))
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) WRITE(pwrite64, at, real(fd, bytes, length, at))
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) WRITE(pwritev, at, real(fd, parts, count, at))
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) WRITE(pwritev64, at, real(fd, parts, count, at))

/* The size is that of the file at its next sync. What lay behind a shorter end must not come back. */
static void cut(int fd, off_t size) {
  struct stat now;
  if (!fstat(fd, &now) && now.st_size >= size) {
    pthread_mutex_lock(&lock);
    if (of_fd[fd]) of_fd[fd]->all = 1;
    pthread_mutex_unlock(&lock);
  }
}
int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  if (tracked(fd)) cut(fd, size);
  return real(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  if (tracked(fd)) cut(fd, size);
  return real(fd, size);
}

/* SQLite changes its index in memory through mappings, which no restart reads; copies between files are rare and taken whole. */
ssize_t copy_file_range(int from, off64_t *from_at, int fd, off64_t *at, size_t length, unsigned flags) {
  REAL(copy_file_range);
  if (tracked(fd)) of_fd[fd]->all = 1;
  return real(from, from_at, fd, at, length, flags);
}

static int synced(int fd, int (*real)(int)) {
  if (inside || fd < 0 || fd >= FDS || !is_still(fd)) return real(fd);
  if (refused(fd, "fsync")) return -1;
  inside = 1;
  if (of_fd[fd]) sync_file(fd);
  else sync_dir(dir_of_fd[fd]);
  inside = 0;
  return 0;
}
int fsync(int fd) {
  REAL(fsync);
  return synced(fd, real);
}
int fdatasync(int fd) {
  REAL(fdatasync);
  return synced(fd, real);
}
