/* Talks to a running daemon. Where it listens: --address, else TRIMTAB_ADDRESS, else DATA/listen, else 127.0.0.1:7373.
 * The token: --token-file, else TRIMTAB_TOKEN_FILE, else DATA/token. DATA: --data, else TRIMTAB_DATA, else
 * ./trimtab-data. */
#ifndef APP_CLIENT_H
#define APP_CLIENT_H

#include <jansson.h>

#include "app/command.h"
#include "base/buf.h"

struct client {
    const char *command;             /* for messages */
    char data[1024], address[256], token_file[1100];
    bool tls;
    char pin[80];                    /* of the daemon's key, as curl takes it; "": its certificate has to be trusted */
};

struct answer {
    bool reached;                    /* the daemon answered, whatever it said */
    int http;
    struct buf text;                 /* the body */
    json_t *data;                    /* borrowed from root; NULL unless the answer is a success envelope */
    json_t *root;
};

bool client_open(struct client *c, const struct args *a);
/* GOOD: `data` is there. Else nothing is in it but reached and http, and stderr has said what is wrong. */
int client_get(const struct client *c, const char *path, struct answer *ret);
/* body NULL: none. type: of the body. */
int client_post(const struct client *c, const char *path, const char *type, const char *body, size_t len,
                           struct answer *ret);
int client_delete(const struct client *c, const char *path, struct answer *ret);
/* Like client_get, for files: any body will do. */
int client_file(const struct client *c, const char *path, struct answer *ret);
/* Nothing on stderr when the daemon cannot be reached: the caller has another way. */
int client_try(const struct client *c, const char *path, struct answer *ret);
void answer_free(struct answer *a);
/* Appends a segment of an address, percent-encoded. */
void client_segment(struct buf *path, const char *segment);

#endif
