/* What people are told. A notice about a record waits until the record is durable. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

static char *copy(const char *text)
{
    char *c = strdup(text);
    CHECK_MEMORY(c);
    return c;
}

void notice(struct loop *l, struct service_loop *s, enum notice level, const char *subject, const char *text)
{
    struct effect *e = loop_effect(l, EFFECT_NOTIFY, service_index(l, s));
    e->u.notify.level = level;
    e->u.notify.subject = arena_strdup(&l->arena, subject);
    e->u.notify.text = arena_strdup(&l->arena, text);
    CHECK_MEMORY(e->u.notify.subject && e->u.notify.text);
}

void notice_defer(struct service_loop *s, enum notice level, const char *subject, const char *text)
{
    if (s->deferred_n == s->deferred_cap) {
        unsigned cap = s->deferred_cap ? s->deferred_cap * 2 : 4;
        struct deferred_notice *grown = realloc(s->deferred, cap * sizeof *grown);
        CHECK_MEMORY(grown);
        s->deferred = grown;
        s->deferred_cap = cap;
    }
    s->deferred[s->deferred_n++] = (struct deferred_notice){level, copy(subject), copy(text)};
}

void notice_flush(struct loop *l, struct service_loop *s)
{
    for (unsigned i = 0; i < s->deferred_n; i++) {
        struct deferred_notice *d = &s->deferred[i];
        notice(l, s, d->level, d->subject, d->text);
        l->effects[l->effect_n - 1].u.notify.recorded = true;
        free(d->subject);
        free(d->text);
    }
    s->deferred_n = 0;
}
