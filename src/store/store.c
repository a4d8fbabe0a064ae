#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "store/internal.h"

static enum status set_options(struct store *s, const struct store_options *o, struct err *e)
{
    if (!text_copy(s->vfs, sizeof s->vfs, o->vfs ? o->vfs : ""))
        return err_set(e, STATUS_LIMIT, "the VFS name %.100s is too long", o->vfs);
    if (!o->dir) {
        if (!o->seed) return err_set(e, STATUS_INVALID, "a store in memory needs the seed of its key");
        s->reserve_held = true;
        return STATUS_OK;
    }
    if (!text_copy(s->dir, sizeof s->dir, o->dir)) return err_set(e, STATUS_LIMIT, "the path of the store is too long");
    s->threaded = !o->unthreaded;
    s->reserve_bytes = o->reserve_bytes;
    s->reserve_held = o->reserve_bytes == 0;
    return store_path(s->audit_path, s->dir, "audit.db", e);
}

/* A log without its key must not go on under another one. */
static enum status make_key(struct store *s, const struct store_options *o, struct err *e)
{
    struct stat st;
    if (s->dir[0] && stat(s->audit_path, &st) == 0 && st.st_size > 0)
        return err_set(e, STATUS_CONFLICT, "%s: there is a log, but audit.key is missing: restore it from a backup",
                       s->dir);
    return store_key_make(s->dir[0] ? s->dir : NULL, o->origin ? o->origin : STORE_ORIGIN, o->seed, &s->signer, e);
}

static enum status open_files(struct store *s, const struct store_options *o, struct err *e)
{
    if (!s->dir[0]) return make_key(s, o, e);
    enum status rc = store_make_dir(s->dir, e);
    if (rc == STATUS_OK) rc = store_lock(s->dir, &s->lock_fd, e);
    if (rc != STATUS_OK) return rc;
    rc = store_key_load(s->dir, &s->signer, e);
    return rc == STATUS_NOT_FOUND ? make_key(s, o, e) : rc;
}

static enum status open_databases(struct store *s, struct err *e)
{
    bool memory = !s->dir[0];
    enum status rc = store_log_open(&s->log, memory ? ":memory:" : s->audit_path, store_vfs(s), &s->signer, e);
    if (rc != STATUS_OK) return rc;
    s->log_open = true;
    s->size = s->log.tree.size;
    if (memory) {
        s->reader = s->log.db;
        return store_metrics_open(&s->metrics, s, e);
    }
    rc = store_check_published(s, e);
    if (rc == STATUS_OK) rc = store_key_publish(s->dir, &s->signer.verifier, e);
    if (rc == STATUS_OK) rc = store_sql_open(&s->reader, s->audit_path, store_vfs(s), STORE_SQL_READ, e);
    if (rc == STATUS_OK) rc = store_metrics_open(&s->metrics, s, e);
    return rc;
}

enum status store_check_published(struct store *s, struct err *e)
{
    struct audit_checkpoint c;
    struct audit_tree then;
    struct audit_hash root;
    struct audit_source source = store_hash_source(s->log.db);
    if (store_checkpoint_published(s->dir, &s->signer.verifier, &c, NULL) != STATUS_OK) return STATUS_OK;
    unsigned long long have = s->log.tree.size, want = c.size;
    if (want > have)
        return err_set(
            e, STATUS_CORRUPT,
            "%s: the log has %llu records, but its own signature in %s/checkpoint covers %llu: an older copy was put"
            " in its place; restore the newest one, or, if a person decided so, remove that checkpoint file",
            s->audit_path, have, s->dir, want);
    bool loaded = audit_tree_load(&then, c.size, &source);
    if (loaded) audit_tree_root(&then, &root);
    if (!loaded || !audit_hash_equal(&root, &c.root))
        return err_set(e, STATUS_CORRUPT,
                       "%s: the log does not continue the one that was signed in %s/checkpoint: restore that one",
                       s->audit_path, s->dir);
    s->published = c.size;
    return STATUS_OK;
}

static struct store *new_store(void)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->magic = STORE_MAGIC;
    s->lock_fd = s->event_fd = -1;
    s->queue_end = &s->queue;
    s->acked_end = &s->acked;
    pthread_mutex_init(&s->log_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

enum status store_open(struct store **ret, const struct store_options *o, struct err *e)
{
    struct store *s = new_store();
    if (!s) return err_set(e, STATUS_MEMORY, "no memory to open the store");
    enum status rc = set_options(s, o, e);
    if (rc == STATUS_OK) rc = open_files(s, o, e);
    if (rc == STATUS_OK) rc = open_databases(s, e);
    if (rc == STATUS_OK) rc = store_worker_start(s, e);
    if (rc != STATUS_OK) {
        store_close(s);
        return rc;
    }
    store_settle(s);
    *ret = s;
    return STATUS_OK;
}

static void free_list(struct store_request *q)
{
    while (q) {
        struct store_request *next = q->next;
        store_request_free(q);
        q = next;
    }
}

void store_close(struct store *s)
{
    if (!s) return;
    OBJ_VALID(s, STORE_MAGIC);
    store_worker_stop(s);
    store_metrics_close(s->metrics);
    if (s->reader && s->state != STORE_FATAL) store_publish(s, true);   /* with a reader the opening was complete */
    if (s->dir[0]) store_sql_close(&s->reader);
    /* After a failed sync a second one may seem to succeed; so nothing more is written. */
    if (s->log_open && s->state == STORE_FATAL) sqlite3_db_config(s->log.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    store_log_close(&s->log);
    free_list(s->queue);
    free_list(s->acked);
    audit_signer_wipe(&s->signer);
    if (s->lock_fd >= 0) close(s->lock_fd);
    pthread_mutex_destroy(&s->log_lock);
    pthread_mutex_destroy(&s->lock);
    s->magic = 0;
    free(s);
}

int store_fd(const struct store *s)
{
    OBJ_VALID(s, STORE_MAGIC);
    return s->event_fd;
}

const struct audit_verifier *store_verifier(const struct store *s)
{
    OBJ_VALID(s, STORE_MAGIC);
    return &s->signer.verifier;
}

void store_health(struct store *s, struct store_health *ret)
{
    OBJ_VALID(s, STORE_MAGIC);
    pthread_mutex_lock(&s->lock);
    *ret = (struct store_health){.state = s->state, .size = s->size, .waiting = s->waiting};
    text_copy(ret->text, sizeof ret->text, s->trouble);
    pthread_mutex_unlock(&s->lock);
    store_metrics_health(s->metrics, ret);
}

const char *store_state_name(enum store_state st)
{
    static const char *const names[] = {"good", "reserve", "full", "failed", "fatal"};
    return names[st];
}
