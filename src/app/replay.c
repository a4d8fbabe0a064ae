/* trimtab replay --config FILE --from CSV|DIR|URL: what the policy would have made of recorded history. */
#include "app/replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/clock.h"
#include "base/num.h"
#include "base/text.h"
#include "config/load.h"

void replay_note(struct replay_input *in, const char *fmt, ...)
{
    struct buf b = BUF_INIT;
    va_list ap;
    if (in->note_n == REPLAY_NOTES) return;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    (void)text_copy(in->notes[in->note_n++], sizeof in->notes[0], buf_text(&b));
    buf_free(&b);
}

uint16_t replay_service_of(const struct replay_input *in, const char *name)
{
    uint16_t i = policy_service(in->replay->policy, name);
    return in->only == NO_INDEX || in->only == i ? i : NO_INDEX;
}

void replay_wanted(const struct replay_input *in, int64_t *ret_from, int64_t *ret_to)
{
    *ret_from = in->has_since ? in->since.us - in->history.us : INT64_MIN;
    *ret_to = in->has_until ? in->until.us : INT64_MAX;
}

/* ---- the command line ---- */

static bool usage(const char *what, const char *value)
{
    fprintf(stderr, "trimtab replay: %s%s%s%s\n", what, value ? ", not '" : "", value ? value : "", value ? "'" : "");
    return false;
}

static bool read_span(const char *text, struct span *ret)
{
    size_t n = strlen(text);
    return n < 40 && n > 0 && span_parse(text, (unsigned)n, ret) == n;
}

static bool read_times(const struct args *a, struct replay_input *in)
{
    const char *since = args_text(a, "since"), *until = args_text(a, "until"), *history = args_text(a, "history");
    if (history && !read_span(history, &in->history)) return usage("--history is a duration like 1d", history);
    if (until) {
        in->has_until = wall_parse(until, &in->until);
        if (!in->has_until) return usage("--until is a time like 2026-05-12T10:00:00Z", until);
    }
    if (!since) return true;
    if (read_span(since, &in->since_back)) return true;
    in->has_since = wall_parse(since, &in->since);
    return in->has_since ? true : usage("--since is a time like 2026-05-12T10:00:00Z, or a duration before the end like 7d", since);
}

/* NAME=VALUE for each service that has such a knob. */
static bool give_knob(struct replay_input *in, const char *text)
{
    const char *equals = strchr(text, '=');
    char name[POLICY_NAME_MAX + 1];
    double v;
    bool found = false;
    if (!equals || (size_t)(equals - text) >= sizeof name || !num_parse_all(equals + 1, strlen(equals + 1), &v))
        return usage("--knob is NAME=NUMBER, as batch_max=32", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    for (uint16_t i = 0; i < in->replay->policy->service_count; i++) {
        uint16_t k = service_knob(in->replay->services[i].def, name);
        if (k == NO_INDEX) continue;
        found = true;
        /* What was recorded says more than what is told now. */
        if (in->replay->services[i].knobs[k].present) replay_note(in, "--knob %s is not needed: its values are recorded", name);
        else (void)replay_knob(in->replay, i, k, (struct wall){INT64_MIN + 1}, v, REPLAY_GIVEN, NULL);
    }
    return found ? true : usage("--knob: no service of the configuration has a knob of that name", name);
}

static bool give_release(struct replay_input *in, const char *text)
{
    struct wall at;
    if (!wall_parse(text, &at)) return usage("--release is a time like 2026-05-12T10:00:00Z", text);
    for (uint16_t i = 0; i < in->replay->policy->service_count; i++) {
        struct err e;
        if (replay_release(in->replay, i, at, "", &e) != STATUS_OK) return usage(e.text, NULL);
    }
    return true;
}

static bool give_rest(const struct args *a, struct replay_input *in)
{
    for (unsigned i = 0; i < a->flag_n; i++) {
        const char *name = a->flags[i].flag->name, *value = a->flags[i].value;
        if (text_eq(name, "knob") && !give_knob(in, value)) return false;
        if (text_eq(name, "release") && !give_release(in, value)) return false;
    }
    return true;
}

/* ---- reading ---- */

static struct policy *load(const char *path)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct config_options options = {.points_from_outside = true};
    struct policy *p = config_load_file(path, &options, &d);
    if (!p) {
        struct buf b = BUF_INIT;
        config_diagnostics_sort(&d);
        config_print_diagnostics(&b, &d, false);
        fwrite(buf_text(&b), 1, b.len, stderr);
        fprintf(stderr, "trimtab replay: %s has errors\n", path);
        buf_free(&b);
    }
    config_diagnostics_free(&d);
    return p;
}

/* Only the service that was asked for is replayed; the others would be a service without any data. */
static bool choose(const struct args *a, struct policy *p)
{
    const char *name = args_text(a, "service");
    if (!name) return true;
    return config_only(p, name) ? true : usage("--service: the configuration has no service of that name", name);
}

static enum status read_source(struct replay_input *in, struct err *e)
{
    struct stat st;
    if (text_starts(in->from, "http://") || text_starts(in->from, "https://")) {
        snprintf(in->kind, sizeof in->kind, "prometheus");
        return replay_read_prometheus(in, e);
    }
    if (strcmp(in->from, "-") != 0 && stat(in->from, &st) == 0 && S_ISDIR(st.st_mode)) return replay_read_folder(in, e);
    snprintf(in->kind, sizeof in->kind, "csv");
    if (in->replay->policy->service_count == 1) return replay_read_csv(in, in->from, 0, e);
    return err_set(e, STATUS_INVALID, "one CSV file is one service, and the configuration has %u: say which with --service",
                   (unsigned)in->replay->policy->service_count);
}

static enum status run(struct replay_input *in, struct err *e)
{
    struct wall first, last;
    if (!replay_bounds(in->replay, &first, &last)) {
        return err_set(e, STATUS_NOT_FOUND, "%.200s holds no point of any signal in that time", in->from);
    }
    if (!in->has_until) in->until = last;
    if (in->since_back.us > 0) in->since = (struct wall){in->until.us - in->since_back.us};
    else if (!in->has_since) in->since = first;
    if (in->since.us < first.us && in->until.us > first.us) {
        replay_note(in, "the history begins after --since, so the replay begins there");
        in->since = first;
    }
    return replay_run(in->replay, in->since, in->until, in->history, e);
}

static int tell(const struct args *a, const struct replay_input *in)
{
    struct buf out = {.limit = (size_t)1 << 30};
    for (unsigned i = 0; i < in->note_n; i++) fprintf(stderr, "trimtab replay: note: %s\n", in->notes[i]);
    if (args_has(a, "json")) replay_json(&out, in);
    else replay_say(&out, in);
    bool ok = buf_ok(&out) && fwrite(buf_text(&out), 1, out.len, stdout) == out.len && fflush(stdout) == 0;
    buf_free(&out);
    return ok ? EXIT_GOOD : EXIT_FAIL;
}

static int replay(const struct args *a, struct policy *p)
{
    struct replay_input *in = calloc(1, sizeof *in);
    struct err e = {0};
    int code = EXIT_USAGE;
    if (!in) return EXIT_FAIL;
    in->only = NO_INDEX;
    in->from = args_text(a, "from");
    in->bearer_file = args_text(a, "bearer-file");
    in->history = SPAN_DAY(1);
    if (read_times(a, in) && choose(a, p)) {
        in->replay = replay_new(p);
        enum status s = in->replay ? read_source(in, &e) : err_set(&e, STATUS_MEMORY, "no memory");
        bool given = s != STATUS_OK || give_rest(a, in);
        if (s == STATUS_OK && given) s = run(in, &e);
        if (s != STATUS_OK) fprintf(stderr, "trimtab replay: %s\n", e.text);
        code = s != STATUS_OK ? EXIT_FAIL : given ? tell(a, in) : EXIT_USAGE;
        replay_free(in->replay);
    }
    free(in);
    return code;
}

int command_replay(const struct args *a)
{
    const char *config = args_text(a, "config"), *from = args_text(a, "from");
    if (!config || !from || a->word_n) {
        fprintf(stderr, "trimtab replay: say --config FILE and --from CSV, FOLDER or URL; 'trimtab help replay' shows more\n");
        return EXIT_USAGE;
    }
    struct policy *p = load(config);
    if (!p) return EXIT_FAIL;
    int code = replay(a, p);
    config_free(p);
    return code;
}
