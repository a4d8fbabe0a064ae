/* trimtab demo --keep: target and daemon stay up, so that the story can be read in the console. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/demo.h"
#include "base/text.h"

static volatile sig_atomic_t told_to_end;

static void on_signal(int sig)
{
    (void)sig;
    told_to_end = 1;
}

/* The way in for the first admin: the daemon writes it into its log once, since there is no user yet. */
static bool setup_link(const struct demo *d, char *out, size_t cap)
{
    char path[300], line[1000];
    bool found = false;
    snprintf(path, sizeof path, "%s/daemon.log", d->folder);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, (int)sizeof line, f)) {
        char *link = strstr(line, "http://");
        if (!link || !strstr(link, "/setup#")) continue;
        link[strcspn(link, " \"\n")] = '\0';
        found = text_copy(out, cap, link);
    }
    if (f) fclose(f);
    return found;
}

/* The third line of a checkpoint is the root of the tree. */
static void root_of(char *out, size_t cap, const char *note)
{
    const char *line = note;
    for (int i = 0; i < 2 && line; i++) {
        line = strchr(line, '\n');
        if (line) line++;
    }
    size_t len = line ? strcspn(line, "\n") : 0;
    snprintf(out, cap, "%.*s", (int)len, line ? line : "");
}

bool demo_verify_live(struct demo *d)
{
    char why[200];
    json_t *j = demo_get(d->daemon, "/api/v1/audit/verify", why);
    const json_t *data = json_object_get(j, "data");
    const char *fault = json_string_value(json_object_get(data, "why"));
    d->audit.verified = json_is_true(json_object_get(data, "good"));
    d->audit.size = (uint64_t)json_integer_value(json_object_get(data, "records"));
    (void)text_copy(d->audit.why, sizeof d->audit.why, fault ? fault : why);
    json_decref(j);
    struct buf note = BUF_INIT;
    if (demo_text(d->daemon, "/api/v1/audit/checkpoint", &note)) root_of(d->audit.root, sizeof d->audit.root, buf_text(&note));
    buf_free(&note);
    snprintf(d->audit.path, sizeof d->audit.path, "%s/data/audit.db", d->folder);
    return d->audit.verified;
}

void demo_keep_up(struct demo *d)
{
    char link[400];
    const struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    demo_say(d, "\nThe console is at http://%s/ and may be read without a login.\n", d->daemon);
    if (setup_link(d, link, sizeof link)) demo_say(d, "To approve, halt or resume there, make the first admin: %s\n", link);
    demo_say(d, "The service is still halted by act 4. Break it again: curl -X POST -d '' http://%s/world/reference\n", d->target);
    demo_say(d, "It stays up until Ctrl-C.\n");
    while (!told_to_end && demo_alive(d)) demo_pause(200);
    if (!told_to_end) fprintf(stderr, "trimtab demo: a process ended; the logs are in %s\n", d->folder);
}
