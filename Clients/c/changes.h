// The state of a change set: its message, whose parts are in the arena, and the reply to its save.
#ifndef LARDER_CHANGES_H
#define LARDER_CHANGES_H

#include "internal.h"

struct larder_changes {
    Arena arena;
    Larder__V1__ChangeSet set;
    // The change of one object that properties are added to.
    Larder__V1__Change *last;
    int64_t insert_count;
    larder_error error;
    // The reply to the last save that succeeded.
    Envelope *reply;
};

#endif
