/* Times are made up, in microseconds from 1000 s on. */
#include "adapt/notify_queue.h"

#include "support/test.h"

#define S(n) ((int64_t)(1000 + (n)) * US_PER_S)

static struct told *incident(uint64_t number, const char *service, enum record_kind kind)
{
    struct record r;
    record_init(&r, kind);
    record_i64(&r, RF_AT, (int64_t)number * US_PER_S);
    record_text(&r, RF_SERVICE, service);
    record_text(&r, RF_SYMPTOM, "slow");
    record_u64(&r, RF_INCIDENT, 1);
    struct told *t = told_of_record(number, &r, NULL, false, true);
    assert_non_null(t);
    return t;
}

static void add(struct queue *q, uint64_t number, unsigned service, enum record_kind kind, int64_t now)
{
    char name[32];
    snprintf(name, sizeof name, "s%u", service);
    queue_add(q, incident(number, name, kind), now);
    q->next = number + 1;
}

static void what_gathers_about_one_matter_is_one_message(void **state)
{
    struct queue q;
    (void)state;
    queue_open(&q, true, 20, 0);
    add(&q, 0, 1, RECORD_INCIDENT, S(0));
    struct letter *l = queue_take(&q, S(0));
    assert_string_equal("s1 got worse: slow", l->newest->title);
    assert_null(queue_take(&q, S(0)));                   /* one at a time */
    add(&q, 1, 1, RECORD_HANDOVER, S(1));                /* the one under way is not touched */
    add(&q, 2, 2, RECORD_INCIDENT, S(1));
    add(&q, 3, 1, RECORD_CLOSED, S(2));
    assert_int_equal(3, queue_waiting(&q));
    assert_int_equal(0, queue_settled(&q));
    queue_done(&q, DELIVERY_TAKEN, 0, S(3));
    assert_int_equal(1, queue_settled(&q));
    l = queue_take(&q, S(3));
    assert_string_equal("s1 is well again: slow", l->newest->title);
    assert_int_equal(1, l->earlier_n);
    assert_string_equal("1970-01-01 00:00:01 UTC s1: slow is handed to a person", l->earlier[0]);
    assert_int_equal(NOTICE_PAGE, l->level);
    queue_done(&q, DELIVERY_TAKEN, 0, S(3));
    assert_int_equal(2, queue_settled(&q));              /* 1 and 3 are done, 2 is not */
    assert_true(queue_is_late(&q, 3));
    assert_false(queue_is_late(&q, 2));
    assert_non_null(queue_take(&q, S(3)));
    queue_done(&q, DELIVERY_REFUSED, 0, S(3));
    assert_int_equal(4, queue_settled(&q));
    assert_int_equal(0, q.late_n);
    assert_true(queue_wake(&q) == QUEUE_NEVER);
    queue_close(&q);
}

static void a_storm_is_one_summary_and_the_rate_holds(void **state)
{
    struct queue q;
    unsigned sent = 0, summaries = 0, in_minute = 0, told = 0;
    (void)state;
    queue_open(&q, true, 20, 0);
    for (unsigned i = 0; i < 100; i++) {
        add(&q, i, i, RECORD_INCIDENT, S(0));
        if (queue_take(&q, S(0))) {
            sent++;
            queue_done(&q, DELIVERY_TAKEN, 0, S(0));
        }
    }
    assert_int_equal(10, sent);
    assert_int_equal(1, queue_waiting(&q));
    assert_int_equal(S(5), queue_wake(&q));
    for (int64_t now = S(0); now < S(300); now += US_PER_S / 2) {
        if (now == S(30)) add(&q, 100, 7, RECORD_CLOSED, now);   /* quiet: waits for the next summary */
        if (now == S(40)) add(&q, 101, 8, RECORD_HALT, now);     /* nothing holds this back */
        struct letter *l = queue_take(&q, now);
        if (!l) continue;
        in_minute += now < S(60);
        summaries += l->summary != NULL;
        if (l->summary) told = l->summary->told_n;
        if (l->summary) assert_int_equal(90, l->summary->tally[RECORD_INCIDENT]);
        if (l->summary) assert_int_equal(10, l->summary->line_n);
        queue_done(&q, DELIVERY_TAKEN, 0, now);
    }
    assert_int_equal(1, summaries);
    assert_int_equal(90, told);
    assert_int_equal(2, in_minute);
    assert_int_equal(100, queue_settled(&q));
    assert_int_equal(S(305), queue_wake(&q));
    struct letter *last = queue_take(&q, S(305));
    assert_int_equal(1, last->summary->told_n);
    queue_done(&q, DELIVERY_TAKEN, 0, S(305));
    assert_int_equal(102, queue_settled(&q));
    queue_close(&q);
}

static void no_minute_sees_more_than_the_rate(void **state)
{
    struct queue q;
    unsigned sent = 0, number = 0;
    (void)state;
    queue_open(&q, false, 20, 0);
    for (int64_t now = S(0); now < S(60); now += US_PER_S / 4) {
        if (queue_room(&q)) add(&q, number++, 1, RECORD_INCIDENT, now);
        if (!queue_take(&q, now)) continue;
        sent++;
        queue_done(&q, DELIVERY_TAKEN, 0, now);
    }
    assert_int_equal(20, sent);
    assert_int_equal(S(60), queue_wake(&q));
    assert_non_null(queue_take(&q, S(60)));
    assert_int_equal(20, queue_settled(&q));
    queue_close(&q);
}

static void programs_get_each_in_order_and_no_more_than_there_is_room_for(void **state)
{
    struct queue q;
    uint64_t n = 0;
    (void)state;
    queue_open(&q, false, 600, 0);
    for (; queue_room(&q); n++) add(&q, n, 1, RECORD_INCIDENT, S(0));
    assert_int_equal(QUEUE_MOST, n);
    for (uint64_t i = 0; i < n; i++) {
        struct letter *l = queue_take(&q, S(0));
        assert_int_equal(i, l->numbers[0]);
        assert_null(l->summary);
        queue_done(&q, DELIVERY_TAKEN, 0, S(0));
    }
    assert_int_equal(n, queue_settled(&q));
    queue_close(&q);
}

static void pauses_grow_and_the_receiver_may_ask_for_more(void **state)
{
    static const int pauses[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
    struct queue q;
    int64_t now = S(0);
    (void)state;
    queue_open(&q, true, 600, 0);
    add(&q, 0, 1, RECORD_INCIDENT, now);
    for (unsigned i = 0; i < ARRAY_LEN(pauses); i++) {
        assert_non_null(queue_take(&q, now));
        queue_done(&q, DELIVERY_LATER, 0, now);
        assert_int_equal(now + pauses[i] * US_PER_S, queue_wake(&q));
        assert_null(queue_take(&q, queue_wake(&q) - 1));
        now = queue_wake(&q);
    }
    assert_non_null(queue_take(&q, now));
    queue_done(&q, DELIVERY_LATER, 600 * US_PER_S, now);
    assert_int_equal(now + 600 * US_PER_S, queue_wake(&q));
    now += 600 * US_PER_S;
    assert_non_null(queue_take(&q, now));
    queue_done(&q, DELIVERY_TAKEN, 0, now);
    assert_int_equal(1, queue_settled(&q));
    queue_close(&q);
}

static void a_receiver_that_was_away_for_long_takes_bounded_memory(void **state)
{
    struct queue q;
    uint64_t n = 0;
    (void)state;
    queue_open(&q, true, 20, 0);
    for (; n < 20000; n++) add(&q, n, (unsigned)n, RECORD_INCIDENT, S((int)n));
    assert_true(queue_waiting(&q) <= 2);
    int64_t now = S(20020);
    const struct letter *l = queue_take(&q, now);
    while (l && !l->summary) {
        queue_done(&q, DELIVERY_TAKEN, 0, now);
        l = queue_take(&q, now);
    }
    assert_non_null(l);
    assert_int_equal(0, queue_settled(&q));
    assert_int_equal(20000, l->summary->told_n);
    queue_done(&q, DELIVERY_TAKEN, 0, now);
    assert_int_equal(20000, queue_settled(&q));
    queue_close(&q);
}

static void count(void *arg, uint64_t number)
{
    assert_int_equal(5 | TOLD_NOTICE, number);
    ++*(unsigned *)arg;
}

static void own_notices_are_known_until_they_are_done(void **state)
{
    struct queue q;
    unsigned n = 0;
    (void)state;
    queue_open(&q, true, 20, 9);
    queue_add(&q, told_of_notice(5, (struct wall){0}, NOTICE_PAGE, "", "common cause", "look", false), S(0));
    queue_notices(&q, count, &n);
    assert_int_equal(1, n);
    assert_int_equal(9, queue_settled(&q));
    assert_string_equal("Many services degraded at once: look for what they share", queue_take(&q, S(0))->newest->title);
    queue_done(&q, DELIVERY_TAKEN, 0, S(0));
    queue_notices(&q, count, &n);
    assert_int_equal(1, n);
    queue_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_gathers_about_one_matter_is_one_message),
        cmocka_unit_test(a_storm_is_one_summary_and_the_rate_holds),
        cmocka_unit_test(no_minute_sees_more_than_the_rate),
        cmocka_unit_test(programs_get_each_in_order_and_no_more_than_there_is_room_for),
        cmocka_unit_test(pauses_grow_and_the_receiver_may_ask_for_more),
        cmocka_unit_test(a_receiver_that_was_away_for_long_takes_bounded_memory),
        cmocka_unit_test(own_notices_are_known_until_they_are_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
