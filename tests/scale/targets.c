/* Many HTTP targets in one process: --ports ports on loopback, --targets pages behind them, the last --slow of which answer only
 * after --delay ms. Remembers when each was asked. On any port GET /report?interval=MS says how far the times between two
 * requests of a target were from that, GET /when?asked=N answers once each prompt target was asked N times, GET /forget begins
 * anew. It ends when its standard input does. Prints {"ports":[..]} once it listens. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX 1024
#define ASKED_MAX 4096
#define BYTES 4096
#define LATE_MAX 65536

struct target { int64_t *asked; uint32_t n, cap; };

struct link { int fd; bool listens; uint32_t len; char bytes[BYTES]; };

/* An answer that waits for its time, oldest first: all wait equally long. fd and link are looked up again then. */
struct late { int64_t at; struct link *link; uint32_t target; };

static struct target *targets;
static uint32_t target_n = 100, port_n = 10, slow_n;
static int64_t delay_us = 3000000;
static struct late late[LATE_MAX];
static uint64_t late_from, late_to;
static int epoll_fd;
static struct link *waiter;                            /* of /when */
static uint32_t wanted, have;                          /* asked so often; so many targets were */

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void note(struct target *t, int64_t at)
{
    if (t->n == t->cap && t->cap < ASKED_MAX) {
        uint32_t cap = t->cap ? t->cap * 2 : 8;
        int64_t *grown = realloc(t->asked, cap * sizeof *grown);
        if (!grown) exit(1);
        t->asked = grown;
        t->cap = cap;
    }
    if (t->n < t->cap) t->asked[t->n++] = at;
}

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return;
        bytes += n;
        len -= (size_t)n;
    }
}

static void answer(int fd, const char *type, const char *body, size_t len)
{
    char head[200];
    int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, len);
    send_all(fd, head, (size_t)n);
    send_all(fd, body, len);
}

static void answer_page(int fd, uint32_t target)
{
    char body[600];
    int n = snprintf(body, sizeof body,
                     "# TYPE latency_ms gauge\nlatency_ms %u.%u\n# TYPE queue gauge\nqueue %u\n# TYPE work gauge\nwork 0.6\n"
                     "# TYPE requests counter\nrequests_total %u\n",
                     30 + target % 10, target % 7, 100 + target % 40, targets[target].n * 1000);
    answer(fd, "text/plain; version=0.0.4", body, (size_t)n);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* {"targets","asked","least","most","gaps","p50_ms","p99_ms","worst_ms"} of the targets [from, to). */
static int report_part(char *out, size_t cap, const char *name, uint32_t from, uint32_t to, int64_t interval)
{
    size_t n = 0, room = 1;
    uint64_t asked = 0;
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = from; i < to; i++) room += targets[i].n;
    int64_t *off = malloc(room * sizeof *off);
    if (!off) exit(1);
    for (uint32_t i = from; i < to; i++) {
        const struct target *t = &targets[i];
        asked += t->n;
        least = t->n < least ? t->n : least;
        most = t->n > most ? t->n : most;
        for (uint32_t k = 1; k < t->n; k++) {
            int64_t d = t->asked[k] - t->asked[k - 1] - interval;
            off[n++] = d < 0 ? -d : d;
        }
    }
    qsort(off, n, sizeof *off, by_value);
    if (n == 0) off[n++] = -1000;                      /* nobody was asked twice: -1 ms says so */
    int len = snprintf(out, cap,
                       "\"%s\":{\"targets\":%u,\"asked\":%llu,\"least\":%u,\"most\":%u,\"gaps\":%zu,\"p50_ms\":%.1f,"
                       "\"p99_ms\":%.1f,\"worst_ms\":%.1f}",
                       name, to - from, (unsigned long long)asked, from < to ? least : 0, most, n, (double)off[n / 2] / 1000,
                       (double)off[n - 1 - n / 100] / 1000, (double)off[n - 1] / 1000);
    free(off);
    return len;
}

static void answer_report(int fd, int64_t interval)
{
    char body[1200] = "{";
    int n = 1;
    n += report_part(body + n, sizeof body - (size_t)n, "prompt", 0, target_n - slow_n, interval);
    body[n++] = ',';
    n += report_part(body + n, sizeof body - (size_t)n, "slow", target_n - slow_n, target_n, interval);
    body[n++] = '}';
    answer(fd, "application/json", body, (size_t)n);
}

/* Forgets what was asked so far: a fleet that is still starting is not yet on its grid. */
static void forget(int fd)
{
    for (uint32_t i = 0; i < target_n; i++) targets[i].n = 0;
    answer(fd, "application/json", "{}", 2);
}

static void answer_waiter(void)
{
    if (!waiter || have < target_n - slow_n) return;
    answer(waiter->fd, "application/json", "{}", 2);
    waiter = NULL;
}

static void wait_for(struct link *l, uint32_t asked)
{
    waiter = l;
    wanted = asked;
    have = 0;
    for (uint32_t i = 0; i < target_n - slow_n; i++) have += targets[i].n >= asked;
    answer_waiter();
}

static void serve(struct link *l, const char *request)
{
    unsigned target, ms, times;
    if (sscanf(request, "GET /t/%u/", &target) == 1 && target < target_n) {
        note(&targets[target], now_us());
        have += target < target_n - slow_n && targets[target].n == wanted;
        answer_waiter();
        if (target < target_n - slow_n || late_to - late_from == LATE_MAX) answer_page(l->fd, target);
        else late[late_to++ % LATE_MAX] = (struct late){now_us() + delay_us, l, target};
    } else if (sscanf(request, "GET /report?interval=%u ", &ms) == 1) {
        answer_report(l->fd, (int64_t)ms * 1000);
    } else if (sscanf(request, "GET /when?asked=%u ", &times) == 1) {
        wait_for(l, times);
    } else if (strncmp(request, "GET /forget ", 12) == 0) {
        forget(l->fd);
    } else {
        static const char gone[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        send_all(l->fd, gone, sizeof gone - 1);
    }
}

static void drop(struct link *l)
{
    for (uint64_t i = late_from; i < late_to; i++)
        if (late[i % LATE_MAX].link == l) late[i % LATE_MAX].link = NULL;
    if (waiter == l) waiter = NULL;
    (void)close(l->fd);
    free(l);
}

static void watch(struct link *l)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = l};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, l->fd, &e) != 0) exit(1);
}

static void accept_all(const struct link *listener)
{
    int fd;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct link *l = calloc(1, sizeof *l);
        if (!l) exit(1);
        l->fd = fd;
        watch(l);
    }
}

static void read_some(struct link *l)
{
    ssize_t n = recv(l->fd, l->bytes + l->len, BYTES - 1 - l->len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        drop(l);
        return;
    }
    l->len += (uint32_t)n;
    l->bytes[l->len] = '\0';
    char *end;
    while ((end = strstr(l->bytes, "\r\n\r\n"))) {
        serve(l, l->bytes);
        uint32_t used = (uint32_t)(end + 4 - l->bytes);
        memmove(l->bytes, l->bytes + used, l->len - used + 1);
        l->len -= used;
    }
    if (l->len == BYTES - 1) drop(l);
}

/* Milliseconds until the next slow answer is due; those that are go out. */
static int answer_late(void)
{
    for (; late_from < late_to; late_from++) {
        struct late *x = &late[late_from % LATE_MAX];
        int64_t left = x->at - now_us();
        if (left > 0) return (int)(left / 1000) + 1;
        if (x->link) answer_page(x->link->fd, x->target);
    }
    return -1;
}

static int listen_on(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    struct link *l = calloc(1, sizeof *l);
    if (!l) exit(1);
    l->listens = true;
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(l->fd, 1024) != 0 ||
        getsockname(l->fd, (struct sockaddr *)&a, &len) != 0) {
        perror("targets");
        exit(1);
    }
    watch(l);
    return ntohs(a.sin_port);
}

static void options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        long v = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--targets") == 0) target_n = (uint32_t)v;
        else if (strcmp(argv[i], "--ports") == 0) port_n = (uint32_t)v;
        else if (strcmp(argv[i], "--slow") == 0) slow_n = (uint32_t)v;
        else if (strcmp(argv[i], "--delay") == 0) delay_us = v * 1000;
    }
    if (port_n < 1 || port_n > PORTS_MAX || slow_n > target_n) exit(2);
}

int main(int argc, char **argv)
{
    options(argc, argv);
    targets = calloc(target_n, sizeof *targets);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct link input = {.fd = 0};
    if (!targets || epoll_fd < 0) return 1;
    watch(&input);
    printf("{\"ports\":[");
    for (uint32_t i = 0; i < port_n; i++) printf("%s%d", i ? "," : "", listen_on());
    printf("]}\n");
    (void)fflush(stdout);
    for (;;) {
        struct epoll_event e[256];
        int n = epoll_wait(epoll_fd, e, 256, answer_late());
        for (int i = 0; i < n; i++) {
            struct link *l = e[i].data.ptr;
            if (l == &input) return 0;                 /* nothing is ever written to it: it was closed */
            if (l->listens) accept_all(l);
            else read_some(l);
        }
    }
}
