#include "sim/plant_fault.h"

#include <math.h>

#include "base/text.h"

struct kind_row { const char *word; double neutral, least, most; const char *meaning; };

static const struct kind_row kinds[FAULT_KINDS] = {
#define X(name, word, neutral, least, most, meaning) {word, neutral, least, most, meaning},
#include "sim/plant_fault.def"
#undef X
};

const char *fault_word(enum fault_kind kind) { return kind < FAULT_KINDS ? kinds[kind].word : "?"; }
const char *fault_meaning(enum fault_kind kind) { return kind < FAULT_KINDS ? kinds[kind].meaning : "?"; }
double fault_neutral(enum fault_kind kind) { return kinds[kind].neutral; }

bool fault_kind_of(const char *word, enum fault_kind *ret)
{
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        if (!text_eq(word, kinds[i].word)) continue;
        *ret = (enum fault_kind)i;
        return true;
    }
    return false;
}

static enum status size_refused(const struct kind_row *k, struct err *e)
{
    return err_set(e, STATUS_INVALID, "fault %s: size is outside the allowed range; it is the %s", k->word, k->meaning);
}

enum status fault_check(const struct plant_fault *f, struct err *e)
{
    if (f->kind >= FAULT_KINDS) return err_set(e, STATUS_INVALID, "fault of unknown kind %u", f->kind);
    const struct kind_row *k = &kinds[f->kind];
    if (!(f->size >= k->least && f->size <= k->most)) return size_refused(k, e);
    if (f->at_us < 0 || f->ramp_us < 0)
        return err_set(e, STATUS_INVALID, "fault %s: at and ramp must not be negative", k->word);
    if (f->until_us != 0 && f->until_us <= f->at_us)
        return err_set(e, STATUS_INVALID, "fault %s: until must be later than at, or 0 for never", k->word);
    if (f->version[PLANT_VERSION_MAX - 1] != '\0')
        return err_set(e, STATUS_INVALID, "fault %s: version is longer than %d bytes", k->word, PLANT_VERSION_MAX - 1);
    if (f->kind == FAULT_RELEASE && f->version[0] == '\0')
        return err_set(e, STATUS_INVALID, "fault release: give the new version");
    return STATUS_OK;
}

double fault_value(const struct plant_fault *f, int64_t now_us)
{
    double neutral = kinds[f->kind].neutral;
    if (now_us < f->at_us || (f->until_us != 0 && now_us >= f->until_us)) return neutral;
    int64_t age = now_us - f->at_us;
    if (age >= f->ramp_us) return f->size;
    return neutral + (f->size - neutral) * ((double)age / (double)f->ramp_us);
}
