/* Between report_gather.c, report_judge.c and report_make.c. */
#ifndef APP_REPORT_INSIDE_H
#define APP_REPORT_INSIDE_H

#include "app/report.h"
#include "base/arena.h"
#include "model/enums.h"
#include "model/policy.h"

#define REPORT_SIGNALS 6
#define REPORT_PARTS 3

enum report_how { REPORT_WOULD, REPORT_ASKED, REPORT_ACTED };          /* how far a plan came */
enum report_came { REPORT_HIT, REPORT_FALSE_PLAN, REPORT_NO_HELP, REPORT_UNCLEAR, REPORT_PENDING, REPORT_CAME_COUNT };
/* Of an incident without any plan. */
enum report_fate { REPORT_PLANNED, REPORT_MISS, REPORT_TOLD, REPORT_PASSED, REPORT_FALSE_ALARM, REPORT_ONLY, REPORT_OPEN,
                   REPORT_FATE_COUNT };

struct report_plan {
    uint32_t incident;                   /* index */
    enum report_how how;
    enum report_came came;
    int64_t at;
    uint8_t hash[32];
    const char *knob, *from, *to, *cause, *gates, *values, *mode;
    const char *action;                  /* "" unless acted */
    const char *ended;                   /* APPROVAL, REJECT, EXPIRED, VOID, ABORTED, FAILED, UNDONE ...: its newest record */
    const char *verdict, *outcome, *by;
};

struct report_incident {
    const char *service, *symptom;
    uint64_t number;
    int64_t opened, closed;              /* closed: INT64_MAX while open */
    bool planned, acted;
    const char *handover, *advice, *closed_gates;
    const char *feedback, *feedback_by, *comment;
    enum report_fate fate;
};

struct report_mode { const char *service, *class, *from, *to, *by, *revision; int64_t at; };

struct report_service { const char *name, *mode; int64_t mode_since, first; };

struct report {
    struct arena arena;
    struct report_request request;
    int64_t log_begins;                  /* the first record of all; INT64_MAX: an empty log */
    struct report_incident *incidents; size_t incident_n, incident_cap;
    struct report_plan *plans; size_t plan_n, plan_cap;
    struct report_mode *modes; size_t mode_n, mode_cap;
    struct report_service *services; size_t service_n, service_cap;
};

enum status report_gather(struct report *r, const struct report_source *source, struct err *e);
void report_judge(struct report *r);
void report_free(struct report *r);

#endif
