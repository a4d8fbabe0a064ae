/* Certificate and key for the listener. They are read at start, when told to, and when a file has changed; a pair that
 * cannot be used leaves the old one in force. */
#ifndef API_HTTP_TLS_H
#define API_HTTP_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct bufferevent;
struct event_base;
struct http_tls;

struct http_tls_facts { bool on; char subject[200]; int64_t not_before, not_after; uint64_t loads;
                        char pin[64]; };   /* times: us since 1970; pin: "sha256//" of the public key, as curl takes it */

/* TLS 1.2 and later. INVALID: a file is no PEM, or they do not belong together; NOT_FOUND, DENIED. */
enum status http_tls_new(struct http_tls **ret, const char *cert_file, const char *key_file, struct err *e);
void http_tls_free(struct http_tls *t);   /* takes NULL */
enum status http_tls_reload(struct http_tls *t, struct err *e);
/* Reads again what has changed on disk. *ret_read: it tried. */
enum status http_tls_look(struct http_tls *t, bool *ret_read, struct err *e);
void http_tls_facts(const struct http_tls *t, struct http_tls_facts *ret);   /* t NULL: off */
/* The accepting end of a connection; NULL: out of memory (fd stays open). */
struct bufferevent *http_tls_accept(struct http_tls *t, struct event_base *base, int fd);

#endif
