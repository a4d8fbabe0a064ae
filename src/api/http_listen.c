/* The listening socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http_request.h"

static enum status resolve(const char *address, struct addrinfo **ret, struct err *e)
{
    char host[64];
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    if (!colon || n == 0 || n >= sizeof host)
        return err_set(e, STATUS_INVALID, "listen address '%.80s': expected HOST:PORT", address);
    memcpy(host, address, n);
    host[n] = '\0';
    char *bare = host;
    if (host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        bare++;
    }
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    int rc = getaddrinfo(bare, colon + 1, &hints, ret);
    if (rc == 0) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "listen address '%.80s': %s", address, gai_strerror(rc));
}

static enum status open_socket(const struct addrinfo *a, const char *address, int *ret, struct err *e)
{
    int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return err_set(e, STATUS_IO, "cannot make a socket: %s", strerror(errno));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* Accepted sockets inherit it; without it small answers wait for the peer's delayed acknowledgement. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 128) != 0) {
        int why = errno;
        (void)close(fd);
        if (why == EADDRINUSE)
            return err_set(e, STATUS_BUSY,
                           "cannot listen on %s: the port is in use, perhaps by another trimtab; stop it or choose another port "
                           "with --listen",
                           address);
        if (why == EACCES) return err_set(e, STATUS_DENIED, "cannot listen on %s: not permitted; choose a port over 1023", address);
        return err_set(e, STATUS_IO, "cannot listen on %s: %s", address, strerror(why));
    }
    *ret = fd;
    return STATUS_OK;
}

static void name_bound(int fd, char bound[80])
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    char host[INET6_ADDRSTRLEN] = "?", port[16] = "?";
    if (getsockname(fd, (struct sockaddr *)&a, &len) == 0) {
        (void)getnameinfo((struct sockaddr *)&a, len, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    }
    snprintf(bound, 80, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

enum status http_listen(const char *address, int *ret_fd, char bound[80], struct err *e)
{
    struct addrinfo *list;
    enum status st = resolve(address, &list, e);
    if (st != STATUS_OK) return st;
    st = open_socket(list, address, ret_fd, e);
    freeaddrinfo(list);
    if (st == STATUS_OK) name_bound(*ret_fd, bound);
    return st;
}
