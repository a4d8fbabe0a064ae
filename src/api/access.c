#include "api/access.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

/* OWASP's figures for Argon2id: t = 2 with 19 MiB at least. */
#define HASH_OPS 2
#define HASH_BYTES (UINT32_C(32) << 20)

/* ---- hashing ---- */

struct hashing {
    char password[AUTH_PASSWORD_MAX + 1], hash[ACCESS_HASH_MAX];
    struct access_hashed result;
    void (*done)(void *ctx, const struct access_hashed *h), (*drop)(void *ctx);
    void *ctx;
};

bool access_hash_now(const char *password, char out[ACCESS_HASH_MAX])
{
    CHECK(crypto_pwhash_STRBYTES <= ACCESS_HASH_MAX);
    return crypto_pwhash_str(out, password, strlen(password), HASH_OPS, HASH_BYTES) == 0;
}

static void hash_run(void *ctx)
{
    struct hashing *h = ctx;
    if (h->hash[0]) h->result.good = crypto_pwhash_str_verify(h->hash, h->password, strlen(h->password)) == 0;
    else h->result.good = access_hash_now(h->password, h->result.hash);
    sodium_memzero(h->password, sizeof h->password);
}

static void hash_done(void *ctx)
{
    struct hashing *h = ctx;
    h->done(h->ctx, &h->result);
    free(h);
}

static void hash_drop(void *ctx)
{
    struct hashing *h = ctx;
    h->drop(h->ctx);
    sodium_memzero(h, sizeof *h);
    free(h);
}

bool access_hash(struct access *a, const char *password, const char *hash, void (*done)(void *ctx, const struct access_hashed *h),
                 void (*drop)(void *ctx), void *ctx)
{
    struct hashing *h = calloc(1, sizeof *h);
    if (!h) return false;
    h->done = done;
    h->drop = drop;
    h->ctx = ctx;
    if (text_copy(h->password, sizeof h->password, password) && text_copy(h->hash, sizeof h->hash, hash) &&
        work_add(a->work, hash_run, hash_done, hash_drop, h, false))
        return true;
    sodium_memzero(h, sizeof *h);
    free(h);
    return false;
}

/* ---- writing ---- */

struct writing {
    struct access *access;
    struct access_change change;
    enum status status;
    struct err err;
    void (*done)(void *ctx, enum status s, const struct err *e);
    void *ctx;
};

static void write_run(void *ctx)
{
    struct writing *w = ctx;
    w->status = w->access->port.write(w->access->port.ctx, &w->change, &w->err);
}

static void write_done(void *ctx)
{
    struct writing *w = ctx;
    if (w->done) w->done(w->ctx, w->status, &w->err);
    free(w);
}

static void write_drop(void *ctx)
{
    struct writing *w = ctx;
    (void)err_set(&w->err, STATUS_STATE, "the daemon ends");
    if (w->done) w->done(w->ctx, STATUS_STATE, &w->err);
    free(w);
}

void access_write(struct access *a, const struct access_change *c, void (*done)(void *ctx, enum status s, const struct err *e),
                  void *ctx)
{
    struct writing *w = calloc(1, sizeof *w);
    CHECK_MEMORY(w);
    *w = (struct writing){.access = a, .change = *c, .done = done, .ctx = ctx};
    a->changes++;
    CHECK(work_add(a->work, write_run, write_done, write_drop, w, true));
}

/* ---- what another program changed ---- */

struct looking { struct access *access; struct auth_lists lists; bool changed; uint64_t changes; };

static void look_run(void *ctx)
{
    struct looking *l = ctx;
    struct err e;
    const struct access_port *port = &l->access->port;
    l->changed = port->changed(port->ctx) && port->load(port->ctx, &l->lists, &e) == STATUS_OK;
}

static void look_drop(void *ctx)
{
    struct looking *l = ctx;
    auth_lists_free(&l->lists);
    l->access->looking = false;
    free(l);
}

static void look_again(void *ctx)
{
    struct looking *l = ctx;
    struct err e;
    const struct access_port *port = &l->access->port;
    auth_lists_free(&l->lists);
    l->changed = port->load(port->ctx, &l->lists, &e) == STATUS_OK;
}

static void look_done(void *ctx)
{
    struct looking *l = ctx;
    struct access *a = l->access;
    if (l->changed && l->changes != a->changes) {      /* read before our own newest change was written */
        l->changes = a->changes;
        if (work_add(a->work, look_again, look_done, look_drop, l, true)) return;
    } else if (l->changed) {
        auth_take(a->auth, &l->lists);
    }
    look_drop(l);
}

void access_second(struct access *a)
{
    struct looking *l = a->looking || a->broken || !a->work ? NULL : calloc(1, sizeof *l);
    if (!l) return;
    l->access = a;
    l->changes = a->changes;
    a->looking = work_add(a->work, look_run, look_done, look_drop, l, false);
    if (!a->looking) free(l);
}

/* ---- life ---- */

enum status access_open(struct access *a, struct event_base *base, const struct access_port *port, struct err *e)
{
    struct auth_lists lists = {0};
    a->port = *port;
    a->auth = auth_new(a->web->session_idle, a->web->session_longest);
    a->work = work_new(base);
    if (!a->auth || !a->work) return err_set(e, STATUS_MEMORY, "out of memory or threads for logins");
    enum status s = port->load(port->ctx, &lists, e);
    if (s == STATUS_OK) auth_take(a->auth, &lists);
    a->broken = s != STATUS_OK;
    auth_lists_free(&lists);
    return s;
}

void access_close(struct access *a)
{
    work_free(a->work);
    auth_free(a->auth);
    auth_lists_free(&a->basic);
    a->work = NULL;
    a->auth = NULL;
}
