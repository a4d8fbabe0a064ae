/* The sentence of a verdict, for people. Private to verify. */
#ifndef VERIFY_WORDS_H
#define VERIFY_WORDS_H

#include "verify/verify.h"

/* Fills ret->sentence from the other fields. */
void verify_words(const struct verify_input *in, struct verify_result *ret);

#endif
