/* The log as receivers of notices read it, and where what they have had is kept. */
#include "app/daemon.h"

/* Beside the saved baselines; no service can have this name. */
#define STATE_NAME "@notify"

static uint64_t size(void *ctx)
{
    struct store_health h;
    store_health(((struct daemon *)ctx)->store, &h);
    return h.size;
}

struct reading { bool (*entry)(void *arg, uint64_t seq, const struct record *r); void *arg; };

static bool on_entry(void *arg, const struct store_entry *x)
{
    struct reading *r = arg;
    return r->entry(r->arg, x->seq, x->record);
}

static bool read_log(void *ctx, uint64_t from, bool (*entry)(void *arg, uint64_t seq, const struct record *r), void *arg)
{
    struct daemon *d = ctx;
    struct reading r = {entry, arg};
    struct err e;
    if (store_records(d->store, from, &(struct store_sink){on_entry, &r}, &e) == STATUS_OK) return true;
    log_line(LEVEL_WARN, "notify", "the log cannot be read for notices; it is tried again", "error", e.text, NULL);
    return false;
}

static void save(void *ctx, const void *bytes, size_t len)
{
    struct daemon *d = ctx;
    struct err e;
    if (store_state_put(d->store, STATE_NAME, clock_real_us(), bytes, len, &e) != STATUS_OK)
        log_line(LEVEL_WARN, "notify", "what receivers have had could not be saved; after a crash some is told twice", "error",
                 e.text, NULL);
}

static bool load(void *ctx, struct buf *out)
{
    struct daemon *d = ctx;
    struct err e;
    int64_t at;
    enum status s = store_state_get(d->store, STATE_NAME, &at, out, &e);
    if (s != STATUS_OK && s != STATUS_NOT_FOUND)
        log_line(LEVEL_WARN, "notify", "what receivers have had cannot be read; they are told from here on", "error", e.text, NULL);
    return s == STATUS_OK;
}

static void test(void *ctx, const char *receiver, void (*done)(void *done_ctx, enum status s, const char *text, const char *detail),
                 void *done_ctx)
{
    notify_test(((struct daemon *)ctx)->notify, receiver, done, done_ctx);
}

void daemon_notify_open(struct daemon *d)
{
    struct notify_log log = {.ctx = d, .name = d->policy->origin ? d->policy->origin : STORE_ORIGIN, .size = size, .read = read_log,
                             .save = save, .load = load};
    d->v1.notify_test = test;
    notify_open(d->notify, &log);
}
