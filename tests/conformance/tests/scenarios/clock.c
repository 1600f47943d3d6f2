/* A clock that a test moves: the seconds in the file FULGURITE_TEST_CLOCK are added to the time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void)
{
    static volatile const long *seconds;
    if (!seconds) {
        const char *path = getenv("FULGURITE_TEST_CLOCK");
        int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *map = file < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
        if (map == MAP_FAILED)
            return 0;
        seconds = map;
        close(file);
    }
    return *seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int failed = syscall(SYS_clock_gettime, clock, time);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        time->tv_sec += offset();
    return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}
