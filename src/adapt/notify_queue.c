#include "adapt/notify_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

static struct letter *letter_new(void)
{
    struct letter *l = calloc(1, sizeof *l);
    CHECK_MEMORY(l);
    return l;
}

static void letter_free(struct letter *l)
{
    if (!l) return;
    for (unsigned i = 0; i < l->earlier_n; i++) free(l->earlier[i]);
    for (unsigned i = 0; l->summary && i < l->summary->line_n; i++) free(l->summary->lines[i].line);
    free(l->summary);
    told_free(l->newest);
    free(l);
}

static void number_add(struct letter *l, uint64_t number)
{
    unsigned at = l->number_n;
    if (at == LETTER_NUMBERS) return;
    while (at > 0 && l->numbers[at - 1] > number) at--;
    memmove(l->numbers + at + 1, l->numbers + at, (l->number_n++ - at) * sizeof *l->numbers);
    l->numbers[at] = number;
}

/* ---- one matter ---- */

static char *line_of(const struct told *t)
{
    struct buf b = BUF_INIT;
    told_time(&b, t->at, t->offset_s);
    buf_printf(&b, " %s", t->title);
    char *line = buf_take(&b, NULL);
    CHECK_MEMORY(line);
    return line;
}

static void letter_merge(struct letter *l, struct told *t)
{
    if (l->newest) {
        if (l->earlier_n == LETTER_LINES) {      /* the first one stays: how it began */
            free(l->earlier[1]);
            memmove(l->earlier + 1, l->earlier + 2, (LETTER_LINES - 2) * sizeof *l->earlier);
            l->earlier_n--;
            l->left_out++;
        }
        l->earlier[l->earlier_n++] = line_of(l->newest);
        told_free(l->newest);
    }
    l->newest = t;
    if (t->level > l->level) l->level = t->level;
    number_add(l, t->number);
}

static struct letter *find(const struct queue *q, const char *key)
{
    struct letter *l = q->first;
    while (l && (l->out || l->summary || !text_eq(l->newest->key, key))) l = l->next;
    return l;
}

static void append(struct queue *q, struct letter *l)
{
    struct letter **at = &q->first;
    while (*at) at = &(*at)->next;
    *at = l;
    q->n++;
}

/* ---- a storm ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

static void summary_line(struct summary *s, const struct told *t)
{
    unsigned at = s->line_n;
    while (at > 0 && s->lines[at - 1].level < t->level) at--;
    if (at == SUMMARY_LINES) return;
    if (s->line_n == SUMMARY_LINES) free(s->lines[--s->line_n].line);
    memmove(s->lines + at + 1, s->lines + at, (s->line_n++ - at) * sizeof *s->lines);
    s->lines[at].level = t->level;
    s->lines[at].at = t->at;
    s->lines[at].line = line_of(t);
}

static void summary_count(struct summary *s, const struct told *t)
{
    uint64_t h = hash_of(t->key);
    unsigned i = 0;
    while (i < s->key_n && s->keys[i] != h) i++;
    if (i == s->key_n && i < SUMMARY_KEYS) s->keys[s->key_n++] = h;
    s->tally[t->kind < 0 ? RECORD_KIND_COUNT : t->kind]++;
    if (s->told_n++ == 0 || t->at.us < s->first.us) s->first = t->at;
    if (t->at.us > s->last.us) s->last = t->at;
}

static void storm_take(struct queue *q, struct told *t)
{
    summary_count(q->storm->summary, t);
    summary_line(q->storm->summary, t);
    if (t->level > q->storm->level) q->storm->level = t->level;
    number_add(q->storm, t->number);
    told_free(t);
}

static void storm_open(struct queue *q, int64_t due)
{
    q->storm = letter_new();
    q->storm->summary = calloc(1, sizeof *q->storm->summary);
    CHECK_MEMORY(q->storm->summary);
    q->storm_due = due;
}

/* What waits becomes part of it; of what was merged, the newest is counted and the rest was said before. */
static void storm_begin(struct queue *q, int64_t now)
{
    storm_open(q, now + QUEUE_GATHER);
    for (struct letter **at = &q->first; *at;) {
        struct letter *l = *at;
        if (l->out || l->summary || l->newest->urgent) {
            at = &l->next;
            continue;
        }
        for (unsigned i = 0; i < l->number_n; i++) number_add(q->storm, l->numbers[i]);
        q->storm->summary->told_n += l->earlier_n + l->left_out;
        struct told *t = l->newest;
        l->newest = NULL;
        *at = l->next;
        q->n--;
        letter_free(l);
        storm_take(q, t);
    }
}

static bool too_many(struct queue *q, int64_t now)
{
    unsigned waiting = 0;
    for (const struct letter *l = q->first; l; l = l->next) waiting += !l->out && !l->summary;
    int64_t oldest = q->born[q->born_n % QUEUE_STORM];
    bool fast = q->born_n >= QUEUE_STORM && now - oldest < US_PER_MIN;
    q->born[q->born_n++ % QUEUE_STORM] = now;
    return fast || waiting >= QUEUE_STORM;
}

/* ---- the queue ---- */

void queue_open(struct queue *q, bool merging, unsigned rate, uint64_t next)
{
    *q = (struct queue){.merging = merging, .rate = rate, .next = next, .retry_at = INT64_MIN, .quiet_until = INT64_MIN};
}

void queue_set_rate(struct queue *q, bool merging, unsigned rate)
{
    if (rate != q->rate) q->sent_n = 0;
    q->merging = merging;
    q->rate = rate;
}

void queue_close(struct queue *q)
{
    while (q->first) {
        struct letter *l = q->first;
        q->first = l->next;
        letter_free(l);
    }
    letter_free(q->storm);
    q->storm = NULL;
    q->n = 0;
}

bool queue_room(const struct queue *q) { return q->merging || q->n < QUEUE_MOST; }

static void add_letter(struct queue *q, struct told *t)
{
    struct letter *l = letter_new();
    letter_merge(l, t);
    append(q, l);
}

void queue_add(struct queue *q, struct told *t, int64_t now)
{
    if (!q->merging) {
        add_letter(q, t);
        return;
    }
    struct letter *same = find(q, t->key);
    if (t->urgent) {
        if (same) letter_merge(same, t);
        else add_letter(q, t);
        return;
    }
    if (!q->storm && now < q->quiet_until) storm_open(q, q->quiet_until);
    if (!q->storm && !same && too_many(q, now)) storm_begin(q, now);
    if (q->storm) storm_take(q, t);
    else if (same) letter_merge(same, t);
    else add_letter(q, t);
}

bool queue_may_send(const struct queue *q, int64_t now)
{
    return q->sent_n < q->rate || now - q->sent[q->sent_n % q->rate] >= US_PER_MIN;
}

void queue_count(struct queue *q, int64_t now) { q->sent[q->sent_n++ % q->rate] = now; }

static bool is_out(const struct queue *q)
{
    for (const struct letter *l = q->first; l; l = l->next) {
        if (l->out) return true;
    }
    return false;
}

/* Urgent ones first, else in the order in which they came; a summary that is due goes to the end of the line. */
struct letter *queue_take(struct queue *q, int64_t now)
{
    if (is_out(q) || now < q->retry_at || !queue_may_send(q, now)) return NULL;
    if (q->storm && now >= q->storm_due) {
        append(q, q->storm);
        q->storm = NULL;
        q->quiet_until = now + QUEUE_QUIET;
    }
    struct letter *l = q->first;
    while (l && !(l->newest && l->newest->urgent)) l = l->next;
    if (!l || !q->merging) l = q->first;
    if (!l) return NULL;
    l->out = true;
    queue_count(q, now);
    return l;
}

int64_t queue_wake(const struct queue *q)
{
    int64_t at = q->first ? INT64_MIN : q->storm ? q->storm_due : QUEUE_NEVER;
    if (at == QUEUE_NEVER || is_out(q)) return QUEUE_NEVER;
    if (q->retry_at > at) at = q->retry_at;
    if (q->sent_n >= q->rate && q->sent[q->sent_n % q->rate] + US_PER_MIN > at) at = q->sent[q->sent_n % q->rate] + US_PER_MIN;
    return at;
}

unsigned queue_waiting(const struct queue *q) { return q->n + (q->storm != NULL); }

/* ---- what is done with ---- */

static uint64_t least_open(const struct letter *l)
{
    return l && l->number_n && !(l->numbers[0] & TOLD_NOTICE) ? l->numbers[0] : UINT64_MAX;
}

uint64_t queue_settled(const struct queue *q)
{
    uint64_t least = q->next;
    for (const struct letter *l = q->first; l; l = l->next) {
        if (least_open(l) < least) least = least_open(l);
    }
    return least_open(q->storm) < least ? least_open(q->storm) : least;
}

bool queue_is_late(const struct queue *q, uint64_t number)
{
    for (unsigned i = 0; i < q->late_n; i++) {
        if (q->late[i] == number) return true;
    }
    return false;
}

static void settle(struct queue *q, const struct letter *l)
{
    for (unsigned i = 0; i < l->number_n && !(l->numbers[i] & TOLD_NOTICE); i++) {
        unsigned at = q->late_n;
        if (at == QUEUE_LATE) break;
        while (at > 0 && q->late[at - 1] > l->numbers[i]) at--;
        memmove(q->late + at + 1, q->late + at, (q->late_n++ - at) * sizeof *q->late);
        q->late[at] = l->numbers[i];
    }
    uint64_t done = queue_settled(q);
    unsigned below = 0;
    while (below < q->late_n && q->late[below] < done) below++;
    q->late_n -= below;
    memmove(q->late, q->late + below, q->late_n * sizeof *q->late);
}

void queue_failed(struct queue *q, int64_t pause, int64_t now)
{
    int64_t grown = q->failures < 9 ? US_PER_S << q->failures : QUEUE_PAUSE_MOST;
    if (grown > QUEUE_PAUSE_MOST) grown = QUEUE_PAUSE_MOST;
    q->failures++;
    q->retry_at = now + (pause > grown ? pause : grown);
}

void queue_good(struct queue *q)
{
    q->failures = 0;
    q->retry_at = INT64_MIN;
}

void queue_done(struct queue *q, enum delivery how, int64_t pause, int64_t now)
{
    struct letter **at = &q->first;
    while (*at && !(*at)->out) at = &(*at)->next;
    if (!*at) return;
    struct letter *l = *at;
    l->out = false;
    if (how == DELIVERY_LATER) {
        queue_failed(q, pause, now);
        return;
    }
    queue_good(q);
    *at = l->next;
    q->n--;
    settle(q, l);
    letter_free(l);
}

void queue_notices(const struct queue *q, void (*see)(void *arg, uint64_t number), void *arg)
{
    const struct letter *l = q->first ? q->first : q->storm;
    while (l) {
        for (unsigned i = 0; i < l->number_n; i++) {
            if (l->numbers[i] & TOLD_NOTICE) see(arg, l->numbers[i]);
        }
        l = l->next ? l->next : l == q->storm ? NULL : q->storm;
    }
}
