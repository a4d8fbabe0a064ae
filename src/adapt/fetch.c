/* libcurl's multi interface on libevent: curl names its sockets and one timer, the loop calls back. */
#include "adapt/fetch.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "adapt/fetch_body.h"
#include "adapt/secret.h"
#include "base/check.h"
#include "base/text.h"

#define POOL 32                        /* idle easy handles kept */
#define CONNECTIONS_LEAST 256
#define CONNECTIONS_MOST 8192
#define TRY_AGAIN_US 10000             /* after a failure of curl itself */
#define TRIES 500

struct transfer {
    struct fetch *engine;
    struct transfer *next, **link;
    CURL *easy;
    struct curl_slist *headers;
    char *body, *want_header;
    struct fetch_body answer;
    bool (*may_send)(void *arg);
    void (*done)(void *arg, const struct fetch_result *r);
    void *arg;
    bool asked, refused;               /* may_send was asked; it said no */
    bool unset;                        /* an option could not be set: without all of them nothing may be sent */
    char refused_why[200];             /* before anything was begun */
    char curl_error[CURL_ERROR_SIZE];
};

struct fetch {
    struct event_base *base;
    CURLM *multi;
    struct event *timer, *later;       /* curl's timer; requests that failed before they began */
    struct transfer *running, *stillborn;
    CURL *pool[POOL];
    unsigned pool_n, running_n;
    unsigned failures;                 /* of curl itself, one after another */
};

/* ---- one transfer ---- */

static void transfer_free(struct transfer *t)
{
    struct fetch *f = t->engine;
    if (t->link) {
        *t->link = t->next;
        if (t->next) t->next->link = t->link;
        f->running_n--;
    }
    if (t->easy) {
        if (f->pool_n < POOL) {
            curl_easy_reset(t->easy);
            f->pool[f->pool_n++] = t->easy;
        } else {
            curl_easy_cleanup(t->easy);
        }
    }
    for (struct curl_slist *h = t->headers; h; h = h->next) explicit_bzero(h->data, strlen(h->data));
    curl_slist_free_all(t->headers);
    fetch_body_free(&t->answer);
    free(t->body);
    free(t->want_header);
    free(t);
}

static enum fetch_outcome outcome_of(const struct transfer *t, CURLcode rc)
{
    if (t->refused) return FETCH_NOT_SENT;
    if (t->answer.failed != FETCH_ANSWER) return t->answer.failed;
    switch (rc) {
    case CURLE_OK: return FETCH_ANSWER;
    case CURLE_OPERATION_TIMEDOUT: return FETCH_TIMEOUT;
    case CURLE_UNSUPPORTED_PROTOCOL:   /* also what curl says to an answer that is no HTTP */
    case CURLE_WEIRD_SERVER_REPLY: return t->asked ? FETCH_GARBAGE : FETCH_NOT_SENT;
    case CURLE_URL_MALFORMAT:
    case CURLE_FAILED_INIT:
    case CURLE_OUT_OF_MEMORY: return t->asked ? FETCH_DOWN : FETCH_NOT_SENT;
    case CURLE_FILESIZE_EXCEEDED: return FETCH_TOO_LARGE;
    default: return FETCH_DOWN;
    }
}

static const char *error_of(const struct transfer *t, enum fetch_outcome outcome, CURLcode rc)
{
    if (outcome == FETCH_ANSWER) return "";
    if (t->refused_why[0]) return t->refused_why;
    if (t->refused) return "stopped right before it was sent";
    if (t->answer.error[0]) return t->answer.error;
    return t->curl_error[0] ? t->curl_error : curl_easy_strerror(rc);
}

static void finish(struct transfer *t, CURLcode rc)
{
    if (rc == CURLE_OK) (void)fetch_body_end(&t->answer);
    struct fetch_result r = {.outcome = outcome_of(t, rc), .sent = t->asked && !t->refused};
    bool known = t->easy && curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &r.http) == CURLE_OK;
    if (!known && r.outcome == FETCH_ANSWER) r.outcome = FETCH_DOWN;   /* an answer of no status is none */
    r.error = error_of(t, r.outcome, rc);
    r.body = r.outcome == FETCH_ANSWER ? buf_text(&t->answer.bytes) : "";
    r.len = r.outcome == FETCH_ANSWER ? t->answer.bytes.len : 0;
    r.content_type = t->answer.content_type;
    r.wanted = t->answer.wanted;
    t->done(t->arg, &r);
    transfer_free(t);
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    return fetch_body_header(&t->answer, data, size * n) ? size * n : 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    return fetch_body_data(&t->answer, data, size * n) ? size * n : 0;
}

/* The last moment at which nothing has gone out yet. */
static int on_before_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct transfer *t = arg;
    (void)peer_ip;
    (void)own_ip;
    (void)peer_port;
    (void)own_port;
    if (t->may_send && !t->may_send(t->arg)) {
        t->refused = true;
        return CURL_PREREQFUNC_ABORT;
    }
    t->asked = true;
    return CURL_PREREQFUNC_OK;
}

/* ---- sockets and the timer ---- */

/* Curl knows it; where it does not say, the list does, which may be thousands long. */
static struct transfer *transfer_of(const struct fetch *f, CURL *easy)
{
    char *known = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, &known) == CURLE_OK && known) return (struct transfer *)(void *)known;
    struct transfer *t = f->running;
    while (t && t->easy != easy) t = t->next;
    CHECK(t != NULL);
    return t;
}

static void collect_done(struct fetch *f)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(f->multi, &left))) {
        if (m->msg != CURLMSG_DONE) continue;
        CURLcode rc = m->data.result;
        struct transfer *t = transfer_of(f, m->easy_handle);
        (void)curl_multi_remove_handle(f->multi, t->easy);
        finish(t, rc);
    }
}

/* What these do not do cannot be made good later: a socket that nobody watches, a timer that never comes. */
static void arm(struct event *e, const struct timeval *t)
{
    CHECK_MEMORY(event_add(e, t) == 0);
}

/* A socket tells again what curl has not taken up; its timer does not, and without it nothing ever times out. */
static void act(struct fetch *f, curl_socket_t fd, int bits)
{
    int running;
    if (curl_multi_socket_action(f->multi, fd, bits, &running) == CURLM_OK) {
        f->failures = 0;
    } else {
        struct timeval soon = {0, TRY_AGAIN_US};
        CHECK_MEMORY(f->failures++ < TRIES);
        arm(f->timer, &soon);
    }
    collect_done(f);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
    act(arg, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *arg)
{
    struct fetch *f = arg;
    (void)multi;
    if (ms < 0) return evtimer_del(f->timer);
    struct timeval tv = {ms / 1000, (ms % 1000) * 1000};
    arm(f->timer, &tv);
    return 0;
}

/* Curl holds what it was told last; a watch that it still holds must not be gone. */
static void assign(struct fetch *f, curl_socket_t fd, struct event *watch)
{
    CHECK_MEMORY(curl_multi_assign(f->multi, fd, watch) == CURLM_OK);
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct fetch *f = arg;
    struct event *watch = socket_arg;
    (void)easy;
    if (watch) {
        assign(f, fd, NULL);
        event_free(watch);
    }
    if (what == CURL_POLL_REMOVE) return 0;
    short bits = (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0) | EV_PERSIST);
    struct event *fresh = event_new(f->base, fd, bits, on_socket, f);
    CHECK_MEMORY(fresh);               /* an error said to curl would end each transfer from here on */
    arm(fresh, NULL);
    assign(f, fd, fresh);
    return 0;
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct fetch *f = arg;
    (void)fd;
    (void)what;
    while (f->stillborn) {
        struct transfer *t = f->stillborn;
        f->stillborn = t->next;
        finish(t, CURLE_FAILED_INIT);
    }
}

/* ---- the engine ---- */

/* Each target that hangs holds a connection until its time-out, and a request that finds none free waits behind it. So as many
 * as descriptors allow, the other half being for everything else. */
static long connections(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 2 < CONNECTIONS_LEAST) return CONNECTIONS_LEAST;
    return files.rlim_cur / 2 < CONNECTIONS_MOST ? (long)(files.rlim_cur / 2) : CONNECTIONS_MOST;
}

static bool set_up(struct fetch *f)
{
    CURLM *m = f->multi;
    return curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, set_socket) == CURLM_OK &&
           curl_multi_setopt(m, CURLMOPT_SOCKETDATA, f) == CURLM_OK &&
           curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, set_timer) == CURLM_OK &&
           curl_multi_setopt(m, CURLMOPT_TIMERDATA, f) == CURLM_OK &&
           curl_multi_setopt(m, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections()) == CURLM_OK &&
           curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, connections()) == CURLM_OK;
}

struct fetch *fetch_new(struct event_base *base)
{
    static bool ready;
    if (!ready && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    ready = true;
    struct fetch *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->base = base;
    f->multi = curl_multi_init();
    f->timer = evtimer_new(base, on_timer, f);
    f->later = evtimer_new(base, on_later, f);
    if (!f->multi || !f->timer || !f->later || !set_up(f)) {
        fetch_free(f);
        return NULL;
    }
    return f;
}

void fetch_free(struct fetch *f)
{
    if (!f) return;
    while (f->running) {
        struct transfer *t = f->running;
        (void)curl_multi_remove_handle(f->multi, t->easy);
        (void)text_copy(t->curl_error, sizeof t->curl_error, "the program ends");
        finish(t, CURLE_ABORTED_BY_CALLBACK);
    }
    if (f->later) on_later(-1, 0, f);
    for (unsigned i = 0; i < f->pool_n; i++) curl_easy_cleanup(f->pool[i]);
    if (f->multi) curl_multi_cleanup(f->multi);
    if (f->timer) event_free(f->timer);
    if (f->later) event_free(f->later);
    free(f);
}

unsigned fetch_running(const struct fetch *f) { return f->running_n; }

static bool add_header(struct transfer *t, const char *line)
{
    struct curl_slist *grown = curl_slist_append(t->headers, line);
    if (grown) t->headers = grown;
    return grown != NULL;
}

static bool add_bearer(struct transfer *t, const char *path)
{
    char secret[SECRET_MAX], line[SECRET_MAX + 32] = "Authorization: Bearer ";
    struct err e;
    if (secret_read(path, secret, &e) != STATUS_OK) {
        (void)text_copy(t->refused_why, sizeof t->refused_why, e.text);
        return false;
    }
    bool ok = text_copy(line + strlen(line), sizeof line - strlen(line), secret) && add_header(t, line);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(line, sizeof line);
    return ok;
}

/* curl keeps its own copy of user and password and wipes nothing; the handle is reset after each use. */
static bool add_basic(struct transfer *t, const char *path)
{
    char secret[SECRET_MAX];
    struct err e;
    if (secret_read(path, secret, &e) != STATUS_OK) {
        (void)text_copy(t->refused_why, sizeof t->refused_why, e.text);
        return false;
    }
    bool ok = strchr(secret, ':') && curl_easy_setopt(t->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
              curl_easy_setopt(t->easy, CURLOPT_USERPWD, secret) == CURLE_OK;
    if (!strchr(secret, ':')) {
        (void)text_copy(t->refused_why, sizeof t->refused_why, "the file does not hold user:password: ");
        (void)text_copy(t->refused_why + strlen(t->refused_why), sizeof t->refused_why - strlen(t->refused_why), path);
    }
    explicit_bzero(secret, sizeof secret);
    return ok;
}

static bool fill_tls(struct transfer *t, const struct fetch_request *r)
{
    CURL *c = t->easy;
    if (r->ca_file && (curl_easy_setopt(c, CURLOPT_CAINFO, r->ca_file) != CURLE_OK ||
                       curl_easy_setopt(c, CURLOPT_CAPATH, NULL) != CURLE_OK))
        return false;
    if (r->cert_file && curl_easy_setopt(c, CURLOPT_SSLCERT, r->cert_file) != CURLE_OK) return false;
    return !r->key_file || curl_easy_setopt(c, CURLOPT_SSLKEY, r->key_file) == CURLE_OK;
}

static bool fill_headers(struct transfer *t, const struct fetch_request *r)
{
    if (!add_header(t, "Expect:") || !add_header(t, "Accept-Encoding: gzip")) return false;
    for (unsigned i = 0; i < r->header_count; i++) {
        if (strpbrk(r->headers[i], "\r\n")) {
            (void)text_copy(t->refused_why, sizeof t->refused_why, "a header of the request holds a line break");
            return false;
        }
        if (!add_header(t, r->headers[i])) return false;
    }
    if (r->basic_file && !add_basic(t, r->basic_file)) return false;
    return !r->bearer_file || add_bearer(t, r->bearer_file);
}

/* Each option counts: without one the question before a send would not be asked, or a write could be sent twice. */
#define SET(t, option, value) ((t)->unset = (t)->unset || curl_easy_setopt((t)->easy, option, value) != CURLE_OK)

static void fill_callbacks(struct transfer *t)
{
    SET(t, CURLOPT_PRIVATE, t);
    SET(t, CURLOPT_ERRORBUFFER, t->curl_error);
    SET(t, CURLOPT_HEADERFUNCTION, on_header);
    SET(t, CURLOPT_HEADERDATA, t);
    SET(t, CURLOPT_WRITEFUNCTION, on_data);
    SET(t, CURLOPT_WRITEDATA, t);
    SET(t, CURLOPT_PREREQFUNCTION, on_before_send);
    SET(t, CURLOPT_PREREQDATA, t);
}

static bool fill_easy(struct transfer *t, const struct fetch_request *r)
{
    int64_t ms = r->timeout.us / US_PER_MS;
    if (!fill_headers(t, r) || !fill_tls(t, r)) return false;
    fill_callbacks(t);
    SET(t, CURLOPT_HTTPHEADER, t->headers);
    SET(t, CURLOPT_NOSIGNAL, 1L);
    SET(t, CURLOPT_FOLLOWLOCATION, 0L);
    SET(t, CURLOPT_PROXY, "");
    SET(t, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(t, CURLOPT_TIMEOUT_MS, (long)(ms > 0 ? ms : 1));
    SET(t, CURLOPT_CONNECTTIMEOUT_MS, (long)(ms > 0 ? ms : 1));
    SET(t, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(t, CURLOPT_URL, r->url);
    if (t->body) {
        SET(t, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
        SET(t, CURLOPT_POSTFIELDS, t->body);
    }
    if (strcmp(r->method, "HEAD") == 0) SET(t, CURLOPT_NOBODY, 1L);
    SET(t, CURLOPT_CUSTOMREQUEST, r->method);
    if (r->once) {
        SET(t, CURLOPT_FRESH_CONNECT, 1L);
        SET(t, CURLOPT_FORBID_REUSE, 1L);
    }
    return !t->unset;
}

static bool begin(struct fetch *f, struct transfer *t, const struct fetch_request *r)
{
    t->easy = f->pool_n > 0 ? f->pool[--f->pool_n] : curl_easy_init();
    if (r->want_header && !(t->want_header = strdup(r->want_header))) return false;
    if (r->body) {
        t->body = malloc(r->body_len + 1);
        if (!t->body) return false;
        memcpy(t->body, r->body, r->body_len);
    }
    fetch_body_begin(&t->answer, r->max_wire ? r->max_wire : FETCH_WIRE_MAX, r->max_body ? r->max_body : FETCH_BODY_MAX,
                     t->want_header);
    if (!t->easy || !fill_easy(t, r)) return false;
    return curl_multi_add_handle(f->multi, t->easy) == CURLM_OK;
}

void fetch_start(struct fetch *f, const struct fetch_request *r)
{
    struct transfer *t = calloc(1, sizeof *t);
    CHECK_MEMORY(t);
    *t = (struct transfer){.engine = f, .may_send = r->may_send, .done = r->done, .arg = r->arg};
    if (begin(f, t, r)) {
        t->next = f->running;
        t->link = &f->running;
        if (t->next) t->next->link = &t->next;
        f->running = t;
        f->running_n++;
        return;
    }
    if (!t->refused_why[0])
        (void)text_copy(t->refused_why, sizeof t->refused_why, "the request could not be made: a bad URL or method, or no memory");
    t->refused = true;
    t->next = f->stillborn;
    f->stillborn = t;
    struct timeval now = {0, 0};
    arm(f->later, &now);
}
