#include "config/load.h"

static const unsigned char bytes[] = {
#include <playbook_bytes.h>
};

const char *config_default_playbook(size_t *ret_len)
{
    *ret_len = sizeof bytes;
    return (const char *)bytes;
}
