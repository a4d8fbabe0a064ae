/* The console's files, built into the program: web/dist as it was when the program was built, perhaps nothing. */
#ifndef API_SITE_H
#define API_SITE_H

#include <stdbool.h>

#include "api/http_server.h"

/* Answers GET and HEAD of a file, and of an address of the console (the list is in site.c) with index.html. false: not
 * ours. */
bool site_serve(void *ctx, struct http_request *r);
/* How many files there are. */
unsigned site_files(void);

#endif
