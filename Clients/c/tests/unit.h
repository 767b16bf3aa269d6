// The unit tests, which need no larderd.
#ifndef LARDER_UNIT_H
#define LARDER_UNIT_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "replies.h"

void test_codec(void);
void test_rows(void);
void test_live(void);
void test_lost(void);
void test_hostile(void);
// The seed and the number of random replies.
void test_random(uint64_t seed, int count);
void test_memory(void);

#endif
