/* trimtab audit show ACTION | verify [FILE] | export | proof ACTION */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/audit_file.h"
#include "app/client.h"
#include "app/output.h"
#include "app/story.h"
#include "base/check.h"
#include "base/text.h"

static int failed(const struct err *e)
{
    fprintf(stderr, "trimtab audit: %s\n", e->text);
    return EXIT_FAIL;
}

/* "embed/7" as an address below `base`. */
static bool action_path(struct buf *path, const char *base, const char *action)
{
    const char *slash = strrchr(action, '/');
    char service[128];
    if (!slash || slash == action || !slash[1]) {
        fprintf(stderr, "trimtab audit: an action is named SERVICE/NUMBER, such as embed/7, not '%s'\n", action);
        return false;
    }
    snprintf(service, sizeof service, "%.*s", (int)(slash - action), action);
    buf_puts(path, base);
    client_segment(path, service);
    buf_putc(path, '/');
    client_segment(path, slash + 1);
    return true;
}

/* ---- show ---- */

/* What came before the action: how its incident was noticed, who was asked. */
static void add_incident(const struct client *c, const char *action, json_t *records)
{
    char number[32];
    struct answer incident;
    struct buf path = BUF_INIT;
    const json_t *first = json_array_get(records, 0), *n = json_object_get(first, "incident");
    json_t *r;
    size_t i, at = 0;
    if (!json_is_integer(n)) return;
    snprintf(number, sizeof number, "%.0s%lld", action, (long long)json_integer_value(n));
    buf_puts(&path, "/api/v1/incidents/");
    client_segment(&path, text_of(first, "service"));
    buf_printf(&path, "/%s", number);
    if (client_try(c, buf_text(&path), &incident) == EXIT_GOOD) {
        json_array_foreach(json_object_get(incident.data, "records"), i, r) {
            const char *kind = text_of(r, "kind");
            if (text_eq(kind, "INCIDENT") || text_eq(kind, "REQUEST") || text_eq(kind, "APPROVAL")) {
                if (!json_object_get(r, "action")) json_array_insert(records, at++, r);
            }
        }
    }
    answer_free(&incident);
    buf_free(&path);
}

static int show_records(const char *action, json_t *records, enum output o)
{
    json_t *all = json_pack("{s:s,s:O}", "action", action, "records", records);
    if (!output_value(o, all)) {
        struct buf b = BUF_INIT;
        story_tell(&b, action, records);
        fwrite(buf_text(&b), 1, b.len, stdout);
        buf_free(&b);
    }
    json_decref(all);
    return EXIT_GOOD;
}

static int show_file(const char *where, const char *action, enum output o)
{
    char path[1200];
    struct err e;
    json_t *records = audit_file_find(where, path, &e) ? audit_file_story(path, action, &e) : NULL;
    if (!records) return failed(&e);
    int code = show_records(action, records, o);
    json_decref(records);
    return code;
}

static int show(const struct args *a, struct client *c, enum output o)
{
    struct buf path = BUF_INIT;
    struct answer answer = {.text = BUF_INIT};
    const char *file = args_text(a, "file"), *action = a->word_n == 2 ? a->words[1] : NULL;
    if (!action) {
        fprintf(stderr, "trimtab audit show: say which action, such as embed/7; 'trimtab incidents' shows them\n");
        return EXIT_USAGE;
    }
    if (!action_path(&path, "/api/v1/actions/", action)) return EXIT_USAGE;
    int code = file ? EXIT_FAIL : client_try(c, buf_text(&path), &answer);
    if (code == EXIT_GOOD) {
        json_t *records = json_object_get(answer.data, "records");
        add_incident(c, action, records);
        code = show_records(action, records, o);
    } else if (!answer.reached) {
        code = show_file(file ? file : c->data, action, o);
    }
    answer_free(&answer);
    buf_free(&path);
    return code;
}

/* ---- verify ---- */

static void say_report(const json_t *r)
{
    long long records = (long long)json_integer_value(json_object_get(r, "records"));
    if (is_true(r, "good")) {
        printf("%s: GOOD. %lld records, %lld signed checkpoints; every hash, signature and place in the tree is right.\n",
               text_of(r, "file")[0] ? text_of(r, "file") : "the daemon's log", records,
               (long long)json_integer_value(json_object_get(r, "checkpoints")));
        if (text_of(r, "root")[0]) printf("root %s\n", text_of(r, "root"));
        if (text_of(r, "file")[0] && !text_of(r, "key")[0]) {
            printf("Checked against the key that the file itself names; give audit.pub with --key to prove who signed it.\n");
        }
    } else {
        printf("%s: BAD. %s\n", text_of(r, "file")[0] ? text_of(r, "file") : "the daemon's log", text_of(r, "why"));
        printf("%lld records before it are good. Keep the file as it is; compare it with a copy or a checkpoint kept elsewhere.\n",
               records);
    }
}

static int tell_report(json_t *r, enum output o)
{
    if (!output_value(o, r)) say_report(r);
    return is_true(r, "good") ? EXIT_GOOD : EXIT_FAIL;
}

static int verify(const struct args *a, struct client *c, enum output o)
{
    char path[1200];
    struct err e;
    struct answer answer;
    const char *file = a->word_n == 2 ? a->words[1] : args_text(a, "file");
    if (file || audit_file_find(c->data, path, &e)) {
        json_t *r = !file || audit_file_find(file, path, &e)
                        ? audit_file_verify(path, args_text(a, "key"), args_text(a, "checkpoint"), &e) : NULL;
        if (!r) return failed(&e);
        int code = tell_report(r, o);
        json_decref(r);
        return code;
    }
    int code = client_get(c, "/api/v1/audit/verify", &answer);
    if (code == EXIT_GOOD) code = tell_report(answer.data, o);
    answer_free(&answer);
    return code;
}

/* ---- export, proof ---- */

static int export(const struct args *a, struct client *c)
{
    char path[1200];
    struct err e;
    const char *file = a->word_n == 2 ? a->words[1] : args_text(a, "file");
    if (!audit_file_find(file ? file : c->data, path, &e)) return failed(&e);
    return audit_file_export(path, &e) == STATUS_OK ? EXIT_GOOD : failed(&e);
}

static int proof(const struct args *a, struct client *c)
{
    struct buf path = BUF_INIT;
    struct answer answer = {.text = BUF_INIT};
    if (a->word_n != 2) {
        fprintf(stderr, "trimtab audit proof: say which action, such as embed/7\n");
        return EXIT_USAGE;
    }
    if (!action_path(&path, "/api/v1/audit/proof/", a->words[1])) return EXIT_USAGE;
    int code = client_file(c, buf_text(&path), &answer);
    if (code == EXIT_GOOD) fwrite(buf_text(&answer.text), 1, answer.text.len, stdout);
    answer_free(&answer);
    buf_free(&path);
    return code;
}

int command_audit(const struct args *a)
{
    static const char *const words[] = {"show", "verify", "export", "proof"};
    struct client c;
    enum output o;
    if (!args_want(a, 1, 2) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    if (text_eq(a->words[0], "show")) return show(a, &c, o);
    if (text_eq(a->words[0], "verify")) return verify(a, &c, o);
    if (text_eq(a->words[0], "export")) return export(a, &c);
    if (text_eq(a->words[0], "proof")) return proof(a, &c);
    const char *near = text_nearest(a->words[0], words, ARRAY_LEN(words));
    if (near) fprintf(stderr, "trimtab audit: unknown word '%s'; did you mean '%s'?\n", a->words[0], near);
    else fprintf(stderr, "trimtab audit: unknown word '%s'; there are show, verify, export, proof\n", a->words[0]);
    return EXIT_USAGE;
}
