#include "app/audit_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/view_json.h"
#include "app/input.h"
#include "base/text.h"
#include "store/store.h"

bool audit_file_find(const char *what, char path[1200], struct err *e)
{
    struct stat st;
    if (stat(what, &st) != 0) {
        (void)err_set(e, STATUS_NOT_FOUND, "%s: no such file or folder", what);
        return false;
    }
    snprintf(path, 1200, S_ISDIR(st.st_mode) ? "%.1100s/audit.db" : "%.1100s", what);
    if (access(path, R_OK) == 0) return true;
    (void)err_set(e, STATUS_NOT_FOUND, "%s cannot be read", path);
    return false;
}

/* ---- story ---- */

struct collect { json_t *list; const char *action; uint64_t incident; bool wants_incident; };

static json_t *as_json(const struct store_entry *x)
{
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    json_error_t fault;
    view_json_record(&e, NULL, x->seq, x->record);
    json_t *v = json_loadb(buf_text(&b), b.len, 0, &fault);
    buf_free(&b);
    return v;
}

static bool add(void *arg, const struct store_entry *x)
{
    struct collect *c = arg;
    bool ours = text_eq(record_get_text(x->record, RF_ACTION), c->action);
    if (c->wants_incident) {
        bool of_incident = record_get_u64(x->record, RF_INCIDENT, 0) == c->incident;
        bool before = x->record->kind == RECORD_INCIDENT || x->record->kind == RECORD_REQUEST || x->record->kind == RECORD_APPROVAL;
        if (!ours && !(of_incident && before)) return true;
    }
    if (record_has(x->record, RF_INCIDENT)) c->incident = record_get_u64(x->record, RF_INCIDENT, 0);
    json_array_append_new(c->list, as_json(x));
    return true;
}

json_t *audit_file_story(const char *path, const char *action, struct err *e)
{
    char service[128];
    const char *slash = strrchr(action, '/');
    struct collect c = {.list = json_array(), .action = action};
    snprintf(service, sizeof service, "%.*s", slash ? (int)(slash - action) : 0, action);
    enum status s = store_records_file(path, NULL, action, &(struct store_sink){add, &c}, e);
    if (s == STATUS_OK && json_array_size(c.list) == 0) {
        s = err_set(e, STATUS_NOT_FOUND, "no action '%s' in %s; an action is named SERVICE/NUMBER", action, path);
    }
    if (s == STATUS_OK) {
        json_array_clear(c.list);
        c.wants_incident = true;
        s = store_records_file(path, service, NULL, &(struct store_sink){add, &c}, e);
    }
    if (s == STATUS_OK) return c.list;
    json_decref(c.list);
    return NULL;
}

/* ---- export ---- */

static bool print(void *arg, const struct store_entry *x)
{
    (void)arg;
    return fwrite(x->bytes, 1, x->len, stdout) == x->len && putchar('\n') != EOF;
}

enum status audit_file_export(const char *path, struct err *e)
{
    enum status s = store_records_file(path, NULL, NULL, &(struct store_sink){print, NULL}, e);
    if (s == STATUS_OK && (fflush(stdout) != 0 || ferror(stdout))) s = err_set(e, STATUS_IO, "standard output cannot be written");
    return s;
}

/* ---- verify ---- */

static void beside(const char *path, const char *name, char out[1300])
{
    const char *slash = strrchr(path, '/');
    snprintf(out, 1300, "%.*s%s%s", slash ? (int)(slash - path) : 0, path, slash ? "/" : "", name);
    if (access(out, R_OK) != 0) out[0] = '\0';
}

static enum status read_key(const char *path, struct audit_verifier *ret, struct err *e)
{
    char line[1024];
    enum status s = input_line(path, line, sizeof line, e);
    return s == STATUS_OK ? audit_verifier_parse(ret, line, strlen(line), e) : s;
}

static json_t *report_json(const char *path, const struct store_report *r, const char *key, const char *note)
{
    struct buf root = BUF_INIT;
    if (r->newest.size) audit_base64(&root, r->newest.root.b, sizeof r->newest.root.b);
    json_t *o = json_pack("{s:s,s:b,s:I,s:I,s:I,s:s,s:s,s:s*,s:s*}", "file", path, "good", r->good, "records",
                          (json_int_t)r->records,
                          "checkpoints", (json_int_t)r->checkpoints, "size", (json_int_t)r->newest.size, "root", buf_text(&root),
                          "origin", r->newest.origin, "key", key[0] ? key : NULL, "checkpoint", note[0] ? note : NULL);
    buf_free(&root);
    if (!r->good) {
        json_object_set_new(o, "first_bad_record", r->bad_seq <= INT64_MAX ? json_integer((json_int_t)r->bad_seq) : json_null());
        json_object_set_new(o, "why", json_string(r->why));
    }
    return o;
}

json_t *audit_file_verify(const char *path, const char *key, const char *checkpoint, struct err *e)
{
    char key_path[1300] = "", note_path[1300] = "";
    struct audit_verifier verifier;
    struct store_report report = {0};
    struct buf note = BUF_INIT;
    enum status s = STATUS_OK;
    if (key) (void)text_copy(key_path, sizeof key_path, key);
    else beside(path, "audit.pub", key_path);
    if (checkpoint) (void)text_copy(note_path, sizeof note_path, checkpoint);
    else beside(path, "checkpoint", note_path);
    if (key_path[0]) s = read_key(key_path, &verifier, e);
    if (s == STATUS_OK && note_path[0]) s = input_read(note_path, AUDIT_NOTE_MAX, &note, e);
    const struct audit_verifier *v = key_path[0] ? &verifier : NULL;
    if (s == STATUS_OK && note.len) s = store_verify_against(path, v, note.data, note.len, &report, e);
    else if (s == STATUS_OK) s = store_verify_file(path, v, &report, e);
    buf_free(&note);
    return s == STATUS_OK ? report_json(path, &report, key_path, note_path) : NULL;
}
