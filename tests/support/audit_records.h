/* Records like those of the loop, for tests of whatever keeps them. */
#ifndef SUPPORT_AUDIT_RECORDS_H
#define SUPPORT_AUDIT_RECORDS_H

#include "model/record.h"
#include "support/test.h"

/* One step of a story of service "embed": kind, action number (0: none), incident (0: none). `room` holds the texts. */
static inline struct record sample_record(enum record_kind kind, unsigned action, unsigned incident, char room[64])
{
    struct record r;
    record_init(&r, kind);
    record_i64(&r, RF_AT, 1778580000000000 + (int64_t)action * 1000000 + kind);
    record_text(&r, RF_SERVICE, "embed");
    if (incident) record_u64(&r, RF_INCIDENT, incident);
    snprintf(room, 64, "embed/%u", action);
    if (action) record_text(&r, RF_ACTION, room);
    if (kind == RECORD_INTENT) {
        record_text(&r, RF_KNOB, "batch_max");
        record_text(&r, RF_FROM, "32");
        record_text(&r, RF_TO, "64");
        record_text(&r, RF_CAUSE, "compute-bound");
        record_u64(&r, RF_AUTOMATIC, 1);
    }
    if (kind == RECORD_INCIDENT) record_text(&r, RF_SYMPTOM, "latency-degraded");
    if (kind == RECORD_VERDICT) record_text(&r, RF_VERDICT, "effective");
    return r;
}

#endif
