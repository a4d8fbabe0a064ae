#include "api/emit.h"

#include <math.h>
#include <string.h>

static void start(struct emit *e, const char *key)
{
    if (e->more) buf_putc(e->out, ',');
    e->more = true;
    if (!key) return;
    buf_json_string(e->out, key, strlen(key));
    buf_putc(e->out, ':');
}

void emit_open(struct emit *e, const char *key, char bracket)
{
    start(e, key);
    buf_putc(e->out, bracket);
    e->more = false;
}

void emit_close(struct emit *e, char bracket)
{
    buf_putc(e->out, bracket);
    e->more = true;
}

void emit_null(struct emit *e, const char *key)
{
    start(e, key);
    buf_puts(e->out, "null");
}

void emit_text(struct emit *e, const char *key, const char *value)
{
    if (!value) {
        emit_null(e, key);
        return;
    }
    start(e, key);
    buf_json_string(e->out, value, strlen(value));
}

void emit_text_or_null(struct emit *e, const char *key, const char *value)
{
    emit_text(e, key, value && value[0] ? value : NULL);
}

void emit_number(struct emit *e, const char *key, double value)
{
    if (!isfinite(value)) {
        emit_null(e, key);
        return;
    }
    start(e, key);
    buf_double(e->out, value);
}

void emit_int(struct emit *e, const char *key, int64_t value)
{
    start(e, key);
    buf_i64(e->out, value);
}

void emit_bool(struct emit *e, const char *key, bool value)
{
    start(e, key);
    buf_puts(e->out, value ? "true" : "false");
}

void emit_wall(struct emit *e, const char *key, struct wall t)
{
    if (t.us == INT64_MIN) {
        emit_null(e, key);
        return;
    }
    start(e, key);
    buf_putc(e->out, '"');
    wall_print(e->out, t);
    buf_putc(e->out, '"');
}

void emit_seconds(struct emit *e, const char *key, struct span d) { emit_number(e, key, (double)(d.us / 1000) / 1000); }
