#include "execute/execute.h"

#include <string.h>

#include "base/buf.h"

/* Bytes inside single quotes: ' becomes '\''. */
static void quoted_bytes(struct buf *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'') buf_puts(out, "'\\''");
        else buf_putc(out, s[i]);
    }
}

static void quoted(struct buf *out, const char *s)
{
    buf_putc(out, '\'');
    quoted_bytes(out, s, strlen(s));
    buf_putc(out, '\'');
}

/* The parts of a template that are known here; what a person must look up stays as a placeholder. */
static void template(struct buf *out, const char *text, const struct knob_value *v, const char *instance)
{
    static const char *const names[] = {"{value}", "{old}", "{instance}", "{version}"};
    buf_putc(out, '\'');
    while (*text) {
        size_t which = 0;
        while (which < ARRAY_LEN(names) && strncmp(text, names[which], strlen(names[which])) != 0) which++;
        switch (which) {
        case 0: quoted_bytes(out, v->bytes, v->len); break;
        case 1: buf_puts(out, "<old>"); break;
        case 2: quoted_bytes(out, instance, strlen(instance)); break;
        case 3: buf_puts(out, "<version>"); break;
        default: quoted_bytes(out, text, 1); break;
        }
        text += which < ARRAY_LEN(names) ? strlen(names[which]) : 1;
    }
    buf_putc(out, '\'');
}

static bool contains_word(const char *name, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++) {
        size_t j = 0;
        while (j < n && (name[i + j] | 0x20) == word[j]) j++;
        if (j == n) return true;
    }
    return false;
}

static bool is_secret_header(const char *header, size_t name_len)
{
    static const char *const words[] = {"auth", "token", "key", "secret", "cookie", "password", "signature"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (contains_word(header, name_len, words[i])) return true;
    return false;
}

static void header_line(struct buf *out, const char *header, const struct knob_value *v, const char *instance)
{
    const char *colon = strchr(header, ':');
    size_t name_len = colon ? (size_t)(colon - header) : strlen(header);
    buf_puts(out, " -H ");
    if (!is_secret_header(header, name_len)) {
        template(out, header, v, instance);
        return;
    }
    buf_putc(out, '\'');
    quoted_bytes(out, header, name_len);
    buf_puts(out, ": <secret>'");
}

static void curl_line(struct buf *out, const struct access_def *w, const struct knob_value *v, const char *instance)
{
    buf_puts(out, "curl -fsS -X ");
    buf_puts(out, w->method ? w->method : "PUT");
    for (uint16_t i = 0; i < w->header_count; i++) header_line(out, w->headers[i], v, instance);
    if (w->secret_file) {   /* the shell reads the token; it is never printed */
        buf_puts(out, " -H \"Authorization: Bearer $(cat ");
        quoted(out, w->secret_file);
        buf_puts(out, ")\"");
    }
    if (w->body) {
        buf_puts(out, " --data-binary ");
        template(out, w->body, v, instance);
    }
    buf_putc(out, ' ');
    template(out, w->url ? w->url : "", v, instance);
}

static void file_line(struct buf *out, const struct access_def *w, const struct knob_value *v, const char *instance)
{
    const char *path = w->path ? w->path : "";
    bool part = !w->body && w->pointer && w->pointer[0];
    if (part) {   /* a plain printf would destroy the rest of the document */
        buf_puts(out, "edit ");
        template(out, path, v, instance);
        buf_puts(out, ": set ");
        quoted(out, w->pointer);
        buf_puts(out, " to ");
        template(out, "{value}", v, instance);
        return;
    }
    buf_puts(out, "printf %s ");
    template(out, w->body ? w->body : "{value}", v, instance);
    buf_puts(out, " > ");
    template(out, path, v, instance);
}

void execute_by_hand(struct buf *out, const struct service_def *s, const struct knob_def *k, const struct knob_value *v)
{
    const struct access_def *w = &k->write;
    if (w->kind == ACCESS_NONE) {
        buf_printf(out, "set %s of %s to ", k->name, s->name);
        template(out, "{value}", v, "");
        buf_puts(out, " where it is kept: no way to write it is configured");
        return;
    }
    uint16_t places = w->per_instance ? service_instances(s) : 1;
    for (uint16_t i = 0; i < places; i++) {
        const char *instance = w->per_instance ? s->targets[i].instance : "<instance>";
        if (i > 0) buf_putc(out, '\n');
        if (w->kind == ACCESS_HTTP) curl_line(out, w, v, instance ? instance : "<instance>");
        else file_line(out, w, v, instance ? instance : "<instance>");
    }
}
