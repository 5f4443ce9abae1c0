// What compilers and static libraries of this system expect of glibc and 2.28 does not have, by what it has.
// Hidden: other libraries of the process keep their own.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Up to 2.32 the functions behind stat() and its kin, which headers called.
int __xstat(int version, const char* path, struct stat* status);
int __lxstat(int version, const char* path, struct stat* status);
int __fxstat(int version, int descriptor, struct stat* status);
int __fxstatat(int version, int directory, const char* path, struct stat* status, int flags);

#pragma GCC visibility push(hidden)

// 2.32: whether the process never had a second thread. One that is loaded into another's process cannot know.
char __libc_single_threaded = 0;

// 2.33.
enum { stat_version = 1 };  // of x86-64

int stat(const char* path, struct stat* status) { return __xstat(stat_version, path, status); }
int lstat(const char* path, struct stat* status) { return __lxstat(stat_version, path, status); }
int fstat(int descriptor, struct stat* status) { return __fxstat(stat_version, descriptor, status); }
int fstatat(int directory, const char* path, struct stat* status, int flags) {
  return __fxstatat(stat_version, directory, path, status, flags);
}
// The same structure on 64-bit systems.
int stat64(const char* path, struct stat64* status) { return stat(path, (struct stat*)status); }
int lstat64(const char* path, struct stat64* status) { return lstat(path, (struct stat*)status); }
int fstat64(int descriptor, struct stat64* status) { return fstat(descriptor, (struct stat*)status); }

// 2.36. std::random_device calls it.
uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getentropy(&value, sizeof(value)) != 0) {
    abort();
  }
  return value;
}

// 2.30: waits until a date of any clock; before, of the clock that the condition variable was made with,
// which std::condition_variable leaves at CLOCK_REALTIME.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* date) {
  const int64_t second = 1000000000;
  struct timespec now;
  struct timespec real_now;
  if (clock == CLOCK_REALTIME) {
    return pthread_cond_timedwait(condition, mutex, date);
  }
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real_now) != 0) {
    return errno;
  }
  const int64_t nanoseconds = real_now.tv_nsec + date->tv_nsec - now.tv_nsec + second;  // positive
  const struct timespec real_date = {
      .tv_sec = real_now.tv_sec + date->tv_sec - now.tv_sec - 1 + nanoseconds / second,
      .tv_nsec = nanoseconds % second};
  return pthread_cond_timedwait(condition, mutex, &real_date);
}

#pragma GCC visibility pop
