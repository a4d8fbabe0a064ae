/* Noticing releases: loop.md section 1, "Causes": a new model_version label, or new process start times on more
 * than half of the instances; its time is when the last of them changed. */
#include <math.h>
#include <string.h>

#include "collect/inside.h"

#define ROLLOUT SPAN_MIN(30)           /* instances of one release change within it */
#define OWN_RESTART SPAN_MIN(15)       /* a restart that we caused shows within it: the read-back deadline of restarts */
#define START_SLACK_S 2.0
#define RESTART_SPAN SPAN_MIN(10)      /* an instance that begins anew three times within it is in a restart loop */
#define RESTART_LOOP 3

void collect_versions_add(struct versions *v, const char *text, size_t len)
{
    if (len == 0 || len >= VERSION_BYTES) return;
    for (uint32_t i = v->n; i-- > 0;)
        if (strncmp(v->text[i], text, len) == 0 && v->text[i][len] == '\0') return;
    if (v->n == VERSIONS_MAX) return;
    memcpy(v->text[v->n], text, len);
    v->text[v->n++][len] = '\0';
}

static bool versions_have(const struct versions *v, const char *text)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->text[i], text) == 0) return true;
    return false;
}

/* A version that this target did not have before; NULL: none. A target's first versions are no change. */
static const char *new_version(const struct versions *before, const struct versions *now)
{
    for (uint32_t i = 0; before->n && i < now->n; i++)
        if (!versions_have(before, now->text[i])) return now->text[i];
    return NULL;
}

static bool ours(const struct collect *c, struct instant at)
{
    if (!instant_is_set(c->own_reload) || instant_before(at, c->own_reload)) return false;
    return !span_less(OWN_RESTART, instant_since(at, c->own_reload));
}

static uint32_t restarted(const struct collect *c, struct instant now)
{
    uint32_t n = 0;
    for (uint16_t i = 0; i < service_instances(c->s); i++) {
        struct instant at = c->targets[i].start_changed;
        n += instant_is_set(at) && !span_less(ROLLOUT, instant_since(now, at));
    }
    return n;
}

static void report(struct collect *c, struct instant at)
{
    c->release.seen = true;
    c->release.at = at;
}

static void count_restart(struct target *t, struct instant at)
{
    bool again = instant_is_set(t->restarts_since) && !span_less(RESTART_SPAN, instant_since(at, t->restarts_since));
    if (!again) t->restarts_since = at;
    t->restarts = again ? t->restarts + 1 : 1;
}

bool collect_restart_loop(const struct collect *c, struct instant now)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    for (uint16_t i = 0; i < service_instances(c->s); i++) {
        const struct target *t = &c->targets[i];
        bool recent = instant_is_set(t->start_changed) && !span_less(RESTART_SPAN, instant_since(now, t->start_changed));
        if (recent && t->restarts >= RESTART_LOOP) return true;
    }
    return false;
}

void collect_release_page(struct collect *c, uint16_t target, const struct page *p, double start_time)
{
    struct target *t = &c->targets[target];
    if (target >= service_instances(c->s)) return;   /* an exporter beside it may restart as it likes */
    const char *version = new_version(&t->versions, &c->page_versions);
    if (version) {
        text_copy(c->release.version, sizeof c->release.version, version);
        report(c, p->at);
    }
    if (c->page_versions.n) t->versions = c->page_versions;
    if (!(start_time > 0) || isinf(start_time)) return;
    bool changed = t->start_time > 0 && fabs(start_time - t->start_time) > START_SLACK_S;
    t->start_time = start_time;
    if (!changed || ours(c, p->at)) return;
    t->start_changed = p->at;
    count_restart(t, p->at);
    if (restarted(c, p->at) * 2 > service_instances(c->s)) report(c, p->at);
}

void collect_release(struct collect *c, struct release_seen *ret)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    *ret = c->release;
    c->release.seen = false;
    c->release.version[0] = '\0';
}
