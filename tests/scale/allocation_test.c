/* In steady state nothing is allocated for a sample: counted over ticks of a fleet, points from outside and scraped pages, with
 * the allocator's doors watched by the linker (--wrap). What was learned is not saved meanwhile: that is not each tick's work. */
#include "support/test.h"

#include "bench/fleet.h"
#include "loop/control.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static uint64_t asked;

void *__wrap_malloc(size_t size)
{
    asked++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    asked++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    asked++;
    return __real_realloc(old, size);
}

enum { SERVICES = 5, WARM = 130, TICKS = 100 };

static uint64_t allocations(bool pages)
{
    struct fleet f;
    assert_true(fleet_open_with(&f, SERVICES, pages, (struct loop_options){.alone = true, .save_every = SPAN_DAY(3650)}));
    for (int i = 0; i < WARM; i++) fleet_tick(&f);
    uint64_t before = asked;
    for (int i = 0; i < TICKS; i++) fleet_tick(&f);
    uint64_t n = asked - before;
    assert_int_equal(loop_control(f.loop, 0)->state, STATE_WATCHING);
    fleet_close(&f);
    return n;
}

static void points_cost_no_allocation(void **state)
{
    (void)state;
    assert_int_equal(allocations(false), 0);
}

/* One piece of memory for all queries of a service's tick; its 20 samples a page need no more. */
static void samples_of_pages_cost_none_either(void **state)
{
    (void)state;
    assert_int_equal(allocations(true), SERVICES * TICKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_cost_no_allocation),
        cmocka_unit_test(samples_of_pages_cost_none_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
