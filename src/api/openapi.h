/* OpenAPI 3.1, made from the table of addresses and schemas.json. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "base/buf.h"

void openapi_json(struct buf *out);
void openapi_yaml(struct buf *out);

#endif
