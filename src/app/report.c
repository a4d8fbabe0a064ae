/* trimtab report: of the running daemon, or of a data folder without one. */
#include "app/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/client.h"
#include "app/output.h"
#include "base/text.h"

/* ---- without a daemon ---- */

struct folder { const char *audit; struct store_copy *metrics; int64_t newest; };

static enum status records(void *ctx, uint64_t from, const struct store_sink *sink, struct err *e)
{
    (void)from;
    return store_records_file(((struct folder *)ctx)->audit, NULL, NULL, sink, e);
}

static enum status points(void *ctx, const char *service, const char *signal, int64_t from, int64_t to,
                          const struct store_step_sink *sink, struct err *e)
{
    return store_copy_range(((struct folder *)ctx)->metrics, service, signal, from, to, 0, sink, e);
}

static bool see_newest(void *arg, const struct store_entry *x)
{
    struct folder *f = arg;
    int64_t at = record_get_i64(x->record, RF_AT, INT64_MIN);
    if (at > f->newest) f->newest = at;
    return true;
}

static bool times(const struct args *a, struct wall newest, struct report_request *r)
{
    const char *since = args_text(a, "since"), *until = args_text(a, "until");
    struct span back = SPAN_DAY(14);
    r->until = newest;
    if (until && !wall_parse(until, &r->until)) {
        fprintf(stderr, "trimtab report: --until is a time like 2026-05-12T10:00:00Z, not '%s'\n", until);
        return false;
    }
    size_t n = since ? strlen(since) : 0;
    if (since && span_parse(since, (unsigned)n, &back) != n) {
        if (wall_parse(since, &r->since)) return true;
        fprintf(stderr, "trimtab report: --since is a time, or a span before the end like 14d, not '%s'\n", since);
        return false;
    }
    r->since = (struct wall){r->until.us - back.us};
    return true;
}

/* {"data": ...}; NULL: said on stderr, *ret_code tells how to end. */
static json_t *offline(const struct args *a, const char *data, int *ret_code)
{
    char audit[1200], metrics[1200];
    struct err e = {0};
    snprintf(audit, sizeof audit, "%.1100s/audit.db", data);
    snprintf(metrics, sizeof metrics, "%.1100s/metrics.db", data);
    struct folder f = {.audit = audit, .newest = INT64_MIN};
    struct report_source source = {.ctx = &f, .records = records};
    struct report_request r = {.service = args_text(a, "service")};
    struct buf b = BUF_INIT;
    struct emit out = {.out = &b};
    json_error_t fault;
    json_t *root = NULL;
    enum status s = records(&f, 0, &(struct store_sink){see_newest, &f}, &e);
    if (s == STATUS_OK && f.newest == INT64_MIN) s = err_set(&e, STATUS_NOT_FOUND, "%s holds no record yet", audit);
    *ret_code = EXIT_FAIL;
    if (s == STATUS_OK && !times(a, (struct wall){f.newest}, &r)) {
        *ret_code = EXIT_USAGE;
        return NULL;
    }
    if (s == STATUS_OK && access(metrics, R_OK) == 0) s = store_copy_open(&f.metrics, metrics, &e);
    if (f.metrics) source.points = points;
    emit_open(&out, NULL, '{');
    if (s == STATUS_OK) s = report_make(&source, &r, &out, &e);
    emit_close(&out, '}');
    if (s == STATUS_OK) root = json_loadb(buf_text(&b), b.len, 0, &fault);
    else fprintf(stderr, "trimtab report: %s\n", e.text);
    store_copy_close(f.metrics);
    buf_free(&b);
    return root;
}

/* ---- with one ---- */

static void add(struct buf *path, const char *key, const char *value)
{
    if (!value) return;
    buf_printf(path, "%s%s=", strchr(buf_text(path), '?') ? "&" : "?", key);
    client_segment(path, value);
}

static int show(enum output o, const json_t *data)
{
    struct buf b = BUF_INIT;
    if (output_value(o, data)) return EXIT_GOOD;
    report_say(&b, data);
    bool ok = buf_ok(&b) && fwrite(buf_text(&b), 1, b.len, stdout) == b.len && fflush(stdout) == 0;
    buf_free(&b);
    return ok ? EXIT_GOOD : EXIT_FAIL;
}

static int show_offline(const struct args *a, const struct client *c, enum output o)
{
    int code;
    json_t *root = offline(a, c->data, &code);
    if (root) code = show(o, json_object_get(root, "data"));
    json_decref(root);
    return code;
}

int command_report(const struct args *a)
{
    struct client c;
    struct answer answer = {.text = BUF_INIT};
    struct buf path = BUF_INIT;
    enum output o;
    if (!args_want(a, 0, 0) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    if (args_has(a, "offline")) return show_offline(a, &c, o);
    buf_puts(&path, "/api/v1/report");
    add(&path, "since", args_text(a, "since"));
    add(&path, "until", args_text(a, "until"));
    add(&path, "service", args_text(a, "service"));
    int code = client_try(&c, buf_text(&path), &answer);
    if (code == EXIT_GOOD) {
        code = show(o, answer.data);
    } else if (!answer.reached) {
        fprintf(stderr, "trimtab report: no daemon answers at %s; read from the data folder %s\n", c.address, c.data);
        code = show_offline(a, &c, o);
    }
    answer_free(&answer);
    buf_free(&path);
    return code;
}
