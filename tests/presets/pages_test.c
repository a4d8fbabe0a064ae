/* Every preset on the page of its server: each signal that the page can feed has the value that expected.py works out
 * from the same page in its own way; each other one is unknown. */
#include "support/test.h"

#include "base/num.h"
#include "presets/bed.h"

struct line { char page[100], preset[40], signal[64], value[40]; };

static bool next_line(FILE *f, struct line *l)
{
    char text[300];
    while (fgets(text, sizeof text, f))
        if (sscanf(text, "%99s %39s %63s %39s", l->page, l->preset, l->signal, l->value) == 4) return true;
    return false;
}

static bool agrees(const struct probe_signal *s, const char *want)
{
    double v;
    if (strcmp(want, "-") == 0) return s->state != PROBE_KNOWN && s->why != WHY_KNOWN;
    if (s->state != PROBE_KNOWN || !num_parse_all(want, strlen(want), &v)) return false;
    return fabs(s->value - v) <= 1e-9 * fabs(v) + 1e-12;
}

static unsigned check(const struct bed *b, const struct line *l)
{
    const struct probe_signal *s = bed_signal(b, l->signal);
    if (s && agrees(s, l->value)) return 0;
    print_error("%s on %s: %s is %.17g (%s), expected %s\n", l->preset, l->page, l->signal, s ? s->value : NAN,
                s ? unknown_name(s->why) : "no such signal", l->value);
    return 1;
}

/* All signals of the preset were asked for. */
static unsigned leave(struct bed *b, const char *page, unsigned seen)
{
    unsigned wrong = seen != b->s->signal_count;
    if (wrong) print_error("%s: %u of %u signals are expected\n", page, seen, b->s->signal_count);
    bed_close(b);
    return wrong;
}

static void signals_have_the_values_of_their_page(void **state)
{
    (void)state;
    static struct bed b;
    struct line l, last = {0};
    unsigned wrong = 0, seen = 0, skipped = 0;
    bool open = false;
    FILE *f = fopen(SOURCE_DIR "/tests/presets/expected.txt", "r");
    assert_non_null(f);
    while (next_line(f, &l)) {
        if (strcmp(l.page, last.page) != 0) {
            struct buf page = BUF_INIT;
            if (open) wrong += leave(&b, last.page, seen);
            seen = 0;
            last = l;
            open = bed_page(&page, l.page);
            if (open) bed_open(&b, l.preset);
            if (open) bed_feed(&b, &page, 0);
            skipped += !open;
            buf_free(&page);
        }
        if (open) wrong += check(&b, &l);
        seen++;
    }
    fclose(f);
    if (open) wrong += leave(&b, last.page, seen);
    if (skipped) print_message("%u pages skipped: no shared folder beside the checkout\n", skipped);
    assert_int_equal(0, wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_have_the_values_of_their_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
