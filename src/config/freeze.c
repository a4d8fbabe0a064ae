/* Freeze and maintenance windows: recurring times in the syntax of Alertmanager, in zones of this machine's database. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "config/build.h"

#define ZONE_DIR "/usr/share/zoneinfo"
#define LOCAL_ZONE "/etc/localtime"

/* ---- zones ---- */

static size_t read_zone(const struct config_build *b, const char *name, uint8_t *bytes)
{
    char path[1200];
    bool local = text_eq(name, "Local");
    if (!local && !zone_name_good(name)) return 0;
    snprintf(path, sizeof path, "%s/%s", b->o.zone_dir ? b->o.zone_dir : ZONE_DIR, name);
    FILE *f = fopen(local ? LOCAL_ZONE : path, "rb");
    if (!f) return 0;
    size_t n = fread(bytes, 1, ZONE_BYTES_MAX, f);
    fclose(f);
    return n;
}

static const struct zone *load_zone(struct config_build *b, const struct config_node *at, const char *name)
{
    static uint8_t bytes[ZONE_BYTES_MAX];
    struct err e;
    struct zone *z = ARENA_NEW(&b->p->arena, struct zone);
    size_t n = read_zone(b, name, bytes);
    if (!z) {
        b->no_memory = true;
        return &zone_utc;
    }
    if (n == 0) {
        config_wrong(b->d, at, "a name such as Asia/Shanghai; the zones come with the package tzdata",
                     "there is no time zone '%.60s' on this machine", name);
        return &zone_utc;
    }
    if (zone_parse(&b->p->arena, name, bytes, n, z, &e) == STATUS_OK) return z;
    config_wrong(b->d, at, "install the package tzdata again", "time zone '%.60s': %s", name, e.text);
    return &zone_utc;
}

/* Each zone is read once a configuration. */
static const struct zone *zone_of(struct config_build *b, const struct config_value *v, const struct zone *otherwise)
{
    if (!v->is_set) return otherwise;
    if (text_eq(v->text, "UTC")) return &zone_utc;
    for (unsigned i = 0; i < b->zone_n; i++) {
        if (text_eq(b->zones[i]->name, v->text)) return b->zones[i];
    }
    const struct zone *z = load_zone(b, v->at, v->text);
    if (z != &zone_utc && b->zone_n < ARRAY_LEN(b->zones)) b->zones[b->zone_n++] = z;
    return z;
}

/* ---- ranges ---- */

/* One field's words: how a word becomes a number, and what numbers are there. */
struct field { const char *what, *hint; const char *const *words; int first, least, most; };

static const char *const weekday_words[] = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", NULL};
static const char *const month_words[] = {"january", "february", "march", "april", "may", "june", "july", "august", "september",
                                          "october", "november", "december", NULL};
static const struct field weekday_field = {"day of the week", "monday to sunday, or a range such as monday:friday", weekday_words,
                                           0, 0, 6};
static const struct field day_field = {"day of the month", "1 to 31, or -1 to -31 from the month's end, or a range such as 1:5 "
                                       "or -3:-1", NULL, 0, -31, 31};
static const struct field month_field = {"month", "january to december, 1 to 12, or a range such as november:december", month_words,
                                         1, 1, 12};
static const struct field year_field = {"year", "a year, or a range such as 2026:2027", NULL, 0, 1970, 9999};

static bool one_end(const struct field *f, const char *text, size_t len, int *ret)
{
    char word[16];
    double v;
    if (len == 0 || len >= sizeof word) return false;
    for (size_t i = 0; i < len; i++) word[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    word[len] = '\0';
    for (int i = 0; f->words && f->words[i]; i++) {
        if (strcmp(f->words[i], word) != 0) continue;
        *ret = i + f->first;
        return true;
    }
    bool digits = strspn(word + (word[0] == '-'), "0123456789") == len - (word[0] == '-');
    if (f == &weekday_field || !digits || !num_parse_all(word, len, &v)) return false;
    *ret = (int)v;
    return v >= f->least && v <= f->most && !(f == &day_field && v == 0);
}

/* Counted as in a month of 30 days, so that both ends can be compared; what a month really has is looked at each time. */
static int comparable(const struct field *f, int v) { return f == &day_field && v < 0 ? 31 + v : v; }

static bool range_of(struct config_build *b, const struct field *f, const struct config_node *at, struct freeze_range *ret)
{
    const char *colon = at->len ? memchr(at->text, ':', at->len) : NULL;
    size_t first = colon ? (size_t)(colon - at->text) : at->len;
    int from, to;
    if (!one_end(f, at->text, first, &from) || (colon && !one_end(f, colon + 1, at->len - first - 1, &to))) {
        config_wrong(b->d, at, f->hint, "'%.60s' is no %s", at->text, f->what);
        return false;
    }
    if (!colon) to = from;
    bool mixed = f == &day_field && from < 0 && to > 0;
    if (mixed || comparable(f, from) > comparable(f, to)) {
        config_wrong(b->d, at, f == &weekday_field ? "the week begins with Sunday; write two ranges" : "write two ranges",
                     "the range '%.60s' ends before it begins", at->text);
        return false;
    }
    *ret = (struct freeze_range){(int16_t)from, (int16_t)to};
    return true;
}

static const struct freeze_range *ranges_of(struct config_build *b, const struct field *f, const struct config_value *v,
                                            uint16_t *ret_n)
{
    if (!v->is_set) return NULL;
    uint32_t n = config_items(v->at);
    struct freeze_range *all = ARENA_NEW_N(&b->p->arena, n ? n : 1u, struct freeze_range);
    b->no_memory = b->no_memory || !all;
    for (uint32_t i = 0; all && i < n && i < FREEZE_RANGES_MAX; i++) {
        if (range_of(b, f, config_item(v->at, i), &all[*ret_n])) (*ret_n)++;
    }
    return all;
}

static uint16_t bits_of(struct config_build *b, const struct field *f, const struct config_value *v)
{
    uint16_t bits = 0, n = 0;
    const struct freeze_range *all = ranges_of(b, f, v, &n);
    for (uint16_t i = 0; i < n; i++) {
        for (int k = all[i].from; k <= all[i].to; k++) {
            int bit = f == &weekday_field ? (k + 6) % 7 : k - 1;       /* from Sunday = 0 to Monday = bit 0 */
            bits |= (uint16_t)(1u << bit);
        }
    }
    return bits;
}

/* ---- intervals ---- */

static bool time_of(struct config_build *b, const struct config_node *node, struct freeze_range *ret)
{
    struct config_times raw;
    if (!config_read_block(b->d, CONFIG_BLOCK_TIMES, node, NULL, &raw)) return false;
    if (!raw.start_time.is_set || !raw.end_time.is_set) return false;
    if (raw.start_time.word >= raw.end_time.word) {
        config_wrong(b->d, raw.end_time.at, "what runs over midnight is two: up to '24:00', and from '00:00'",
                     "this time ends before it begins");
        return false;
    }
    *ret = (struct freeze_range){(int16_t)raw.start_time.word, (int16_t)raw.end_time.word};
    return true;
}

static void times_of(struct config_build *b, const struct config_value *v, struct time_interval *ret)
{
    if (!v->is_set) return;
    struct freeze_range *all = ARENA_NEW_N(&b->p->arena, v->at->n ? v->at->n : 1u, struct freeze_range);
    b->no_memory = b->no_memory || !all;
    for (uint32_t i = 0; all && i < v->at->n; i++) {
        if (time_of(b, v->at->items[i], &all[ret->time_n])) ret->time_n++;
    }
    ret->times = all;
}

static void build_interval(struct config_build *b, const struct config_node *node, const struct zone *zone,
                           struct time_interval *ret)
{
    struct config_interval raw;
    *ret = (struct time_interval){.zone = zone};
    if (!config_read_block(b->d, CONFIG_BLOCK_INTERVAL, node, NULL, &raw)) return;
    ret->zone = zone_of(b, &raw.location, zone);
    times_of(b, &raw.times, ret);
    ret->weekdays = (uint8_t)bits_of(b, &weekday_field, &raw.weekdays);
    ret->months = bits_of(b, &month_field, &raw.months);
    ret->days = ranges_of(b, &day_field, &raw.days_of_month, &ret->day_n);
    ret->years = ranges_of(b, &year_field, &raw.years, &ret->year_n);
    if (node->kind == CONFIG_MAP && node->n == 0) config_wrong(b->d, node, "weekdays: ['monday:friday']", "this interval is empty");
}

/* ---- windows ---- */

static const char *kept(struct config_build *b, const struct config_value *v)
{
    char *copy = arena_strdup(&b->p->arena, v->is_set ? v->text : "");
    b->no_memory = b->no_memory || !copy;
    return copy ? copy : "";
}

/* A date alone: the whole of that day still belongs to the window, where it is. */
static struct wall end_of(struct config_build *b, const struct config_value *v, const struct zone *zone)
{
    struct wall t = WALL_NONE;
    if (!v->is_set) return t;
    bool dated = strlen(v->text) >= 10 && v->text[4] == '-';
    if (!dated || !wall_parse(v->text, &t)) {
        config_wrong(b->d, v->at, "write 2026-11-12 or 2026-11-12T18:00:00+08:00", "'%.60s' is not a time", v->text);
        return WALL_NONE;
    }
    if (strlen(v->text) == 10) t = zone_local(zone, t.us / US_PER_DAY + 1, 0);
    if (b->o.now.us > 0 && t.us < b->o.now.us)
        config_warn(b->d, v->at, "remove it, or give it a new end", "this window is over since %.40s", v->text);
    return t;
}

static void services_of(struct config_build *b, const struct config_value *v, struct freeze_def *f)
{
    if (!v->is_set) return;
    uint32_t n = config_items(v->at);
    f->services = ARENA_NEW_N(&b->p->arena, n ? n : 1u, const char *);
    b->no_memory = b->no_memory || !f->services;
    for (uint32_t i = 0; f->services && i < n; i++) {
        const struct config_node *name = config_item(v->at, i);
        if (policy_service(b->p, name->text) == NO_INDEX && !name->source->cut)
            config_wrong(b->d, name, "the `name` of a service of this file", "there is no service '%.60s'", name->text);
        f->services[f->service_n++] = arena_strdup(&b->p->arena, name->text);
        b->no_memory = b->no_memory || !f->services[f->service_n - 1];
    }
}

static void build_freeze(struct config_build *b, const struct config_node *node, enum freeze_kind kind, struct freeze_def *f)
{
    struct config_timed raw;
    *f = (struct freeze_def){.kind = kind, .name = "", .author = "", .comment = "", .until = WALL_NONE, .zone = &zone_utc};
    if (!config_read_block(b->d, CONFIG_BLOCK_TIMED, node, NULL, &raw)) return;
    f->pos = config_pos(node);
    f->name = kept(b, &raw.name);
    f->author = kept(b, &raw.author);
    f->comment = kept(b, &raw.comment);
    f->zone = zone_of(b, &raw.zone, &zone_utc);
    f->until = end_of(b, &raw.until, f->zone);
    services_of(b, &raw.services, f);
    if (!raw.time_intervals.is_set) return;
    uint32_t n = raw.time_intervals.at->n;
    struct time_interval *all = ARENA_NEW_N(&b->p->arena, n ? n : 1u, struct time_interval);
    b->no_memory = b->no_memory || !all;
    for (uint32_t i = 0; all && i < n; i++) build_interval(b, raw.time_intervals.at->items[i], f->zone, &all[i]);
    f->intervals = all;
    f->interval_n = all ? (uint16_t)n : 0;
}

static void build_list(struct config_build *b, const struct config_value *v, enum freeze_kind kind)
{
    for (uint32_t i = 0; v->is_set && i < v->at->n; i++) {
        struct freeze_def *f = &b->p->freezes[b->p->freeze_count];
        build_freeze(b, v->at->items[i], kind, f);
        for (uint16_t k = 0; k < b->p->freeze_count; k++) {
            if (!f->name[0] || !text_eq(b->p->freezes[k].name, f->name)) continue;
            config_wrong(b->d, v->at->items[i], NULL, "a window '%.60s' stands on line %u already", f->name,
                         b->p->freezes[k].pos.line);
        }
        b->p->freeze_count++;
    }
}

/* Which windows hold for a service is asked on each of its ticks: laid out once. */
static void give_to_services(struct config_build *b)
{
    struct policy *p = b->p;
    for (uint16_t s = 0; s < p->service_count; s++) {
        struct service_def *d = &p->services[s];
        d->freezes = ARENA_NEW_N(&p->arena, p->freeze_count, const struct freeze_def *);
        b->no_memory = b->no_memory || !d->freezes;
        for (uint16_t i = 0; d->freezes && i < p->freeze_count; i++) {
            if (freeze_covers(&p->freezes[i], d->name)) d->freezes[d->freeze_count++] = &p->freezes[i];
        }
    }
}

void config_build_freezes(struct config_build *b, const struct config_value *freeze, const struct config_value *maintenance)
{
    size_t n = (freeze->is_set ? freeze->at->n : 0) + (maintenance->is_set ? maintenance->at->n : 0);
    if (n == 0) return;
    b->p->freezes = ARENA_NEW_N(&b->p->arena, n, struct freeze_def);
    b->no_memory = b->no_memory || !b->p->freezes;
    if (!b->p->freezes) return;
    build_list(b, freeze, FREEZE_KIND_FREEZE);
    build_list(b, maintenance, FREEZE_KIND_MAINTENANCE);
    give_to_services(b);
}
