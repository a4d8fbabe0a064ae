#include "sim/swarm_real.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/codec.h"
#include "base/check.h"
#include "sim/swarm_disk.h"
#include "store/store.h"

#define DIR_MAX 128
#define PATH_MAX_ 160                 /* DIR_MAX and a file's name */
#define DYING_WRITES 24               /* a commit of a few records needs fewer */

struct swarm_disk {
    char dir[DIR_MAX];
    struct store *store;             /* NULL: the process is dead */
    uint64_t acked;                  /* records that an ack has promised */
};

static const uint8_t key_seed[AUDIT_SEED_BYTES] = {7, 1, 7, 1};

static const char *path_of(const struct swarm *w, const char *name, char out[PATH_MAX_])
{
    snprintf(out, PATH_MAX_, "%s/%s", w->disk->dir, name);
    return out;
}

void real_begin(struct swarm *w)
{
    w->disk = calloc(1, sizeof *w->disk);
    CHECK(w->disk != NULL);
    (void)text_copy(w->disk->dir, DIR_MAX, "/dev/shm/trimtab-swarm-XXXXXX");
    if (!mkdtemp(w->disk->dir)) {
        (void)text_copy(w->disk->dir, DIR_MAX, "/tmp/trimtab-swarm-XXXXXX");
        CHECK(mkdtemp(w->disk->dir) != NULL);
    }
    disk_begin();
}

void real_end(struct swarm *w)
{
    static const char *const names[] = {
        "audit.db", "audit.db-wal", "audit.db-shm", "metrics.db", "metrics.db-wal", "metrics.db-shm",
        "lock", "audit.key", "audit.pub", "checkpoint", "checkpoint.new", "forged.db",
    };
    char path[PATH_MAX_];
    if (!w->disk) return;
    disk_process_dies();
    store_close(w->disk->store);
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) (void)remove(path_of(w, names[i], path));
    (void)rmdir(w->disk->dir);
    disk_end();
    free(w->disk);
    w->disk = NULL;
}

/* ---- weather ---- */

static bool now(struct swarm *w, enum faults_kind k) { return faults_now(&w->faults, k, 0, w->now) != NULL; }

/* The file that is to be replaced cannot be: a folder of its name stands there. */
static void block_rename(struct swarm *w, bool block)
{
    char path[PATH_MAX_];
    struct stat st;
    (void)path_of(w, "checkpoint", path);
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (block && !is_folder) {
        (void)unlink(path);
        (void)mkdir(path, 0700);
    }
    if (!block && is_folder) (void)rmdir(path);
}

static void look_at_weather(struct swarm *w)
{
    struct disk_weather *d = disk_weather();
    struct faults_item *write = faults_now(&w->faults, FAULTS_DISK_WRITE, 0, w->now);
    struct faults_item *sync = faults_now(&w->faults, FAULTS_DISK_SYNC, 0, w->now);
    if (!sync) sync = faults_now(&w->faults, FAULTS_STORE_FATAL, 0, w->now);
    d->full = now(w, FAULTS_DISK_FULL);
    d->fails = write || now(w, FAULTS_STORE_FAILS);
    d->torn = write && write->size < 0.7;
    d->sync_fails = sync != NULL;
    block_rename(w, now(w, FAULTS_DISK_RENAME));
}

/* A sync that failed once ends the process; the next one finds a good disk. */
static void after_store(struct swarm *w)
{
    if (!disk_sync_failed()) return;
    for (unsigned i = 0; i < w->faults.n; i++) {
        struct faults_item *x = &w->faults.items[i];
        bool sync = x->kind == FAULTS_DISK_SYNC || x->kind == FAULTS_STORE_FATAL;
        if (sync && x->armed && instant_reached(w->now, x->from)) x->until = w->now;
    }
}

/* ---- reading ---- */

struct reading { struct swarm *w; struct arena *a; };

static bool same_bytes(struct swarm *w, const struct record *r, const struct store_entry *e)
{
    struct err err;
    buf_clear(&w->scratch);
    CHECK(audit_encode(&w->scratch, r, &err) == STATUS_OK);
    return w->scratch.len == e->len && memcmp(w->scratch.data, e->bytes, e->len) == 0;
}

/* What the log had must be there, byte for byte; what it had not becomes a part of it. */
static bool take_entry(void *arg, const struct store_entry *e)
{
    struct swarm *w = ((struct reading *)arg)->w;
    if (e->seq < w->log_n) {
        bool same = same_bytes(w, w->log[e->seq], e);
        if (!same) violated(w, "I11 record %llu of the log is another one now", (unsigned long long)e->seq);
        return !w->result->violated;
    }
    if (e->seq != w->log_n) {
        violated(w, "I9 record %llu is missing in the log", (unsigned long long)w->log_n);
        return false;
    }
    swarm_keep(w, e->record);
    return true;
}

static void read_from(struct swarm *w, uint64_t seq)
{
    struct reading r = {.w = w};
    struct store_sink sink = {take_entry, &r};
    struct err e = {0};
    if (store_records(w->disk->store, seq, &sink, &e) != STATUS_OK) violated(w, "I11 the log cannot be read: %s", e.text);
}

/* ---- the life of the store ---- */

static void prove(struct swarm *w)
{
    struct store_report r;
    struct err e = {0};
    if (store_verify(w->disk->store, &r, &e) != STATUS_OK) violated(w, "I11 the log cannot be verified: %s", e.text);
    else if (!r.good) violated(w, "I11 the log does not verify: %s", r.why);
}

static bool bad_weather(const struct disk_weather *d) { return d->full || d->fails || d->sync_fails; }

bool real_open(struct swarm *w)
{
    struct store_options o = {.dir = w->disk->dir, .vfs = DISK_VFS, .seed = key_seed, .unthreaded = true};
    struct err e = {0};
    disk_process_lives();
    look_at_weather(w);
    enum status s = store_open(&w->disk->store, &o, &e);
    bool bad = bad_weather(disk_weather());
    after_store(w);
    if (s != STATUS_OK) {
        w->disk->store = NULL;
        swarm_tell(w, "the store does not open: %s", e.text);
        if (!bad) violated(w, "I9 the store does not open on a good disk: %s", e.text);
        return false;
    }
    struct store_health h;
    store_health(w->disk->store, &h);
    unsigned long long want = w->disk->acked, have = h.size;
    if (have < want) violated(w, "I9 %llu records were acknowledged, %llu are there", want, have);
    read_from(w, 0);
    if (!w->result->violated) prove(w);
    w->disk->acked = w->log_n;
    return !w->result->violated;
}

enum status real_append(struct swarm *w, const struct swarm_append *a, bool *ret_fatal)
{
    struct store_ack ack = {.status = STATUS_BUSY};
    struct err e = {0};
    look_at_weather(w);
    enum status s = store_append(w->disk->store, a->records, a->n, 1, &e);
    if (s == STATUS_OK) CHECK(store_poll(w->disk->store, &ack, 1) == 1);
    after_store(w);
    *ret_fatal = ack.fatal;
    if (ack.status == STATUS_OK) {
        read_from(w, w->log_n);
        w->disk->acked = w->log_n;
    } else {
        swarm_tell(w, "the store says: %s", ack.text);
    }
    return ack.status;
}

bool real_well(struct swarm *w)
{
    struct store_health h;
    struct store_ack none;
    look_at_weather(w);
    (void)store_poll(w->disk->store, &none, 1);       /* its upkeep tries to open the file again */
    after_store(w);
    store_health(w->disk->store, &h);
    return h.state == STORE_GOOD || (h.state == STORE_FULL && !disk_weather()->full);
}

/* Somewhere in the work that was on its way the process ends: between any two writes of a commit. */
void real_dies(struct swarm *w, const struct swarm_append *first)
{
    struct store_ack acks[STORE_APPEND_MAX];
    if (!w->disk->store) return;
    disk_weather()->writes_left = prng_below(&w->chance, DYING_WRITES);
    for (const struct swarm_append *a = first; a && disk_weather()->writes_left > 0; a = a->next) {
        if (store_append(w->disk->store, a->records, a->n, 1, NULL) != STATUS_OK) break;
        (void)store_poll(w->disk->store, acks, STORE_APPEND_MAX);
    }
    disk_process_dies();
    store_close(w->disk->store);
    w->disk->store = NULL;
    bool power = now(w, FAULTS_POWER_CUT);
    swarm_tell(w, power ? "the power fails" : "the process is gone, the machine is not");
    if (power) disk_power_cut(&w->chance);
    else disk_settle();
}

/* ---- invariant 11 ---- */

static bool copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    bool ok = in && out;
    for (size_t n; ok && (n = fread(bytes, 1, sizeof bytes, in)) > 0;) ok = fwrite(bytes, 1, n, out) == n;
    if (in) fclose(in);
    if (out) ok = fclose(out) == 0 && ok;
    return ok;
}

/* As somebody would who has the file, but not the key. */
static void write_forgery(struct swarm *w, struct buf *sql)
{
    unsigned long long n = w->log_n, at = prng_below(&w->chance, n), byte = 1 + prng_below(&w->chance, 40);
    unsigned long long other = (at + 1 + prng_below(&w->chance, n - 1)) % n;
    buf_puts(sql, "DROP TRIGGER records_stay; DROP TRIGGER records_remain; DROP TRIGGER hashes_stay; DROP TRIGGER hashes_remain;");
    switch (prng_below(&w->chance, 6)) {
    case 0:                          /* another character in the text of a record */
        buf_printf(sql, "UPDATE records SET bytes = CAST(substr(CAST(bytes AS TEXT), 1, %llu) || '~' ||"
                        " substr(CAST(bytes AS TEXT), %llu) AS BLOB) WHERE seq = %llu", byte, byte + 2, at);
        break;
    case 1: buf_printf(sql, "DELETE FROM records WHERE seq = %llu", at); break;
    case 2:                          /* two change places */
        buf_printf(sql, "UPDATE records SET seq = 1000000 WHERE seq = %llu; UPDATE records SET seq = %llu WHERE seq = %llu;"
                        "UPDATE records SET seq = %llu WHERE seq = 1000000", at, at, other, other);
        break;
    case 3:                          /* the end is cut off, with its signatures */
        buf_printf(sql, "DELETE FROM records WHERE seq >= %llu; DELETE FROM checkpoint WHERE size > %llu", at, at);
        break;
    case 4: buf_printf(sql, "DELETE FROM records WHERE seq >= %llu", at); break;
    default:                         /* one stands twice */
        buf_printf(sql, "UPDATE records SET bytes = (SELECT bytes FROM records WHERE seq = %llu) WHERE seq = %llu", other, at);
        break;
    }
}

void real_forge(struct swarm *w)
{
    char path[PATH_MAX_], forged[PATH_MAX_];
    struct audit_checkpoint c;
    struct store_report r = {.good = true};
    struct buf note = BUF_INIT, sql = BUF_INIT;
    struct err e = {0};
    sqlite3 *db = NULL;
    disk_process_lives();
    if (w->log_n < 3 || !w->disk->store || store_checkpoint(w->disk->store, &c, &note, &e) != STATUS_OK) return;
    struct audit_verifier key = *store_verifier(w->disk->store);
    store_close(w->disk->store);
    w->disk->store = NULL;
    (void)path_of(w, "forged.db", forged);
    CHECK(copy_file(path_of(w, "audit.db", path), forged));
    write_forgery(w, &sql);
    CHECK(sqlite3_open_v2(forged, &db, SQLITE_OPEN_READWRITE, "unix") == SQLITE_OK);
    CHECK(sqlite3_exec(db, buf_text(&sql), NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
    enum status s = store_verify_against(forged, &key, note.data, note.len, &r, &e);
    if (s == STATUS_OK && r.good) violated(w, "I11 a forged log passes for a good one: %s", strrchr(buf_text(&sql), ';') + 1);
    buf_free(&note);
    buf_free(&sql);
}
