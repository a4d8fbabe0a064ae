/* What a seed is: how many services, for how long, over which kind of target and log, in which mode; and the configurations
 * that are loaded in the run. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/load.h"
#include "sim/scenario.h"
#include "sim/swarm_inside.h"

static void leave_out(struct swarm *w)
{
    const struct swarm_options *o = &w->o;
    w->result->items = w->faults.n;
    for (unsigned i = 0; i < w->faults.n; i++) {
        bool in = !o->has_only || (o->only[i / 64] >> (i % 64) & 1);
        w->faults.items[i].left_out = !in;
        w->result->left += in;
    }
}

/* 3 to 8 services in one loop, for less time: in groups or not, with a small or a large budget. */
static void draw_fleet(struct swarm *w, struct prng *p)
{
    w->n = 3 + (unsigned)prng_below(p, SWARM_SERVICES - 2);
    w->groups = (uint8_t)prng_below(p, 4);
    w->calls = prng_below(p, 2) == 0;
    w->eager = prng_below(p, 4) != 0;
    w->per_hour = (uint8_t)(w->eager ? 2 + prng_below(p, 5) : 6);
    w->active_end.us = (8 + (int64_t)prng_below(p, 2) * 4) * US_PER_HOUR;
}

const struct swarm_zone swarm_zones[] = {
    {"UTC", 0}, {"Asia/Shanghai", 480}, {"America/New_York", -240}, {"Asia/Kolkata", 330}, {"Pacific/Chatham", 765},
    {"America/St_Johns", -150}, {"Europe/Berlin", 120},
};

/* One run in three has windows in its configuration: freeze mostly, of 20 min to 4 h a day, somewhere in the world. */
static void draw_windows(struct swarm *w, const struct prng *root)
{
    struct prng p;
    prng_fork(&p, root, "windows");
    if (prng_below(&p, 3) != 0) return;
    w->window_n = 1 + (unsigned)prng_below(&p, SWARM_WINDOWS);
    for (unsigned i = 0; i < w->window_n; i++) {
        w->windows[i] = (struct swarm_window){
            .kind = prng_below(&p, 3) ? FREEZE_KIND_FREEZE : FREEZE_KIND_MAINTENANCE,
            .zone = (uint8_t)prng_below(&p, ARRAY_LEN(swarm_zones)), .from = (uint16_t)prng_below(&p, 1440),
            .minutes = (uint16_t)(20 + prng_below(&p, 220)), .first_only = prng_below(&p, 2) == 0,
        };
    }
}

void swarm_shape(struct swarm *w)
{
    struct prng root, fleet;
    prng_seed(&root, w->o.seed);
    prng_fork(&w->chance, &root, "swarm");
    struct prng *p = &w->chance;
    static const uint8_t hours[] = {8, 12, 24, 48};
    w->active_end.us = hours[prng_below(p, ARRAY_LEN(hours))] * US_PER_HOUR;
    w->instances = 1 + (unsigned)prng_below(p, SWARM_INSTANCES);
    static const uint8_t cas[] = {CAS_NONE, CAS_VALUE, CAS_VERSION, CAS_VERSION};
    w->cas = (enum control_cas)cas[prng_below(p, ARRAY_LEN(cas))];
    w->mode = prng_below(p, 4) == 0 ? MODE_CONFIRM : MODE_AUTO;
    w->hurried = prng_below(p, 3) != 0;
    w->n = 1;
    prng_fork(&fleet, &root, "fleet");
    if (prng_below(&fleet, 5) == 0) draw_fleet(w, &fleet);
    w->real = prng_below(&fleet, 3) == 0;
    draw_windows(w, &root);
    w->end = instant_add(w->active_end, SWARM_CALM);
    faults_draw(&w->faults, w->o.seed, (struct span){w->active_end.us}, w->n);
    leave_out(w);
}

/* ---- configuration ---- */

static void adapt_knob(const struct swarm *w, struct knob_def *knob)
{
    knob->cas = w->cas != CAS_NONE;
    knob->single_writer = w->cas == CAS_NONE;
    if (w->cas != CAS_VERSION) knob->read.version_header = NULL;
    if (!w->hurried) return;
    knob->interval = SPAN_MIN(20);
    knob->protect = SPAN_HOUR(1);
    knob->dead_band = 0.02;
}

static void adapt_service(const struct swarm *w, const struct policy *p, struct service_def *s)
{
    s->target_count = 0;
    for (uint16_t i = 0; i < s->signal_count; i++) {
        s->signals[i].query = NULL;
        s->signals[i].range = (struct span){0};
        s->signals[i].interval = span_max(s->signals[i].interval, p->tick);
    }
    s->mode = (enum mode)w->mode;
    for (unsigned c = 0; c < CLASS_COUNT; c++) s->class_mode[c] = (enum mode)w->mode;
    for (uint16_t k = 0; k < s->knob_count; k++) adapt_knob(w, &s->knobs[k]);
}

static void write_time(struct buf *out, const char *key, unsigned minute)
{
    buf_printf(out, "%s: '%02u:%02u'", key, minute / 60, minute % 60);
}

static void write_window(const struct swarm *w, unsigned i, struct buf *out)
{
    const struct swarm_window *x = &w->windows[i];
    unsigned end = x->from + x->minutes;
    buf_printf(out, "  - name: drawn-%u\n    author: wang\n", i);
    if (x->first_only) buf_printf(out, "    services: [%s]\n", w->n == 1 ? "embedding" : "embedding-1");
    buf_puts(out, "    time_intervals:\n      - times: [{");
    write_time(out, "start_time", x->from);
    write_time(out, ", end_time", end < 1440 ? end : 1440);
    if (end > 1440) {                /* what runs over midnight is two */
        buf_puts(out, "}, {");
        write_time(out, "start_time", 0);
        write_time(out, ", end_time", end - 1440);
    }
    buf_printf(out, "}]\n        location: %s\n", swarm_zones[x->zone].name);
}

static void write_windows(const struct swarm *w, struct buf *out)
{
    for (unsigned k = 0; k < FREEZE_KIND_COUNT; k++) {
        bool any = false;
        for (unsigned i = 0; i < w->window_n; i++) {
            if (w->windows[i].kind != (enum freeze_kind)k) continue;
            if (!any) buf_printf(out, "%s:\n", freeze_kind_name((enum freeze_kind)k));
            any = true;
            write_window(w, i, out);
        }
    }
}

/* The shipped configuration, its one service as often as the fleet has services. */
static bool write_policy(const struct swarm *w, struct buf *out)
{
    static const char name[] = "  - name: embedding\n";
    size_t len;
    const char *bytes = scenario_shipped_policy("reference", &len);
    const char *service = bytes ? memmem(bytes, len, name, sizeof name - 1) : NULL;
    if (!service) return false;
    const char *rest = service + sizeof name - 1;
    buf_add(out, bytes, (size_t)(service - bytes));
    for (unsigned i = 0; i < w->n; i++) {
        if (w->n == 1) buf_add(out, name, sizeof name - 1);
        else buf_printf(out, "  - name: embedding-%u\n", i + 1);
        if (w->groups) buf_printf(out, "    group: node-%u\n", i / w->groups);
        if (w->calls && i == 0 && w->n > 1) buf_printf(out, "    depends_on: [embedding-%u]\n", w->n);
        buf_add(out, rest, len - (size_t)(rest - bytes));
        buf_putc(out, '\n');
    }
    return buf_ok(out);
}

static struct policy *load(struct swarm *w, const struct buf *text, unsigned *ret_said)
{
    struct config_options options = {.points_from_outside = true};
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct policy *p = config_load(text->data, text->len, "reference", &options, &d);
    *ret_said = (unsigned)d.errors;
    for (size_t i = 0; !p && i < d.n && i < 3; i++) swarm_tell(w, "  %s", d.items[i].text);
    config_diagnostics_free(&d);
    return p;
}

/* The shipped policy; points come straight from the world. Most runs have short intervals, so that more happens in a day. */
struct policy *swarm_policy(struct swarm *w, struct err *e)
{
    struct buf text = BUF_INIT;
    unsigned said;
    bool written = write_policy(w, &text);
    write_windows(w, &text);
    struct policy *p = written ? load(w, &text, &said) : NULL;
    buf_free(&text);
    if (!p || w->policy_n == SWARM_POLICIES) {
        (void)err_set(e, STATUS_INVALID, "the shipped configuration 'reference' cannot be loaded");
        config_free(p);
        return NULL;
    }
    for (uint16_t i = 0; i < p->service_count; i++) adapt_service(w, p, &p->services[i]);
    if (w->n > 1) p->fleet_per_hour = w->per_hour;
    if (w->eager) p->fleet_fraction = 0.5;
    w->policies[w->policy_n++] = p;
    return p;
}

/* Something that no configuration may have stands at the end of the file. */
bool swarm_policy_invalid(struct swarm *w, struct prng *chance)
{
    static const char *const broken[] = {"services: [", "\ntick: 0s\n", "\n  - name: embedding\n", "\nunknown_key: 1\n", "\t}"};
    struct buf text = BUF_INIT;
    unsigned said = 0;
    if (!write_policy(w, &text)) return false;
    buf_puts(&text, broken[prng_below(chance, ARRAY_LEN(broken))]);
    struct policy *p = load(w, &text, &said);
    buf_free(&text);
    config_free(p);
    return !p && said > 0;
}

void swarm_adopt(struct swarm *w, struct policy *p)
{
    w->policy = p;
    for (unsigned i = 0; i < w->n; i++) w->services[i].def = &p->services[i];
}

bool swarm_policies(struct swarm *w, struct err *e)
{
    struct policy *p = swarm_policy(w, e);
    if (p) swarm_adopt(w, p);
    return p != NULL;
}
