/* The daemon's inside: one thread, one event loop, one `struct daemon`. The files daemon_*.c each hold one concern:
 * daemon.c life, daemon_effects.c effects into I/O, daemon_log.c the audit log and its acks, daemon_halt.c the kill
 * switch, daemon_reload.c policies, daemon_modes.c their modes, daemon_api.c what the API asks, daemon_access.c who may
 * come in, daemon_notify.c the log as receivers of notices read it, daemon_feedback.c what people say of incidents. */
#ifndef APP_DAEMON_H
#define APP_DAEMON_H

#include <stdatomic.h>

#include "adapt/adapt.h"
#include "adapt/fetch.h"
#include "adapt/log.h"
#include "adapt/notify.h"
#include "adapt/pages.h"
#include "adapt/prometheus.h"
#include "adapt/remote_write.h"
#include "adapt/scrape.h"
#include "adapt/writer.h"
#include "api/http_tls.h"
#include "api/stream.h"
#include "api/v1.h"
#include "app/clock.h"
#include "app/exit.h"
#include "loop/loop.h"
#include "store/access.h"
#include "store/history.h"
#include "store/store.h"

struct daemon_options {
    const char *config, *data, *listen;   /* data, listen: NULL: the configuration's */
    bool dry_run;
    double speed;                          /* 1 .. */
};

#define PENDING_MAX (4 * STORE_QUEUE_MAX)

/* An append whose ack is awaited. */
struct pending_append {
    uint64_t token;                        /* ours, given to the store */
    uint64_t loop_token;                   /* the loop's; 0: nobody waits */
    char service[POLICY_NAME_MAX + 1];     /* "": the daemon's own record */
    int64_t since;                         /* monotonic */
    bool halt;                             /* a halt that nothing on the disk knows of yet */
};

/* A command whose reply is awaited. */
struct pending_command {
    struct pending_command *next;
    uint64_t id;
    enum command_verb verb;
    uint16_t service;
    void (*done)(void *ctx, enum status s, const char *text, const char *detail);
    void *done_ctx;
    const char *text;                      /* what to say; NULL: by the verb */
    uint64_t after;                        /* answered when the append of this token is acked; 0: not yet replied to */
    int64_t since;                         /* monotonic, of the loop's reply */
    bool unrecorded;                       /* an append before `after` failed */
    char detail[64];                       /* of the loop's reply, kept until then */
};

struct daemon {
    struct daemon_options options;
    char data[1024], listen[80], bound[80];
    struct event_base *base;
    struct clock clock;
    int64_t up_at_start;                   /* clock.h: time that has certainly passed since the log began */
    struct policy *policy;                 /* in force; one reference is ours */
    char *policy_text;
    size_t policy_len;
    struct store *store;
    struct pages *pages;                   /* of `loop`; NULL: no such file, it lies on the heap */
    uint32_t pages_turn;
    struct loop *loop;
    struct adapt adapt;
    struct scrape *scrape;
    struct prometheus *prometheus;
    struct remote_write *remote;
    struct event *remote_timer;
    struct writer *writer;
    struct notify *notify;
    struct http_server *server;
    struct api api;
    struct store_access *users;            /* NULL: cannot be opened; nobody logs in */
    struct http_tls *tls;                  /* NULL: plain */
    char setup[72];                        /* of the link for the first admin, until it was said */
    struct event *wake, *second, *acks, *halt_signal, *halt_watch, *signals[3];
    bool stepping, ready, ending;
    int exit_code;
    /* daemon_log.c */
    struct pending_append pending[PENDING_MAX];
    unsigned pending_head, pending_n;
    uint64_t next_token;
    char (*fold_wanted)[POLICY_NAME_MAX + 1];
    unsigned fold_n, fold_cap;
    bool store_frozen;
    uint64_t unqueued;                     /* token of the last append that could not even be queued; 0: none */
    int64_t unqueued_at;                   /* monotonic; 0: over */
    int64_t store_bad_since;
    struct api_histogram append_seconds;
    /* daemon_halt.c */
    int halt_fd, inotify_fd;
    /* daemon_effects.c */
    struct pending_command *commands;
    uint64_t next_command;
    /* modules */
    bool module_frozen;
    unsigned module_good_seconds;
    int64_t last_retain;
    uint64_t evicted_said;                 /* points that went for the disk budget, as said last */
    int64_t evicted_said_at;
    /* daemon_feedback.c */
    uint64_t feedback[3];                  /* ever given: false, true, useful */
    /* daemon_modes.c */
    char last_revision[65];                /* in force when the log was last written to; "": the log is new */
    /* daemon_reload.c */
    bool reload_ok;
    int64_t reload_at;                     /* wall, of the last good one */
    uint64_t reloads, failed_reloads;
    char reload_error[512];
    /* daemon_v1.c, daemon_import.c */
    struct work *checker;                  /* daemon_check.c; NULL: not yet */
    int64_t check_at;                      /* monotonic; 0: not decided yet */
    struct check_waiter *check_waiters;    /* for a check that is about to begin */
    bool check_queued;                     /* one is */
    struct daemon_chart *charts;           /* daemon_chart.c: by service */
    uint16_t chart_n;
    struct v1_port v1;
    struct loop *import;                   /* lives through an import beside the running loop; NULL: none */
    const struct policy *import_policy;
    uint16_t import_service;
    uint64_t import_rows;
    struct wall import_newest;
    struct past_reading *past;             /* daemon_past.c; NULL: nothing to read */
};

/* Runs until it is told to end; the process's exit code. */
int daemon_run(const struct daemon_options *o);

/* ---- between the files ---- */

/* One event into the loop, its effects carried out. Fills now and wall. */
void daemon_step(struct daemon *d, struct event *e);
void daemon_effects(struct daemon *d, const struct update *u);
void daemon_end(struct daemon *d, int exit_code);        /* leave the event loop */
/* A person is told "done" only when it is on the disk. After each ack, and with token 0 each second. */
void daemon_replies(struct daemon *d, uint64_t token, bool recorded);
void daemon_notice(struct daemon *d, enum notice level, const char *subject, const char *text);   /* tells people */

bool daemon_log_open(struct daemon *d);                  /* lock, store */
void daemon_log_fold_all(struct daemon *d);              /* at start: the whole log and the saved baselines */
void daemon_log_load_state(struct daemon *d, uint16_t service);   /* its saved baselines, if there are any */
/* After the records and before the end of the fold at start: what was seen since the saved baselines. */
void daemon_refill(struct daemon *d);
void daemon_log_append(struct daemon *d, const char *service, const struct record *records, uint32_t n, uint64_t loop_token);
/* daemon_notify.c: the log as receivers of notices read it. */
void daemon_notify_open(struct daemon *d);
void daemon_log_own(struct daemon *d, enum record_kind kind, const char *by, const char *note);
void daemon_log_fold_later(struct daemon *d, const char *service);
void daemon_log_poll(struct daemon *d);
void daemon_log_second(struct daemon *d);                /* health, folds that wait */
void daemon_evicted_text(const struct store_health *h, char *out, size_t cap);   /* what went for the disk budget */
void daemon_log_keep_halts(struct daemon *d, int64_t patience_us);   /* halts that waited this long for their record */
void daemon_log_close(struct daemon *d);
struct wall daemon_log_newest(struct daemon *d);         /* of the last record or saved baseline; WALL_NONE: neither */

void daemon_up_open(struct daemon *d);                   /* once the clock runs, before the log is folded */
int64_t daemon_up(const struct daemon *d);               /* now */

bool daemon_halt_open(struct daemon *d);
void daemon_halt_close(struct daemon *d);
void daemon_halt_check(struct daemon *d);                /* files and signal into commands */
bool daemon_halt_file(const struct daemon *d, uint16_t service, char path[1200]);   /* is there one for this service? */
/* A halt that the audit cannot take down yet stands as a file until it can, so that it survives whatever comes. */
void daemon_halt_keep(struct daemon *d, const char *service, const char *why);
void daemon_halt_recorded(struct daemon *d, const char *service);
bool daemon_may_send(void *ctx, uint16_t service, uint32_t epoch, bool is_undo);

/* NULL: said on stderr what is wrong. */
struct policy *daemon_policy_read(const char *path, char **ret_text, size_t *ret_len, char *error, size_t cap);
void daemon_policy_keep(struct daemon *d, const char *by);   /* store and POLICY record */
enum status daemon_reload(struct daemon *d, const char *by, struct err *e);
/* Records changes of modes that the loop does not see: since the last run, and of services that a reload brings. */
void daemon_modes_at_start(struct daemon *d);
void daemon_modes_of_new(struct daemon *d, const struct policy *was, const char *by);
bool daemon_speed_fits(const struct policy *p, double speed, struct err *e);

/* What charts need besides the points themselves: the newest values, and what was believed to be normal when. */
void daemon_chart_points(struct daemon *d, const struct effect *e);
void daemon_chart_reset(struct daemon *d);               /* other services; also frees */
void daemon_chart_open(struct daemon *d);                /* fills the part of d->v1 */
void daemon_api_open(struct daemon *d);
void daemon_feedback_open(struct daemon *d);
void daemon_feedback_count(struct daemon *d, const struct record *r);   /* when the log is read, and for each new one */
/* `done` once the newest append is on the disk, or is known not to be. */
void daemon_reply_when_durable(struct daemon *d, void (*done)(void *ctx, enum status s, const char *text, const char *detail),
                               void *ctx);
void daemon_v1_open(struct daemon *d);
/* daemon_import.c: v1_port.import. */
enum status daemon_import(void *ctx, uint16_t service, const struct v1_series *series, uint32_t n, bool last, const char *by,
                          struct err *e);
void daemon_import_end(struct daemon *d);
/* daemon_remote.c: what remote write sends. */
bool daemon_remote_open(struct daemon *d);
void daemon_remote_arm(struct daemon *d);
void daemon_remote_mark(struct daemon *d, const char *service, const struct record *r);
/* daemon_past.c: services with a prometheus source and without baselines learn from the server's past. */
void daemon_past_start(struct daemon *d);
void daemon_past_free(struct daemon *d);
void daemon_v1_close(struct daemon *d);
/* The whole audit log is checked in the background now and then, so that the console can say when it was last good. */
void daemon_check_second(struct daemon *d);
void daemon_check_now(void *daemon, void (*done)(void *done_ctx, const struct v1_verified *v, enum status s, const char *why),
                      void *done_ctx);
void daemon_check_close(struct daemon *d);               /* before the API ends */
bool daemon_access_open(struct daemon *d);
void daemon_access_say(struct daemon *d);                /* the link for the first admin */
void daemon_access_reload(struct daemon *d);             /* a new policy, or SIGHUP */
void daemon_access_second(struct daemon *d);
void daemon_access_close(struct daemon *d);
bool daemon_write_bound(const struct daemon *d);         /* DATA/listen */
bool daemon_token(struct daemon *d);                     /* DATA/token, made at first start */
void daemon_command(struct daemon *d, uint16_t service, struct command *c,
                    void (*done)(void *ctx, enum status s, const char *text, const char *detail), void *ctx);

#endif
