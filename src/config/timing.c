/* Times of a service, and when changes are allowed. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

#define BLOCKS_MIN 20            /* loop.md section 6 */
#define DAY_MINUTES 1440

/* The longest block of what the verdict compares: 30 s, or the range of the query if longer. */
static struct span judge_block(const struct service_def *s, const char **ret_name)
{
    const uint16_t parts[] = {s->judge.latency, s->judge.queue, s->judge.throughput};
    struct span block = SPAN_S(30);
    *ret_name = NULL;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i] == NO_INDEX || s->signals[parts[i]].range.us <= block.us) continue;
        block = s->signals[parts[i]].range;
        *ret_name = s->signals[parts[i]].name;
    }
    return block;
}

static void take_window(struct config_work *w, const struct config_value *v, struct timing_def *t)
{
    const char *name;
    struct span block = judge_block(w->s, &name), least = {block.us * BLOCKS_MIN};
    t->window = v->span;
    if (!v->at) t->window = span_max(t->window, least);
    if (t->window.us >= least.us) return;
    struct buf text = BUF_INIT;
    span_print_config(&text, least);
    buf_printf(&text, " (%d blocks of ", BLOCKS_MIN);
    span_print_config(&text, block);
    if (name) buf_printf(&text, ", the range of '%s'", name);
    config_wrong(w->d, v->at, "make the window longer, or the range of the query shorter", "window: shorter than %s)",
                 buf_text(&text));
    buf_free(&text);
}

void config_build_timing(struct config_work *w)
{
    struct config_timing raw;
    struct config_node none = {.kind = CONFIG_MAP, .source = w->node->source};
    const struct config_value *v = &w->raw.timing;
    struct timing_def *t = &w->s->timing;
    *t = timing_defaults();
    if (!config_read_block(w->d, CONFIG_BLOCK_TIMING, v->is_set ? v->at : &none, v->inherited, &raw)) return;
    const struct { const struct config_value *v; struct span *ret; } fields[] = {
        {&raw.settle, &t->settle},
        {&raw.readback_hot, &t->readback_hot},
        {&raw.readback_reload, &t->readback_reload},
        {&raw.readback_restart, &t->readback_restart},
        {&raw.late_watch, &t->late_watch},
        {&raw.approval, &t->approval},
        {&raw.release_watch, &t->release_watch},
        {&raw.freeze_baseline, &t->freeze_baseline},
        {&raw.blind_after, &t->blind_after},
        {&raw.cause_wait, &t->cause_wait},
        {&raw.renotify, &t->renotify},
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (fields[i].v->is_set) *fields[i].ret = fields[i].v->span;
    if (raw.window.is_set) take_window(w, &raw.window, t);
}

static void add_window(struct service_def *s, const struct window_def *window)
{
    if (window->to_min > window->from_min) s->windows[s->window_count++] = *window;
}

/* A window that is over keeps its place with no day in it: were it dropped, the last one's end would allow all times.
 * A window over midnight is two: the evening, and the next day's morning. */
static void add_windows(struct service_def *s, struct window_def window, int from, int to)
{
    window.from_min = (uint16_t)from;
    window.to_min = (uint16_t)(to > from ? to : DAY_MINUTES);
    add_window(s, &window);
    if (to > from) return;
    window.weekdays = (uint8_t)((window.weekdays << 1 | window.weekdays >> 6) & 127);
    window.from_min = 0;
    window.to_min = (uint16_t)to;
    add_window(s, &window);
}

static void build_window(struct config_work *w, const struct config_node *node)
{
    struct config_window raw;
    if (!config_read_block(w->d, CONFIG_BLOCK_WINDOW, node, NULL, &raw)) return;
    if (raw.from.is_set && raw.to.is_set && raw.from.word == raw.to.word)
        config_wrong(w->d, raw.to.at ? raw.to.at : raw.from.at, "00:00 to 24:00 is the whole day",
                     "this window begins and ends at the same time");
    if (raw.until.is_set && w->b->o.now.us > 0 && raw.until.wall.us < w->b->o.now.us) {
        config_warn(w->d, raw.until.at, "remove it, or give it a new end",
                    "this window is over since %.40s: no change is made in it", raw.until.at->text);
        raw.days.word = 0;
    }
    struct window_def window = {
        .name = raw.name.is_set ? config_copy(w, raw.name.text) : "change-window",
        .weekdays = (uint8_t)raw.days.word,
        .offset_s = raw.utc_offset.is_set ? raw.utc_offset.word : w->s->utc_offset_s,
    };
    add_windows(w->s, window, raw.from.word, raw.to.word);
}

void config_build_windows(struct config_work *w)
{
    const struct config_value *v = &w->raw.change_windows;
    if (!v->is_set) return;
    w->s->windows = config_alloc(w, 2 * (size_t)v->at->n, sizeof *w->s->windows);
    for (uint32_t i = 0; w->s->windows && i < v->at->n; i++) build_window(w, v->at->items[i]);
}
