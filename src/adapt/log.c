#include "adapt/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/time.h"

#define VALUE_MAX 2000               /* so that a line fits a pipe's buffer */
#define PATIENCE_MS 50

static enum log_level least_level = LEVEL_INFO;
static bool as_json;

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_setup(enum log_level least, bool json)
{
    least_level = least;
    as_json = json;
}

bool log_level_parse(const char *word, enum log_level *ret)
{
    for (unsigned i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (text_eq(word, level_names[i])) {
            *ret = (enum log_level)i;
            return true;
        }
    }
    return false;
}

bool log_wanted(enum log_level level) { return level >= least_level; }

static bool plain(const char *s)
{
    if (!*s) return false;
    for (; *s; s++) {
        if ((unsigned char)*s <= ' ' || *s == '"' || *s == '=' || *s == '\\' || (unsigned char)*s >= 0x7f) return false;
    }
    return true;
}

/* Foreign text cannot break out of its field or begin a new line: what is not plain is quoted and escaped. */
static void pair(struct buf *b, const char *key, const char *value)
{
    size_t len = strlen(value);
    if (len > VALUE_MAX) len = VALUE_MAX;
    if (b->len > 1) buf_putc(b, as_json ? ',' : ' ');
    if (as_json) {
        buf_json_string(b, key, strlen(key));
        buf_putc(b, ':');
        buf_json_string(b, value, len);
        return;
    }
    buf_puts(b, key);
    buf_putc(b, '=');
    if (plain(value)) buf_add(b, value, len);
    else buf_json_string(b, value, len);
}

/* A reader of stderr that has stopped reading must not stop the daemon: then lines are lost, and that is said later. */
static void put(const char *bytes, size_t len)
{
    static unsigned lost;
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    char note[80];
    if (poll(&p, 1, PATIENCE_MS) == 0) {
        lost++;
        return;
    }
    if (lost > 0) {
        int n = snprintf(note, sizeof note, as_json ? "{\"level\":\"warn\",\"msg\":\"log lines lost\",\"lines\":\"%u\"}\n"
                                                    : "level=warn msg=\"log lines lost\" lines=%u\n", lost);
        lost = 0;
        put(note, (size_t)n);
    }
    if (write(STDERR_FILENO, bytes, len) < 0) { /* nobody is left who could be told */
    }
}

static void timestamp(struct buf *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    wall_print(out, (struct wall){(int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000});
}

void log_line(enum log_level level, const char *component, const char *msg, ...)
{
    if (!log_wanted(level)) return;
    struct buf b = BUF_INIT, ts = BUF_INIT;
    va_list ap;
    timestamp(&ts);
    if (as_json) buf_putc(&b, '{');
    pair(&b, "ts", buf_text(&ts));
    pair(&b, "level", level_names[level]);
    pair(&b, "component", component);
    pair(&b, "msg", msg);
    va_start(ap, msg);
    for (const char *key; (key = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        if (value && *value) pair(&b, key, value);
    }
    va_end(ap);
    buf_puts(&b, as_json ? "}\n" : "\n");
    put(buf_text(&b), b.len);
    buf_free(&b);
    buf_free(&ts);
}
