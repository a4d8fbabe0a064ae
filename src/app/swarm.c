/* trimtab simulate --swarm --seeds A..B [--jobs N] [--json] [--only LIST] [--shrink] [--verbose] */
#include "app/swarm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/num.h"
#include "sim/swarm.h"

#define JOBS_MAX 64
#define SEEDS_MAX 10000000

struct range { uint64_t from, to; };

struct total {
    uint64_t runs, events, records, writes, undos, violations, first_failing, digest, by_kind[RECORD_KIND_COUNT],
        bites[FAULTS_KINDS];
    struct span unrest;
    double years;
    char what[400];
};

static bool parse_range(const char *text, struct range *r)
{
    const char *dots = text ? strstr(text, "..") : NULL;
    if (text && !dots) dots = text + strlen(text);
    if (!text || !num_parse_u64(text, (size_t)(dots - text), &r->from)) return false;
    r->to = r->from;
    if (*dots && !num_parse_u64(dots + 2, strlen(dots + 2), &r->to)) return false;
    return r->to >= r->from && r->to - r->from < SEEDS_MAX;
}

static bool parse_only(const char *text, struct swarm_options *o)
{
    o->has_only = true;
    while (*text) {
        size_t n = strcspn(text, ",");
        uint64_t i;
        if (!num_parse_u64(text, n, &i) || i >= FAULTS_MAX) return text[0] == '-' && text[1] == '\0';   /* "-": none */
        o->only[i / 64] |= UINT64_C(1) << (i % 64);
        text += n + (text[n] == ',');
    }
    return true;
}

static void add(struct total *t, const struct swarm_result *r)
{
    t->runs++;
    t->events += r->events;
    t->records += r->records;
    t->writes += r->writes;
    t->undos += r->undos;
    t->years += span_seconds(r->lived) / (365.25 * 86400);
    for (unsigned k = 0; k < RECORD_KIND_COUNT; k++) t->by_kind[k] += r->by_kind[k];
    for (unsigned k = 0; k < FAULTS_KINDS; k++) t->bites[k] += r->bites[k];
    t->unrest = span_max(t->unrest, r->unrest);
    t->digest = (t->digest ^ r->digest) * UINT64_C(0x100000001b3);
    if (!r->violated) return;
    if (t->violations++ > 0) return;
    t->first_failing = r->seed;
    memcpy(t->what, r->what, sizeof t->what);
}

/* ---- several processes ---- */

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t len)
{
    char *p = bytes;
    while (len > 0) {
        ssize_t n = read(fd, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static int work(int fd, const struct range *seeds, uint64_t job, uint64_t jobs)
{
    for (uint64_t s = seeds->from + job; s <= seeds->to; s += jobs) {
        struct swarm_options o = {.seed = s};
        struct swarm_result r;
        struct err e = {0};
        if (swarm_run(&o, &r, &e) != STATUS_OK || !write_all(fd, &r, sizeof r)) return 1;
    }
    swarm_end();
    return 0;
}

/* Results come in the order of the seeds whatever the number of jobs, so the digest does not depend on it. */
static bool collect(const int *fds, uint64_t jobs, const struct range *seeds, struct total *t, uint64_t *ret_broken)
{
    for (uint64_t s = seeds->from; s <= seeds->to; s++) {
        struct swarm_result r;
        if (!read_all(fds[(s - seeds->from) % jobs], &r, sizeof r)) {
            *ret_broken = s;
            return false;
        }
        add(t, &r);
        if (r.violated) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)s, r.what);
    }
    return true;
}

static bool run_jobs(const struct range *seeds, uint64_t jobs, struct total *t)
{
    int fds[JOBS_MAX];
    pid_t pids[JOBS_MAX];
    uint64_t broken = 0;
    for (uint64_t j = 0; j < jobs; j++) {
        int p[2];
        if (pipe(p) != 0) return false;
        fflush(stdout);
        pids[j] = fork();
        if (pids[j] < 0) return false;
        if (pids[j] == 0) {
            (void)close(p[0]);
            _exit(work(p[1], seeds, j, jobs));
        }
        (void)close(p[1]);
        fds[j] = p[0];
    }
    bool ok = collect(fds, jobs, seeds, t, &broken);
    for (uint64_t j = 0; j < jobs; j++) {
        (void)close(fds[j]);
        (void)waitpid(pids[j], NULL, 0);
    }
    if (ok) return true;
    fprintf(stderr, "seed %llu: the run crashed; again with: trimtab simulate --swarm --seeds %llu --jobs 0\n",
            (unsigned long long)broken, (unsigned long long)broken);
    return false;
}

/* ---- what is said ---- */

static void print_kinds(const struct total *t)
{
    printf("records:");
    for (unsigned k = 0; k < RECORD_KIND_COUNT; k++) {
        if (t->by_kind[k]) printf(" %s %llu", record_kind_name((enum record_kind)k), (unsigned long long)t->by_kind[k]);
    }
    printf("\nwrites: %llu, undos: %llu\n", (unsigned long long)t->writes, (unsigned long long)t->undos);
}

/* A slice in which a fault never makes a difference proves nothing about it. */
static void print_faults(const struct total *t)
{
    unsigned never = 0;
    for (unsigned k = 0; k < FAULTS_KINDS; k++) never += t->bites[k] == 0;
    printf("faults: %u of %u kinds made a difference", FAULTS_KINDS - never, (unsigned)FAULTS_KINDS);
    for (unsigned k = 0; k < FAULTS_KINDS; k++) {
        if (!t->bites[k]) printf("%s %s", never ? "; never:" : "", faults_word((enum faults_kind)k));
        if (!t->bites[k]) never = 0;
    }
    struct buf unrest = BUF_INIT;
    span_print(&unrest, t->unrest);
    printf("\nlongest time without rest after the last fault: %s\n", buf_text(&unrest));
    buf_free(&unrest);
}

static void print_total(const struct total *t, bool json)
{
    struct buf years = BUF_INIT;
    if (!json) {
        print_kinds(t);
        print_faults(t);
    }
    if (t->violations > 0) {
        printf("first: seed %llu: %s\n", (unsigned long long)t->first_failing, t->what);
        printf("again with: trimtab simulate --swarm --verbose --seeds %llu; shorter with --shrink\n",
               (unsigned long long)t->first_failing);
    }
    buf_fixed(&years, t->years, 3);
    printf("{\"runs\":%llu,\"service_years\":%s,\"events\":%llu", (unsigned long long)t->runs, buf_text(&years),
           (unsigned long long)t->events);
    printf(",\"violations\":%llu,\"first_failing_seed\":", (unsigned long long)t->violations);
    if (t->violations > 0) printf("%llu", (unsigned long long)t->first_failing);
    else printf("null");
    printf(",\"digest\":\"%016llx\"}\n", (unsigned long long)t->digest);
    buf_free(&years);
}

static void print_only(const struct swarm_options *o, const struct swarm_result *r)
{
    struct buf list = BUF_INIT;
    swarm_list(o, &list);
    printf("%s", buf_text(&list));
    buf_free(&list);
    printf("%s\nagain with: trimtab simulate --swarm --verbose --seeds %llu --only ", r->what, (unsigned long long)o->seed);
    bool first = true;
    for (unsigned i = 0; i < FAULTS_MAX; i++) {
        if (!(o->only[i / 64] >> (i % 64) & 1)) continue;
        printf("%s%u", first ? "" : ",", i);
        first = false;
    }
    printf("%s\n", first ? "-" : "");
}

/* One seed in this very process: with its story, or shortened. */
static int run_one(struct swarm_options *o, bool shrink, bool verbose, struct total *t)
{
    struct swarm_result r;
    struct buf story = BUF_INIT;
    struct err e = {0};
    if (verbose) o->story = &story;
    enum status s = shrink ? swarm_shrink(o, &r, &e) : swarm_run(o, &r, &e);
    if (s != STATUS_OK) fprintf(stderr, "trimtab simulate: %s\n", e.text);
    if (verbose) {
        struct buf list = BUF_INIT;
        swarm_about(o, &list);
        swarm_list(o, &list);
        printf("%s\n%s", buf_text(&list), buf_text(&story));
        buf_free(&list);
    }
    if (s == STATUS_OK && shrink && r.violated) print_only(o, &r);
    if (s == STATUS_OK) add(t, &r);
    buf_free(&story);
    return s == STATUS_OK ? EXIT_GOOD : EXIT_FAIL;
}

int swarm_command(const struct args *a)
{
    struct range seeds;
    uint64_t jobs = 1;
    struct total t = {.digest = UINT64_C(0xcbf29ce484222325)};
    const char *range = args_text(a, "seeds"), *n = args_text(a, "jobs"), *only = args_text(a, "only");
    bool shrink = args_has(a, "shrink"), verbose = args_has(a, "verbose");
    if (!parse_range(range ? range : "1..20", &seeds) || (n && (!num_parse_u64(n, strlen(n), &jobs) || jobs > JOBS_MAX))) {
        fprintf(stderr, "trimtab simulate --swarm: --seeds A..B with whole numbers, --jobs up to %d\n", JOBS_MAX);
        return EXIT_USAGE;
    }
    if (shrink || verbose || only || jobs == 0) {
        struct swarm_options o = {.seed = seeds.from};
        if (only && !parse_only(only, &o)) {
            fprintf(stderr, "trimtab simulate --swarm: --only takes item numbers, as --verbose lists them: 3,7,12\n");
            return EXIT_USAGE;
        }
        int code = run_one(&o, shrink, verbose, &t);
        swarm_end();
        if (code != EXIT_GOOD) return code;
    } else if (!run_jobs(&seeds, jobs, &t)) {
        return EXIT_FAIL;
    }
    print_total(&t, args_has(a, "json"));
    return t.violations > 0 ? EXIT_FAIL : EXIT_GOOD;
}
