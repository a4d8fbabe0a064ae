/* A restart in the middle of the window, with what the store kept of the minutes since the last saved state: the same verdict by
 * the same medians as without the restart. */
#include "support/test.h"

#include "loop/test_bench.h"

#define KEPT_MAX 4096

struct kept { struct point points[KEPT_MAX]; unsigned n; };

static bool fault;
static unsigned wobble;
static struct kept kept[B_SIGNALS];

static void plant(struct bench *b)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double n = noise[wobble++ % 7];
    bool bad = fault && b->target.value[B_BATCH] < 64;
    b->signal[B_P99] = (bad ? 46.8 : 38) + n;
    b->signal[B_QUEUE] = (bad ? 320 : 90) + 4 * n;
    b->signal[B_GPU] = bad ? 0.78 : 0.65;
    for (unsigned i = 0; i < B_SIGNALS; i++) {
        if (!isnan(b->signal[i])) kept[i].points[kept[i].n++ % KEPT_MAX] = (struct point){b->now, b->signal[i], 0, WHY_KNOWN};
    }
}

static struct bench *begin(void)
{
    struct bench *b = bench_new(MODE_AUTO);
    fault = false;
    wobble = 0;
    memset(kept, 0, sizeof kept);
    b->on_tick = plant;
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    fault = true;
    for (int i = 0; i < 60 && bench_state(b) != STATE_OBSERVING; i++) bench_run(b, SPAN_S(30));
    assert_int_equal(bench_state(b), STATE_OBSERVING);
    (void)bench_story(b);
    return b;
}

static void refill(struct bench *b, struct instant saved)
{
    for (uint16_t i = 0; i < B_SIGNALS; i++) {
        static struct point later[KEPT_MAX];
        struct event e = {.kind = EVENT_REFILL};
        unsigned n = 0, first = kept[i].n > KEPT_MAX ? kept[i].n - KEPT_MAX : 0;
        for (unsigned k = first; k < kept[i].n; k++) {
            if (instant_before(saved, kept[i].points[k % KEPT_MAX].at)) later[n++] = kept[i].points[k % KEPT_MAX];
        }
        e.u.refill.signal = i;
        e.u.refill.points = later;
        e.u.refill.n = n;
        bench_event(b, &e);
    }
}

/* Killed: the state is as old as `age`. */
static void restart(struct bench *b, const struct buf *state, struct instant saved, bool with_points, struct span doubt)
{
    loop_free(b->loop);
    b->now = instant_add(b->now, SPAN_S(7));
    b->loop = loop_new(&b->policy, b->now, bench_wall(b), (struct loop_options){.alone = true});
    assert_non_null(b->loop);
    b->wake = INSTANT_NEVER;
    struct event e = {.kind = EVENT_STATE};
    e.u.state.bytes = state->data;
    e.u.state.len = state->len;
    e.u.state.age = instant_since(b->now, saved);
    bench_event(b, &e);
    if (with_points) refill(b, saved);
    b->ages = true;
    for (unsigned i = 0; i < b->log_n; i++) b->log_at[i] += doubt.us;      /* what certainly passed is less than what did */
    bench_fold(b);
}

/* The records from the window's start to the verdict, and the numbers of that. */
static void end(struct bench *b, char story[200], char numbers[400])
{
    for (int i = 0; i < 80 && !bench_last(b, RECORD_VERDICT); i++) bench_run(b, SPAN_S(30));
    const struct record *v = bench_last(b, RECORD_VERDICT);
    assert_non_null(v);
    snprintf(story, 200, "%s", bench_story(b));
    /* The new life ticks seven seconds later, so only jitter, which follows single points, may differ. */
    const char *before = record_get_text(v, RF_BEFORE), *after = record_get_text(v, RF_AFTER);
    snprintf(numbers, 400, "%s; %.*s; %.*s", record_get_text(v, RF_VERDICT), (int)strcspn(before, ","), before,
             (int)strcspn(after, ","), after);
    bench_free(b);
}

static void interrupted(bool with_points, struct span doubt, char story[200], char numbers[400])
{
    struct bench *b = begin();
    struct buf state = BUF_INIT;
    struct instant saved = b->now;
    loop_service_state(b->loop, 0, &state);
    bench_run(b, SPAN_S(270));
    restart(b, &state, saved, with_points, doubt);
    end(b, story, numbers);
    buf_free(&state);
}

static void a_restart_changes_no_verdict(void **state)
{
    char whole_story[200], whole[400], story[200], numbers[400];
    (void)state;
    end(begin(), whole_story, whole);
    interrupted(true, (struct span){0}, story, numbers);
    assert_string_equal(whole, numbers);
    assert_string_equal(whole_story, story);
    assert_string_equal(whole, "effective; median 46.8; median 38");
}

/* Without them four minutes of the window were watched by nobody: it grows, as it must. */
static void without_the_points_the_window_grows(void **state)
{
    char story[200], numbers[400];
    (void)state;
    interrupted(false, (struct span){0}, story, numbers);
    assert_non_null(strstr(story, "EXTENDED"));
}

/* After a reboot only a few seconds have certainly passed since the write, so the window begins anew; but the samples before the
 * change are still those before it, not those of the minutes after. */
static void samples_before_stay_before_when_time_is_in_doubt(void **state)
{
    char story[200], numbers[400];
    (void)state;
    interrupted(true, SPAN_S(380), story, numbers);
    assert_string_equal("effective; median 46.8; median 38", numbers);
}

/* What the state has seen, what is too old, and a service that runs already take nothing. */
static void only_what_is_missing_is_taken(void **state)
{
    (void)state;
    struct bench *b = begin();
    uint64_t before = loop_digest(b->loop);
    refill(b, (struct instant){0});
    assert_int_equal(before, loop_digest(b->loop));
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restart_changes_no_verdict),
        cmocka_unit_test(without_the_points_the_window_grows),
        cmocka_unit_test(samples_before_stay_before_when_time_is_in_doubt),
        cmocka_unit_test(only_what_is_missing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
