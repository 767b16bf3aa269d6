// Replies of the tests: a result with a column of each type, changes of an observed query, and a
// transaction. The messages are static, so that a test can change a part and send it.
#ifndef LARDER_REPLIES_H
#define LARDER_REPLIES_H

#include "canned.h"

enum { ROWS = 3, COLUMNS = 15 };

typedef struct {
    Batch batch;
    Larder__V1__Identity identity;
    int64_t keys[ROWS], versions[ROWS];
    uint32_t entities[ROWS];
    char *subentities[2];
    Column columns[COLUMNS], *listed[COLUMNS];
    int64_t integers[COLUMNS][ROWS];
    double doubles[COLUMNS][ROWS];
    uint32_t ends[COLUMNS][ROWS];
    uint8_t nulls[1];
} Sample;

// Fills a batch of three objects, of which the last one is nil in each column. The columns are
// those of the types 1 to 15 in their order, with the type's number as name.
void make_sample(Sample *sample);
// Adds a reply with batches to a script.
void send_batches(Script *script, uint64_t id, Batch **batches, size_t count, bool more);
void send_sample(Script *script, uint64_t id, Sample *sample, bool more);
void send_error(Script *script, uint64_t id, uint32_t code, const char *message);
// Adds a reply to an observed query: rows of a string each, with the key 1 and higher.
typedef struct {
    bool begins, ends;
    const char *names;
    size_t count;
    uint32_t new_indexes[8], old_indexes[8], deleted[8];
    protobuf_c_boolean moved[8];
    size_t deleted_count;
    int64_t position;
} Change;
void send_change(Script *script, uint64_t id, const Change *change);
// Adds a reply of the history with one transaction of a run and a tombstone.
void send_transaction(Script *script, uint64_t id, int64_t number, bool partial, bool more);
// Adds the reply to a save of one insert.
void send_saved(Script *script, uint64_t id, int64_t key);
// Adds the last reply of an insert stream.
void send_inserted(Script *script, uint64_t id, int64_t rows, int64_t batches);
// Inserts two rows by an insert stream.
bool insert_rows(larder_client *client, larder_error *error);
// Reads every column of the current row with every reader.
void read_everything(larder_rows *rows);

#endif
