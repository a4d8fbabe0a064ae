/* Shared by pack.c and unpack.c only. */
#ifndef STORE_PACK_INSIDE_H
#define STORE_PACK_INSIDE_H

#define STORE_PACK_VERSION 2u
#define STORE_PACK_LINES 16u              /* different lines of times that are remembered while a block is made or read */
#define STORE_PACK_BYTES_MAX (UINT64_C(1) << 30)   /* of one stream, unpacked */

#endif
