/* SIGKILL at any moment: whatever was acknowledged is there, once, in order, and the log verifies. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "store/history.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

static const uint8_t seed[AUDIT_SEED_BYTES] = {12};

static struct store *open_store(const char *dir, bool unthreaded)
{
    struct store_options o = {.dir = dir, .seed = seed, .unthreaded = unthreaded, .reserve_bytes = 1 << 16};
    struct store *s = NULL;
    struct err e = {0};
    if (store_open(&s, &o, &e) != STATUS_OK) fprintf(stderr, "open: %s\n", e.text);
    return s;
}

/* Record number n says so in its note. */
static struct record numbered(uint64_t n, char room[64], char note[32])
{
    struct record r = sample_record(n % 5 == 2 ? RECORD_INTENT : RECORD_EXTERNAL, (unsigned)n + 1, 1, room);
    snprintf(note, 32, "%llu", (unsigned long long)n);
    record_text(&r, RF_NOTE, note);
    return r;
}

/* The child: appends for ever, with up to eight on the way, and tells each acknowledged number through the pipe. */
_Noreturn static void child(const char *dir, int out)
{
    struct store *s = open_store(dir, false);
    struct store_health h;
    if (!s) _exit(3);
    store_health(s, &h);
    uint64_t next = h.size, acked = h.size;
    for (;;) {
        struct store_ack acks[8];
        while (next - acked < 8) {
            char room[64], note[32];
            struct record r = numbered(next, room, note);
            struct store_point p = {.service = "embed", .signal = "p99", .at = (int64_t)next, .value = 1};
            if (store_append(s, &r, 1, next, NULL) != STATUS_OK) _exit(4);
            if (store_points_put(s, &p, 1, NULL) != STATUS_OK) _exit(4);
            next++;
        }
        struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
        if (poll(&p, 1, -1) < 0) _exit(5);
        uint32_t n = store_poll(s, acks, 8);
        for (uint32_t i = 0; i < n; i++) {
            if (acks[i].status != STATUS_OK || acks[i].seq != acks[i].token) _exit(6);
            if (write(out, &acks[i].seq, sizeof acks[i].seq) != sizeof acks[i].seq) _exit(7);
            acked++;
        }
    }
}

/* Starts a child, lets it acknowledge `want` records and run on for `spins`, kills it. Returns the last number told. */
static uint64_t run_and_kill(const char *dir, unsigned want, uint64_t spins)
{
    int ends[2], status = 0;
    uint64_t seq = 0, last = UINT64_MAX;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        child(dir, ends[1]);
    }
    close(ends[1]);
    for (unsigned i = 0; i < want && read(ends[0], &seq, sizeof seq) == sizeof seq; i++) last = seq;
    for (volatile uint64_t i = 0; i < spins; i++) {}
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status)) fail_msg("the child ended by itself with code %d", WEXITSTATUS(status));
    while (read(ends[0], &seq, sizeof seq) == sizeof seq) last = seq;
    close(ends[0]);
    return last;
}

static bool check_number(void *arg, const struct store_entry *x)
{
    char want[32];
    snprintf(want, sizeof want, "%llu", (unsigned long long)x->seq);
    assert_string_equal(record_get_text(x->record, RF_NOTE), want);
    ++*(uint64_t *)arg;
    return true;
}

static void test_kill(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX];
    struct prng chance;
    uint64_t size = 0;
    prng_seed(&chance, 99);
    tempdir_make(dir);
    for (int round = 0; round < 40; round++) {
        uint64_t last = run_and_kill(dir, (unsigned)prng_below(&chance, 30), prng_below(&chance, 3000000));
        struct store *s = open_store(dir, true);
        struct store_report report;
        uint64_t n = 0;
        struct store_sink sink = {check_number, &n};
        assert_non_null(s);
        assert_int_equal(store_verify(s, &report, NULL), STATUS_OK);
        if (!report.good) fail_msg("round %d: %s", round, report.why);
        assert_int_equal(store_records(s, 0, &sink, NULL), STATUS_OK);
        assert_int_equal(n, report.records);
        if (n < size || (last != UINT64_MAX && n < last + 1))
            fail_msg("round %d: %llu acknowledged, %llu there", round, (unsigned long long)last + 1,
                     (unsigned long long)n);
        size = n;
        store_close(s);
    }
    print_message("%llu records over 40 kills\n", (unsigned long long)size);
    assert_true(size > 200);
    tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
