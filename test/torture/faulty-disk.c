/*
 * Faults of a disk, for one folder: loaded before libc (LD_PRELOAD), so that it meets the file operations of Node and of
 * SQLite alike. A file that both sides map holds the faults; faulty-disk.ts writes it.
 *
 * Covered: open, creat, read, pread, write, pwrite, writev, pwritev, fsync, fdatasync, ftruncate, rename, link, unlink,
 * mkdir. Not covered: stat, readdir, close, access, and memory maps of files, which SQLite does not use here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES 65536

/* The layout of the shared file: numbers of four bytes. */
struct faults {
  _Atomic int refuse;    /* every change fails with this number of an error; 0: none */
  _Atomic int delay_ms;  /* every operation takes this much longer */
  _Atomic int hang;      /* every change waits until this is 0 */
  _Atomic int hanging;   /* changes that wait now */
  _Atomic int refused;   /* changes that have failed */
  _Atomic int delayed;   /* operations that have taken longer */
};

static struct faults nothing;
static struct faults *faults = &nothing;
static const char *root = "/nowhere";
static size_t root_length;
static _Atomic char is_ours[FILES];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("TORTURE_FAULTS");
  const char *folder = getenv("TORTURE_FOLDER");
  if (path == NULL || folder == NULL) return;
  int file = open(path, O_RDWR);
  void *map = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (map == MAP_FAILED) return;
  faults = map;
  root = folder;
  root_length = strlen(folder);
}

static void sleep_ms(int ms) {
  struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
  while (nanosleep(&left, &left) == -1 && errno == EINTR) continue;
}

static int is_below(const char *path) { return path != NULL && root_length > 0 && strncmp(path, root, root_length) == 0; }

/* A number that was a file of ours may be a socket meanwhile: not every way to close it passes here. */
static int is_open(int file) {
  struct stat is;
  return file >= 0 && file < FILES && is_ours[file] && fstat(file, &is) == 0 && (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode));
}

static void wait_as_told(void) {
  int ms = faults->delay_ms;
  if (ms == 0) return;
  faults->delayed++;
  sleep_ms(ms);
}

/* Whether the change may happen. */
static int may_change(void) {
  wait_as_told();
  if (faults->hang) {
    faults->hanging++;
    while (faults->hang) sleep_ms(1);
    faults->hanging--;
  }
  if (faults->refuse == 0) return 1;
  faults->refused++;
  errno = faults->refuse;
  return 0;
}

#define REAL(type, name, ...)                              \
  static type (*real)(__VA_ARGS__);                        \
  if (real == NULL) real = dlsym(RTLD_NEXT, #name)

static int changes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

#define OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    REAL(int, name, const char *, int, ...);                              \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                         \
    int ours = is_below(path);                                            \
    if (ours && changes(flags) && !may_change()) return -1;               \
    if (ours && !changes(flags)) wait_as_told();                          \
    int file = real(path, flags, mode);                                   \
    if (file >= 0 && file < FILES) is_ours[file] = (char)ours;            \
    return file;                                                          \
  }

OPEN(open)
OPEN(open64)

#define READ(name, parameters, types, arguments)        \
  ssize_t name parameters {                             \
    REAL(ssize_t, name, types);                         \
    if (is_open(file)) wait_as_told();                  \
    return real arguments;                              \
  }
#define ONLY(...) __VA_ARGS__

READ(read, (int file, void *to, size_t bytes), ONLY(int, void *, size_t), (file, to, bytes))
READ(pread, (int file, void *to, size_t bytes, off_t at), ONLY(int, void *, size_t, off_t), (file, to, bytes, at))
READ(pread64, (int file, void *to, size_t bytes, off64_t at), ONLY(int, void *, size_t, off64_t), (file, to, bytes, at))

#define CHANGE(type, name, parameters, types, arguments, ours) \
  type name parameters {                                       \
    REAL(type, name, types);                                   \
    if ((ours) && !may_change()) return -1;                    \
    return real arguments;                                     \
  }

CHANGE(ssize_t, write, (int file, const void *from, size_t bytes), ONLY(int, const void *, size_t), (file, from, bytes), is_open(file))
CHANGE(ssize_t, pwrite, (int file, const void *from, size_t bytes, off_t at), ONLY(int, const void *, size_t, off_t), (file, from, bytes, at), is_open(file))
CHANGE(ssize_t, pwrite64, (int file, const void *from, size_t bytes, off64_t at), ONLY(int, const void *, size_t, off64_t), (file, from, bytes, at), is_open(file))
CHANGE(ssize_t, writev, (int file, const struct iovec *from, int count), ONLY(int, const struct iovec *, int), (file, from, count), is_open(file))
CHANGE(ssize_t, pwritev, (int file, const struct iovec *from, int count, off_t at), ONLY(int, const struct iovec *, int, off_t), (file, from, count, at), is_open(file))
CHANGE(ssize_t, pwritev64, (int file, const struct iovec *from, int count, off64_t at), ONLY(int, const struct iovec *, int, off64_t), (file, from, count, at), is_open(file))
CHANGE(int, fsync, (int file), ONLY(int), (file), is_open(file))
CHANGE(int, fdatasync, (int file), ONLY(int), (file), is_open(file))
CHANGE(int, ftruncate, (int file, off_t bytes), ONLY(int, off_t), (file, bytes), is_open(file))
CHANGE(int, ftruncate64, (int file, off64_t bytes), ONLY(int, off64_t), (file, bytes), is_open(file))
CHANGE(int, rename, (const char *from, const char *to), ONLY(const char *, const char *), (from, to), is_below(from) || is_below(to))
CHANGE(int, link, (const char *from, const char *to), ONLY(const char *, const char *), (from, to), is_below(from) || is_below(to))
CHANGE(int, unlink, (const char *path), ONLY(const char *), (path), is_below(path))
CHANGE(int, mkdir, (const char *path, mode_t mode), ONLY(const char *, mode_t), (path, mode), is_below(path))
