/* Reads fall into classes: loop.md section 4, "Reads". */
#include "support/test.h"

#include "loop/control.h"

enum { OLD = 1, NEW = 2, OTHER = 3, V7 = 7, V8 = 8, V9 = 9 };

static struct control_policy policy(enum control_cas cas)
{
    struct control_policy p = {.knob_count = 1};
    p.knobs[0].cas = (uint8_t)cas;
    return p;
}

static struct control with_action(enum story story)
{
    struct control c;
    struct control_policy p = policy(CAS_VERSION);
    control_init(&c, &p, (struct instant){0});
    c.knobs[0].slot = (struct control_slot){.action = 1, .old = OLD, .new_ = NEW, .version = V7, .story = (uint8_t)story};
    c.knobs[0].seen = true;
    c.knobs[0].believed = story == STORY_INTENT ? OLD : NEW;
    c.knobs[0].believed_version = story == STORY_INTENT ? V7 : V8;
    return c;
}

static struct control_read of(unsigned n, uint16_t first, uint16_t second, uint16_t version)
{
    return (struct control_read){.present = true, .readable = true, .n = (uint8_t)n, .values = {first, second}, .version = version};
}

static void check(enum control_cas cas, enum story story, struct control_read r, enum read_class want)
{
    struct control_policy p = policy(cas);
    struct control c = with_action(story);
    enum read_class got = control_classify(&p, &c, 0, &r);
    if (got != want) fail_msg("%s, expected %s", read_class_name(got), read_class_name(want));
}

static void five_classes(void **state)
{
    (void)state;
    check(CAS_NONE, STORY_INTENT, of(1, OLD, 0, 0), READ_OLD);
    check(CAS_NONE, STORY_INTENT, of(1, NEW, 0, 0), READ_NEW);
    check(CAS_NONE, STORY_INTENT, of(2, NEW, OLD, 0), READ_MIX);
    check(CAS_NONE, STORY_INTENT, of(1, OTHER, 0, 0), READ_THIRD);
    check(CAS_NONE, STORY_INTENT, of(2, NEW, OTHER, 0), READ_THIRD);
    check(CAS_NONE, STORY_INTENT, (struct control_read){.present = true}, READ_NONE);
    check(CAS_NONE, STORY_INTENT, (struct control_read){0}, READ_NONE);
    struct control_read many = of(2, NEW, OLD, 0);
    many.more = true;                        /* more different values than fit */
    check(CAS_NONE, STORY_INTENT, many, READ_THIRD);
}

static void versions_tell_a_hand_in_between(void **state)
{
    (void)state;
    check(CAS_VERSION, STORY_INTENT, of(1, OLD, 0, V7), READ_OLD);
    check(CAS_VERSION, STORY_INTENT, of(1, OLD, 0, V9), READ_THIRD);     /* written and put back by somebody */
    check(CAS_VALUE, STORY_INTENT, of(1, OLD, 0, V9), READ_OLD);
    check(CAS_VERSION, STORY_INTENT, of(1, NEW, 0, V8), READ_NEW);
    check(CAS_VERSION, STORY_APPLIED, of(1, NEW, 0, V8), READ_NEW);
    check(CAS_VERSION, STORY_APPLIED, of(1, NEW, 0, V9), READ_THIRD);    /* not the version that was adopted */
    check(CAS_VERSION, STORY_APPLIED, of(2, NEW, OLD, 0), READ_MIX);     /* instances count versions of their own */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(five_classes), cmocka_unit_test(versions_tell_a_hand_in_between)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
