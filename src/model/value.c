#include "model/value.h"

#include <string.h>

#include "base/num.h"

bool knob_value_set(struct knob_value *v, const char *bytes, unsigned len)
{
    if (len > KNOB_BYTES_MAX) return false;
    memcpy(v->bytes, bytes, len);
    v->len = (uint16_t)len;
    v->is_number = num_parse_all(bytes, len, &v->decimal);
    if (!v->is_number) v->decimal = 0;
    return true;
}

bool knob_value_set_version(struct knob_value *v, const char *version, unsigned len)
{
    if (len > KNOB_VERSION_MAX) return false;
    memcpy(v->version, version, len);
    v->version_len = (uint16_t)len;
    return true;
}

void knob_value_set_number(struct knob_value *v, double number)
{
    char text[NUM_TEXT_MAX];
    size_t len = num_print(text, number);
    (void)knob_value_set(v, text, (unsigned)len);
}

bool knob_value_same(const struct knob_value *a, const struct knob_value *b)
{
    if (a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0) return true;
    return a->is_number && b->is_number && a->decimal == b->decimal;
}

bool knob_version_same(const struct knob_value *a, const struct knob_value *b)
{
    return a->version_len == b->version_len && memcmp(a->version, b->version, a->version_len) == 0;
}
