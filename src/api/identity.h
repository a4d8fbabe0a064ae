/* Who sends a request, as far as it could be shown. */
#ifndef API_IDENTITY_H
#define API_IDENTITY_H

#include <stdint.h>

#include "loop/event.h"
#include "model/access.h"

enum identity_kind {
    IDENTITY_NONE,
    IDENTITY_ANONYMOUS,      /* nobody can log in yet, and the request comes from this machine: may read */
    IDENTITY_SESSION,        /* a person in a browser */
    IDENTITY_TOKEN,          /* a program with a token of its own */
    IDENTITY_LOCAL,          /* whoever can read DATA/token on this machine: the command line */
    IDENTITY_BASIC,          /* name and password of the basic-auth file */
    IDENTITY_PROXY           /* a proxy that is trusted says so */
};

struct identity {
    enum identity_kind kind;
    enum role role;
    char name[ACCESS_NAME_MAX + 1];
    char csrf[65];           /* what a change has to carry; "": nothing */
    uint8_t session[32];     /* key of the session */
    int64_t expires;         /* ACCESS_NEVER: does not */
    const char *why;         /* a word: why nobody was recognised although somebody tried; NULL */
};

const char *auth_role_name(enum role r);                          /* none viewer operator admin */
int auth_role_parse(const char *word, enum role *ret);            /* 0: no such word, or none */
const char *auth_kind_name(enum identity_kind k);

#endif
