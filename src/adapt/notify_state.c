/* What each receiver has had, kept over restarts: bytes in the store. What is saved is never ahead of what was taken. */
#include <stdlib.h>
#include <string.h>

#include "adapt/log.h"
#include "adapt/notify_inside.h"
#include "base/check.h"
#include "base/text.h"

#define FORMAT 1

static void put_text(struct buf *b, const char *text) { buf_le_bytes(b, text, strlen(text)); }

struct numbers { struct buf *out; uint32_t n; };

static void put_number(void *arg, uint64_t number)
{
    struct numbers *x = arg;
    buf_le64(x->out, number & ~TOLD_NOTICE);
    x->n++;
}

static void put_receiver(struct buf *b, const struct receiver *r)
{
    struct buf own = BUF_INIT;
    struct numbers x = {&own, 0};
    put_text(b, r->name);
    buf_le64(b, queue_settled(&r->queue));
    buf_le32(b, r->queue.late_n);
    for (unsigned i = 0; i < r->queue.late_n; i++) buf_le64(b, r->queue.late[i]);
    queue_notices(&r->queue, put_number, &x);
    buf_le32(b, x.n);
    buf_add(b, buf_text(&own), own.len);
    buf_free(&own);
}

void notify_state_save(struct notify *n)
{
    struct buf b = BUF_INIT;
    buf_le8(&b, FORMAT);
    buf_le64(&b, n->notice_next);
    buf_le32(&b, n->notice_n);
    for (unsigned i = 0; i < n->notice_n; i++) {
        const struct own_notice *o = &n->notices[i];
        buf_le64(&b, o->number);
        buf_le64(&b, (uint64_t)o->at.us);
        buf_le8(&b, (uint8_t)o->level);
        put_text(&b, o->service);
        put_text(&b, o->subject);
        put_text(&b, o->text);
    }
    buf_le32(&b, n->receiver_n);
    for (unsigned i = 0; i < n->receiver_n; i++) put_receiver(&b, n->receivers[i]);
    CHECK_MEMORY(buf_ok(&b));
    if (b.len == n->saved.len && memcmp(b.data, n->saved.data, b.len) == 0) {
        buf_free(&b);
        return;
    }
    n->log.save(n->log.ctx, b.data, b.len);
    buf_free(&n->saved);
    n->saved = b;
}

static char *get_text(struct reader *r)
{
    size_t len;
    const uint8_t *p = read_le_bytes(r, &len);
    char *text = p ? strndup((const char *)p, len) : strdup("");
    CHECK_MEMORY(text);
    return text;
}

static void get_notices(struct notify *n, struct reader *r)
{
    uint32_t count = read_le32(r);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        struct own_notice o = {.number = read_le64(r)};
        o.at.us = (int64_t)read_le64(r);
        uint8_t level = read_le8(r);
        o.level = level <= NOTICE_PAGE ? (enum notice)level : NOTICE_PAGE;
        o.service = get_text(r);
        o.subject = get_text(r);
        o.text = get_text(r);
        if (n->notice_n < NOTICES_MOST && !r->failed) {
            n->notices[n->notice_n++] = o;
            continue;
        }
        free(o.service);
        free(o.subject);
        free(o.text);
    }
}

static struct receiver *find(const struct notify *n, const char *name)
{
    for (unsigned i = 0; i < n->receiver_n; i++) {
        if (text_eq(n->receivers[i]->name, name)) return n->receivers[i];
    }
    return NULL;
}

static void get_own(struct notify *n, struct receiver *r, uint64_t number)
{
    for (unsigned i = 0; r && i < n->notice_n; i++) {
        if (n->notices[i].number == number) (void)notify_add_own(n, r, &n->notices[i]);
    }
}

static void get_receiver(struct notify *n, struct reader *r, uint64_t size)
{
    char *name = get_text(r);
    struct receiver *to = find(n, name);
    uint64_t settled = read_le64(r);
    uint32_t late = read_le32(r);
    if (to && !r->failed && settled <= size) to->queue.next = settled;   /* a log put back from a backup may be shorter */
    for (uint32_t i = 0; i < late && !r->failed; i++) {
        uint64_t number = read_le64(r);
        if (to && to->queue.late_n < QUEUE_LATE) to->queue.late[to->queue.late_n++] = number;
    }
    uint32_t own = read_le32(r);
    for (uint32_t i = 0; i < own && !r->failed; i++) get_own(n, to, read_le64(r));
    free(name);
}

void notify_state_load(struct notify *n)
{
    struct buf b = BUF_INIT;
    if (!n->log.load(n->log.ctx, &b)) {
        buf_free(&b);
        return;
    }
    struct reader r = {(const uint8_t *)buf_text(&b), b.len, 0, false};
    uint64_t size = n->log.size(n->log.ctx);
    bool known = read_le8(&r) == FORMAT;
    n->notice_next = known ? read_le64(&r) : 0;
    if (known) get_notices(n, &r);
    uint32_t count = known ? read_le32(&r) : 0;
    for (uint32_t i = 0; i < count && !r.failed; i++) get_receiver(n, &r, size);
    if (!known || r.failed)
        log_line(LEVEL_WARN, "notify", "what receivers have had cannot be read; they are told from here on", NULL);
    buf_free(&b);
}
