/* History from a folder: the daemon's own data, or CSV files named after their services. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/replay.h"
#include "base/num.h"
#include "base/text.h"
#include "store/history.h"

/* ---- the daemon's data ---- */

struct feed { struct replay_input *in; uint16_t service, signal; enum status status; struct err *e; };

static bool add_point(void *arg, const struct store_step *step)
{
    struct feed *f = arg;
    f->status = replay_point(f->in->replay, f->service, f->signal, (struct wall){step->at}, step->last, f->e);
    return f->status == STATUS_OK;
}

static enum status read_points(struct replay_input *in, struct store_copy *copy, int64_t from, int64_t to, struct err *e)
{
    struct replay *r = in->replay;
    enum status s = STATUS_OK;
    for (uint16_t i = 0; i < r->policy->service_count && s == STATUS_OK; i++) {
        const struct service_def *d = r->services[i].def;
        for (uint16_t k = 0; k < d->signal_count && s == STATUS_OK; k++) {
            struct feed f = {in, i, k, STATUS_OK, e};
            s = store_copy_range(copy, d->name, d->signals[k].name, from, to, 0, &(struct store_step_sink){add_point, &f}, e);
            if (s == STATUS_OK) s = f.status;
        }
    }
    return s;
}

/* What the audit says that a knob held: before and after each change, by whomever. */
static enum status knob_of(struct replay_input *in, uint16_t service, const struct record *rec, struct err *e)
{
    static const struct { enum record_kind kind; enum record_field before, after; } told[] = {
        {RECORD_INTENT, RF_FROM, RF_COUNT}, {RECORD_APPLIED, RF_FROM, RF_TO}, {RECORD_UNDONE, RF_TO, RF_FROM},
        {RECORD_EXTERNAL, RF_COUNT, RF_READ}, {RECORD_WOULD, RF_FROM, RF_COUNT}, {RECORD_REQUEST, RF_FROM, RF_COUNT},
    };
    struct replay *r = in->replay;
    uint16_t knob = service_knob(r->services[service].def, record_get_text(rec, RF_KNOB));
    int64_t at = record_get_i64(rec, RF_AT, 0);
    double v;
    if (knob == NO_INDEX) return STATUS_OK;
    const struct replay_knob *k = &r->services[service].knobs[knob];
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (told[i].kind != rec->kind) continue;
        const char *before = told[i].before == RF_COUNT ? "" : record_get_text(rec, told[i].before);
        const char *after = told[i].after == RF_COUNT ? "" : record_get_text(rec, told[i].after);
        enum status s = STATUS_OK;
        if (k->n == 0 && num_parse_all(before, strlen(before), &v))
            s = replay_knob(r, service, knob, (struct wall){at - 1}, v, REPLAY_AUDIT, e);
        bool later = k->n == 0 || k->changes[k->n - 1].at < at;
        if (s == STATUS_OK && later && num_parse_all(after, strlen(after), &v))
            s = replay_knob(r, service, knob, (struct wall){at}, v, REPLAY_AUDIT, e);
        return s;
    }
    return STATUS_OK;
}

static bool add_record(void *arg, const struct store_entry *x)
{
    struct feed *f = arg;
    const struct record *rec = x->record;
    uint16_t service = replay_service_of(f->in, record_get_text(rec, RF_SERVICE));
    if (service == NO_INDEX) return true;
    struct wall at = {record_get_i64(rec, RF_AT, 0)};
    const struct replay_service *s = &f->in->replay->services[service];
    bool in_order = s->release_n == 0 || s->releases[s->release_n - 1].at <= at.us;
    if (rec->kind == RECORD_RELEASE && in_order)
        f->status = replay_release(f->in->replay, service, at, record_get_text(rec, RF_MODEL_VERSION), f->e);
    if (f->status == STATUS_OK) f->status = knob_of(f->in, service, rec, f->e);
    return f->status == STATUS_OK;
}

static enum status read_data(struct replay_input *in, const char *metrics, const char *audit, struct err *e)
{
    struct store_copy *copy = NULL;
    int64_t from, to;
    replay_wanted(in, &from, &to);
    snprintf(in->kind, sizeof in->kind, "data");
    enum status s = store_copy_open(&copy, metrics, e);
    if (s == STATUS_OK) s = read_points(in, copy, from, to == INT64_MAX ? to : to + 1, e);
    store_copy_close(copy);
    if (s != STATUS_OK || access(audit, R_OK) != 0) return s;
    struct feed f = {in, 0, 0, STATUS_OK, e};
    s = store_records_file(audit, NULL, NULL, &(struct store_sink){add_record, &f}, e);
    return s == STATUS_OK ? f.status : s;
}

/* ---- CSV files ---- */

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int is_csv(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && d->d_name[0] != '.' && strcmp(d->d_name + n - 4, ".csv") == 0;
}

static enum status read_one(struct replay_input *in, const char *file, unsigned *ret_read, struct err *e)
{
    char name[256], path[1400];
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - 4), file);
    uint16_t service = replay_service_of(in, name);
    if (service == NO_INDEX) {
        if (policy_service(in->replay->policy, name) == NO_INDEX && in->only == NO_INDEX)
            replay_note(in, "%.80s is left out: the configuration has no service of that name", file);
        return STATUS_OK;
    }
    (*ret_read)++;
    if (snprintf(path, sizeof path, "%s/%s", in->from, file) >= (int)sizeof path)
        return err_set(e, STATUS_LIMIT, "%.200s: the path is too long", file);
    return replay_read_csv(in, path, service, e);
}

static enum status read_files(struct replay_input *in, struct err *e)
{
    struct dirent **files = NULL;
    unsigned done = 0;
    int n = scandir(in->from, &files, is_csv, by_name);
    if (n < 0) return err_set(e, STATUS_IO, "cannot read the folder %s: %s", in->from, strerror(errno));
    snprintf(in->kind, sizeof in->kind, "folder");
    enum status s = STATUS_OK;
    for (int i = 0; i < n; i++) {
        if (s == STATUS_OK) s = read_one(in, files[i]->d_name, &done, e);
        free(files[i]);
    }
    free(files);
    if (s != STATUS_OK || done) return s;
    return err_set(e, STATUS_NOT_FOUND, "%s holds no metrics.db and no CSV file named after a service of the configuration",
                   in->from);
}

enum status replay_read_folder(struct replay_input *in, struct err *e)
{
    char metrics[1200], audit[1200];
    snprintf(metrics, sizeof metrics, "%.1100s/metrics.db", in->from);
    snprintf(audit, sizeof audit, "%.1100s/audit.db", in->from);
    return access(metrics, R_OK) == 0 ? read_data(in, metrics, audit, e) : read_files(in, e);
}
