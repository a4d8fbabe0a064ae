/* History from CSV: line 1 names the columns, the first of which is the time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/csv.h"
#include "app/input.h"
#include "app/replay.h"
#include "base/text.h"

#define FILE_BYTES_MAX ((size_t)4 << 30)

enum column_kind { COLUMN_NONE, COLUMN_SIGNAL, COLUMN_KNOB, COLUMN_RELEASE };

struct table {
    struct replay_input *in;
    uint16_t service;
    struct { enum column_kind kind; uint16_t index; } columns[CSV_COLUMNS_MAX];
    unsigned n;
    char version[POLICY_NAME_MAX + 1];
    bool has_version;
    struct wall last;
    int64_t from, to;
};

static const struct service_def *def_of(const struct table *t) { return t->in->replay->services[t->service].def; }

static bool word(struct csv_field f, char out[POLICY_NAME_MAX + 1])
{
    if (f.len > POLICY_NAME_MAX) return false;
    memcpy(out, f.s, f.len);
    out[f.len] = '\0';
    return true;
}

static void unknown_column(struct table *t, struct csv_field f, const char *place)
{
    const struct service_def *d = def_of(t);
    const char *names[POLICY_SIGNALS_MAX + POLICY_KNOBS_MAX];
    char text[POLICY_NAME_MAX + 1];
    size_t n = 0;
    for (uint16_t i = 0; i < d->signal_count; i++) names[n++] = d->signals[i].name;
    for (uint16_t i = 0; i < d->knob_count; i++) names[n++] = d->knobs[i].name;
    const char *near = word(f, text) ? text_nearest(text, names, n) : NULL;
    replay_note(t->in, "%s: the column '%.*s' is no signal and no knob of %s and is left out%s%s%s", place,
                (int)(f.len < 40 ? f.len : 40), f.s, d->name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum status read_names(void *arg, const struct csv_field *names, unsigned n, const char *place, struct err *e)
{
    struct table *t = arg;
    const struct service_def *d = def_of(t);
    unsigned used = 0;
    t->n = n;
    for (unsigned i = 1; i < n; i++) {
        char text[POLICY_NAME_MAX + 1] = "";
        uint16_t signal = NO_INDEX, knob = NO_INDEX;
        if (word(names[i], text)) signal = service_signal(d, text), knob = service_knob(d, text);
        t->columns[i].index = signal != NO_INDEX ? signal : knob;
        if (signal != NO_INDEX) t->columns[i].kind = COLUMN_SIGNAL;
        else if (knob != NO_INDEX) t->columns[i].kind = COLUMN_KNOB;
        else if (text_eq(text, "release") || text_eq(text, "model_version")) t->columns[i].kind = COLUMN_RELEASE;
        else unknown_column(t, names[i], place);
        for (unsigned k = 1; k < i && t->columns[i].kind != COLUMN_NONE; k++) {
            bool twice = t->columns[k].kind == t->columns[i].kind && t->columns[k].index == t->columns[i].index;
            if (twice) return err_set(e, STATUS_INVALID, "%s: the column '%s' comes twice", place, text);
        }
        used += t->columns[i].kind == COLUMN_SIGNAL;
    }
    if (used) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: no column is a signal of %s", place, d->name);
}

/* A text that differs from the one before is a release; the first one only says what ran. */
static enum status read_release(struct table *t, struct wall at, struct csv_field f, struct err *e)
{
    char text[POLICY_NAME_MAX + 1];
    if (f.len == 0) return STATUS_OK;
    if (!word(f, text)) return err_set(e, STATUS_INVALID, "a version has at most %d characters", POLICY_NAME_MAX);
    bool fresh = t->has_version && !text_eq(text, t->version);
    (void)text_copy(t->version, sizeof t->version, text);
    t->has_version = true;
    return fresh ? replay_release(t->in->replay, t->service, at, text, e) : STATUS_OK;
}

static enum status read_field(struct table *t, unsigned i, struct wall at, struct csv_field f, struct err *e)
{
    double v;
    if (t->columns[i].kind == COLUMN_NONE) return STATUS_OK;
    if (t->columns[i].kind == COLUMN_RELEASE) return read_release(t, at, f, e);
    if (!csv_number(f, &v)) {
        return err_set(e, STATUS_INVALID, "'%.*s' is not a number; leave the field empty where nothing is known",
                       (int)(f.len < 40 ? f.len : 40), f.s);
    }
    if (t->columns[i].kind == COLUMN_SIGNAL) return replay_point(t->in->replay, t->service, t->columns[i].index, at, v, e);
    if (isnan(v)) return STATUS_OK;
    return replay_knob(t->in->replay, t->service, t->columns[i].index, at, v, REPLAY_RECORDED, e);
}

static enum status read_row(void *arg, struct wall at, const struct csv_field *fields, unsigned n, const char *place, struct err *e)
{
    struct table *t = arg;
    if (n != t->n) return err_set(e, STATUS_INVALID, "%s: %u columns, but line 1 names %u", place, n, t->n);
    if (at.us <= t->last.us) return err_set(e, STATUS_INVALID, "%s: times must grow", place);
    t->last = at;
    if (at.us < t->from || at.us > t->to) return STATUS_OK;
    for (unsigned i = 1; i < n; i++) {
        enum status s = read_field(t, i, at, fields[i], e);
        if (s != STATUS_OK) return err_prefix(e, "%s", place);
    }
    return STATUS_OK;
}

enum status replay_read_csv(struct replay_input *in, const char *path, uint16_t service, struct err *e)
{
    struct table t = {.in = in, .service = service, .last = WALL_NONE};
    struct buf text = {.limit = FILE_BYTES_MAX};
    struct csv_sink sink = {&t, read_names, read_row};
    replay_wanted(in, &t.from, &t.to);
    enum status s = input_read(path, FILE_BYTES_MAX, &text, e);
    if (s == STATUS_OK) s = csv_table(path, buf_text(&text), text.len, &sink, e);
    buf_free(&text);
    return s;
}
