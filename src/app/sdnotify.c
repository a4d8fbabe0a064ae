#include "app/sdnotify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/num.h"

void sdnotify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@')) return;
    size_t n = strlen(path);
    if (n >= sizeof a.sun_path) return;
    memcpy(a.sun_path, path, n);
    if (a.sun_path[0] == '@') a.sun_path[0] = '\0';        /* abstract socket */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&a, len);
    (void)close(fd);
}

int64_t sdnotify_watchdog_us(void)
{
    const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    uint64_t value, whose;
    if (!us || !num_parse_u64(us, strlen(us), &value) || value > INT64_MAX) return 0;
    if (pid && (!num_parse_u64(pid, strlen(pid), &whose) || whose != (uint64_t)getpid())) return 0;
    return (int64_t)value;
}
