/* The kill switch that works when everything else is broken: files in the data folder and SIGUSR1. Both are looked at
 * right before bytes go out; the loop is told as soon as it can listen. */
#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/daemon.h"
#include "base/text.h"
#include "loop/control.h"

static atomic_bool signalled;          /* SIGUSR1 came and the loop has not taken it in yet */
static int signal_fd = -1;

static void on_sigusr1(int sig)
{
    int keep = errno;
    uint64_t one = 1;
    (void)sig;
    atomic_store(&signalled, true);
    if (write(signal_fd, &one, sizeof one) < 0) { /* the flag alone already stops every write */
    }
    errno = keep;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool daemon_halt_file(const struct daemon *d, uint16_t service, char path[1200])
{
    snprintf(path, 1200, "%s/halt", d->data);
    if (exists(path)) return true;
    if (service >= d->policy->service_count) return false;
    snprintf(path, 1200, "%s/halt.%s", d->data, d->policy->services[service].name);
    return exists(path);
}

bool daemon_may_send(void *ctx, uint16_t service, uint32_t epoch, bool is_undo)
{
    struct daemon *d = ctx;
    char path[1200];
    (void)is_undo;
    if (d->ending || atomic_load(&signalled) || !loop_may_send(d->loop, service, epoch)) return false;
    /* Once the loop knows of the halt, the epoch says which write a person has still asked for. */
    return loop_control(d->loop, service)->halted || !daemon_halt_file(d, service, path);
}

static const char kept_by_us[] = "trimtab wrote this file since the audit could not take the halt down: ";

void daemon_halt_keep(struct daemon *d, const char *service, const char *why)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/halt.%s", d->data, service);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST) return;
    if (fd < 0) {
        log_line(LEVEL_ERROR, "halt", "the halt holds now, but cannot be kept on the disk: halt again after a restart", "service",
                 service, "error", strerror(errno), NULL);
        return;
    }
    /* On a full disk the name alone has to do; it is what counts. */
    if (write(fd, kept_by_us, sizeof kept_by_us - 1) > 0 && write(fd, why, strlen(why)) > 0) (void)fsync(fd);
    (void)close(fd);
    log_line(LEVEL_WARN, "halt", "kept as a file until the audit can take it down", "service", service, "file", path, NULL);
}

void daemon_halt_recorded(struct daemon *d, const char *service)
{
    char path[1200], text[sizeof kept_by_us - 1];
    snprintf(path, sizeof path, "%s/halt.%s", d->data, service);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) return;
    bool ours = read(fd, text, sizeof text) == (ssize_t)sizeof text && memcmp(text, kept_by_us, sizeof text) == 0;
    (void)close(fd);
    if (ours && unlink(path) == 0)
        log_line(LEVEL_INFO, "halt", "now on record; its file is not needed any more", "service", service, NULL);
}

static void owner_and_words(const char *path, char by[64], char why[200])
{
    struct stat st;
    (void)text_copy(by, 64, "file");
    snprintf(why, 200, "the file %.180s exists", path);
    if (lstat(path, &st) != 0) return;
    struct passwd *p = getpwuid(st.st_uid);
    if (p) snprintf(by, 64, "file:%.50s", p->pw_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) return;
    char text[160];
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    for (ssize_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] >= 0x7f) text[i] = ' ';
    }
    while (n > 0 && text[n - 1] == ' ') n--;
    if (n > 0) snprintf(why, 200, "%.*s", (int)n, text);
}

static void halt_one(struct daemon *d, uint16_t service, const char *by, const char *via, const char *why)
{
    struct command c = {.verb = COMMAND_HALT, .by = by, .via = via, .role = ROLE_ADMIN, .reason = why};
    log_line(LEVEL_WARN, "halt", "automatic writes are stopped", "service", d->policy->services[service].name, "via", via, "why",
             why, NULL);
    daemon_command(d, service, &c, NULL, NULL);
}

static void halt_by_file(struct daemon *d, uint16_t service, const char *path)
{
    char by[64], why[200];
    if (loop_control(d->loop, service)->halted) return;
    owner_and_words(path, by, why);
    halt_one(d, service, by, "file", why);
}

static void halt_all(struct daemon *d, const char *path)
{
    for (uint16_t i = 0; i < d->policy->service_count; i++) {
        if (path) halt_by_file(d, i, path);
        else if (!loop_control(d->loop, i)->halted) halt_one(d, i, "signal", "signal", "SIGUSR1");
    }
}

static void look_for_files(struct daemon *d)
{
    char path[1400];
    DIR *dir = opendir(d->data);
    if (!dir) return;                  /* a write still asks for the files by name */
    for (const struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", d->data, e->d_name);
        if (strcmp(e->d_name, "halt") == 0) {
            halt_all(d, path);
        } else if (text_starts(e->d_name, "halt.")) {
            uint16_t service = policy_service(d->policy, e->d_name + 5);
            if (service != NO_INDEX) halt_by_file(d, service, path);
        }
    }
    (void)closedir(dir);
}

void daemon_halt_check(struct daemon *d)
{
    if (atomic_load(&signalled)) {
        halt_all(d, NULL);
        /* Every service has a new epoch now, so no write that was planned before can go out. */
        atomic_store(&signalled, false);
    }
    look_for_files(d);
}

static void on_signal_fd(evutil_socket_t fd, short what, void *arg)
{
    uint64_t n;
    (void)what;
    if (read((int)fd, &n, sizeof n) > 0) daemon_halt_check(arg);
}

static void on_folder_changed(evutil_socket_t fd, short what, void *arg)
{
    char events[4096];
    (void)what;
    while (read((int)fd, events, sizeof events) > 0) {}
    daemon_halt_check(arg);
}

static bool watch_folder(struct daemon *d)
{
    d->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (d->inotify_fd < 0 || inotify_add_watch(d->inotify_fd, d->data, IN_CREATE | IN_MOVED_TO) < 0) return false;
    d->halt_watch = event_new(d->base, d->inotify_fd, EV_READ | EV_PERSIST, on_folder_changed, d);
    return d->halt_watch && event_add(d->halt_watch, NULL) == 0;
}

bool daemon_halt_open(struct daemon *d)
{
    struct sigaction sa = {.sa_handler = on_sigusr1, .sa_flags = SA_RESTART};
    d->halt_fd = signal_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (signal_fd < 0) return false;
    d->halt_signal = event_new(d->base, signal_fd, EV_READ | EV_PERSIST, on_signal_fd, d);
    if (!d->halt_signal || event_add(d->halt_signal, NULL) != 0) return false;
    sigemptyset(&sa.sa_mask);
    if (sigaction(SIGUSR1, &sa, NULL) != 0) return false;
    if (!watch_folder(d))
        log_line(LEVEL_WARN, "halt", "the data folder cannot be watched; halt files are looked for each second", NULL);
    return true;
}

void daemon_halt_close(struct daemon *d)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGUSR1, &ignore, NULL);
    if (d->halt_signal) event_free(d->halt_signal);
    if (d->halt_watch) event_free(d->halt_watch);
    if (d->halt_fd > 0) (void)close(d->halt_fd);
    if (d->inotify_fd > 0) (void)close(d->inotify_fd);
    signal_fd = -1;
}
