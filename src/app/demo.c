/* trimtab demo */
#include "app/demo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/clock.h"
#include "app/command.h"
#include "audit/note.h"
#include "base/num.h"
#include "base/text.h"
#include "store/store.h"

#define DEMO_SPEED 40                /* four acts, about 85 nominal minutes, in some two minutes */

static bool verify_audit(struct demo *d)
{
    struct store_report report;
    struct err e = {0};
    snprintf(d->audit.path, sizeof d->audit.path, "%s/data/audit.db", d->folder);
    if (store_verify_file(d->audit.path, NULL, &report, &e) != STATUS_OK) {
        (void)text_copy(d->audit.why, sizeof d->audit.why, e.text);
        return false;
    }
    struct buf root = BUF_INIT;
    audit_base64(&root, report.newest.root.b, sizeof report.newest.root.b);
    (void)text_copy(d->audit.root, sizeof d->audit.root, buf_text(&root));
    buf_free(&root);
    d->audit.size = report.newest.size;
    d->audit.verified = report.good && report.newest.size == report.records;
    (void)text_copy(d->audit.why, sizeof d->audit.why, report.why);
    return d->audit.verified;
}

static void say_end(const struct demo *d, bool acts)
{
    double seconds = (double)(clock_monotonic_us() - d->started_us) / 1e6;
    bool good = d->audit.verified;
    demo_say(d, "\nAudit: %llu records, root %s, %s%s\n", (unsigned long long)d->audit.size, d->audit.root,
             good ? "verified" : "NOT verified: ", good ? "" : d->audit.why);
    demo_say(d, "%s in %d s.\n", acts && good ? "All four acts came out as told" : "Something did NOT come out as told",
             (int)seconds);
    demo_say(d, "Everything is in %s: demo.yaml, data/audit.db, daemon.log, target.log\n", d->folder);
    demo_say(d, "Check the log yourself: trimtab audit verify %s\n", d->audit.path);
}

static bool options(struct demo *d, const struct args *a)
{
    const char *speed = args_text(a, "speed"), *seed = args_text(a, "seed"), *folder = args_text(a, "folder");
    d->json = args_has(a, "json");
    d->keep = args_has(a, "keep");
    d->speed = DEMO_SPEED;
    d->seed = 1;
    if (folder) (void)text_copy(d->folder, sizeof d->folder, folder);
    bool number = !speed || num_parse_all(speed, strlen(speed), &d->speed);
    if (!number || !(d->speed >= 1 && d->speed <= 100) || d->speed != floor(d->speed)) {
        fprintf(stderr, "trimtab demo: --speed is a whole number from 1 to 100, not '%s'\n", speed);
        return false;
    }
    if (seed && !num_parse_u64(seed, strlen(seed), &d->seed)) {
        fprintf(stderr, "trimtab demo: --seed is a whole number, not '%s'\n", seed);
        return false;
    }
    return args_want(a, 0, 0);
}

int command_demo(const struct args *a)
{
    struct demo d = {0};
    if (!options(&d, a)) return EXIT_USAGE;
    demo_say(&d, "A simulated text-embedding service behind real HTTP, and the real daemon.\n");
    demo_say(&d, "Their clock runs %d times fast.\n", (int)d.speed);
    if (!demo_folder(&d)) {
        if (d.json) demo_print_json(&d);
        return EXIT_FAIL;
    }
    bool ok = demo_start(&d);
    if (ok) {
        demo_say(&d, "target http://%s   daemon and console http://%s/   folder %s\n", d.target, d.daemon, d.folder);
        ok = demo_import(&d) && demo_play(&d);
    }
    bool keep = ok && d.keep && demo_alive(&d);
    if (!keep) demo_stop(&d);
    bool verified = keep ? demo_verify_live(&d) : verify_audit(&d);
    say_end(&d, ok);
    if (d.json) demo_print_json(&d);
    if (keep) demo_keep_up(&d);
    else if (d.daemon[0]) demo_say(&d, "The console was at http://%s/ ; it stays up with: make demo DEMO_ARGS=--keep\n", d.daemon);
    demo_stop(&d);
    return ok && verified ? EXIT_GOOD : EXIT_FAIL;
}
