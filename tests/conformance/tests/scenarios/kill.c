/* Ends the process at the n-th flush of one of its threads: n is FULGURITE_TEST_KILL_AT. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int fdatasync(int file)
{
    static __thread int flushes;
    const char *at = getenv("FULGURITE_TEST_KILL_AT");
    if (at && ++flushes == atoi(at))
        kill(getpid(), SIGKILL);
    return syscall(SYS_fdatasync, file);
}
