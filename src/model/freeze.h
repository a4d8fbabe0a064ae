/* Freeze and maintenance windows of the configuration: times at which nothing is changed. Recurring times as Alertmanager's
 * time_intervals write them: within a field any entry may match, all fields that are given must. */
#ifndef MODEL_FREEZE_H
#define MODEL_FREEZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/time.h"
#include "base/zone.h"

#define FREEZE_LIST_MAX 64           /* windows of one kind in a configuration */
#define FREEZE_INTERVALS_MAX 16      /* of one window */
#define FREEZE_RANGES_MAX 16         /* of one field */

/* freeze: no forward change. maintenance: nothing is learned and no incident opens, too. */
#define FREEZE_KIND_TABLE(X) X(FREEZE, "freeze") X(MAINTENANCE, "maintenance")
#define X(id, ...) FREEZE_KIND_##id,
enum freeze_kind { FREEZE_KIND_TABLE(X) FREEZE_KIND_COUNT };
#undef X
const char *freeze_kind_name(enum freeze_kind k);
bool freeze_kind_parse(const char *word, enum freeze_kind *ret);

struct freeze_range { int16_t from, to; };   /* both belong to it, but the minute `to` of a time does not */

struct time_interval {
    const struct freeze_range *times, *days, *years;   /* minutes of the day; days of the month, negative: from its end */
    uint16_t time_n, day_n, year_n;                    /* 0: the field is not given, any matches */
    uint8_t weekdays;                                  /* bit 0 = Monday; 0: any */
    uint16_t months;                                   /* bit 0 = January; 0: any */
    const struct zone *zone;
};

struct freeze_def {
    enum freeze_kind kind;
    const char *name, *author, *comment;     /* author, comment: "" when not given */
    struct wall until;                       /* not in force from then on; WALL_NONE: for ever */
    const struct time_interval *intervals; uint16_t interval_n;   /* none: at all times until then */
    const struct zone *zone;                 /* in which people read its end */
    const char **services; uint16_t service_n;   /* none: all */
    struct text_pos pos;
};

bool freeze_covers(const struct freeze_def *f, const char *service);
bool freeze_in_force(const struct freeze_def *f, struct wall t);
/* The next instant after `t` at which that answer changes; WALL_NONE: not within 400 days. */
struct wall freeze_change(const struct freeze_def *f, struct wall t);

#endif
