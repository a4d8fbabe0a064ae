/* Inside of the strict reading. */
#ifndef COLLECT_EXPO_CHECK_H
#define COLLECT_EXPO_CHECK_H

#include "collect/expo.h"

enum family_type { FAMILY_UNKNOWN, FAMILY_GAUGE, FAMILY_COUNTER, FAMILY_STATESET, FAMILY_INFO, FAMILY_HISTOGRAM,
                   FAMILY_GAUGEHISTOGRAM, FAMILY_SUMMARY };

struct family {
    const char *name, *unit;
    uint32_t name_len, unit_len, samples;
    enum family_type type;
    bool open, typed, help_seen, unit_seen, settled;
};

/* One metric of a family: the samples that share their labels but le and quantile. */
struct group {
    uint64_t id;
    bool open, has_time, has_bucket, has_inf, has_count, has_sum, has_created, negative_bucket;
    int64_t time_ms;
    double last_bound, last_bucket, inf, count;
    const char *last_suffix;
    uint64_t last_series;
};

struct hash_set { uint64_t *items; uint32_t n, size; };

struct checker {
    struct expo x;
    struct expo_fault *ret;
    struct family family;
    struct group group;
    struct hash_set families, sample_names, seen, groups;
};

bool expo_no(struct checker *k, const char *at, const char *reason);
bool expo_check_once(struct checker *k);
bool expo_check_typed(struct checker *k, const char *suffix);    /* the sample at hand against its family's type */
bool expo_group_end(struct checker *k);                         /* is the metric that ends here whole? */
bool expo_group_is_new(struct checker *k, uint64_t group);
uint64_t expo_series_hash(const struct checker *k, const char *without);

#endif
