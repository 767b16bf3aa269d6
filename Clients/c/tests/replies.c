#include "replies.h"

#include <stdio.h>
#include <string.h>

static const uint8_t heap[] = "a\0bCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno";

static void set_heap(Sample *sample, int index, uint32_t first, uint32_t second) {
    Column *column = &sample->columns[index];
    column->heap = (ProtobufCBinaryData){second, (uint8_t *)heap};
    sample->ends[index][0] = first;
    sample->ends[index][1] = sample->ends[index][2] = second;
    column->ends = sample->ends[index];
    column->n_ends = ROWS;
}

static void set_numbers(Sample *sample, int index) {
    Column *column = &sample->columns[index];
    if (index == 4 || index == 5 || index == 8) {
        column->doubles = sample->doubles[index];
        column->n_doubles = ROWS;
        column->doubles[0] = 1.5;
        column->doubles[1] = -0.25;
    } else {
        column->integers = sample->integers[index];
        column->n_integers = ROWS;
        column->integers[0] = 1;
        column->integers[1] = index == 0 ? 0 : 2;
    }
}

static void make_column(Sample *sample, int index) {
    static char names[COLUMNS][3];
    Column *column = &sample->columns[index];
    larder__v1__column__init(column);
    snprintf(names[index], sizeof names[index], "%d", index + 1);
    column->name = names[index];
    column->type = (Larder__V1__ColumnType)(index + 1);
    column->nulls = (ProtobufCBinaryData){1, sample->nulls};
    switch (index + 1) {
    case LARDER_TYPE_UUID: set_heap(sample, index, 16, 32); break;
    case LARDER_TYPE_DECIMAL:
    case LARDER_TYPE_STRING:
    case LARDER_TYPE_URL:
    case LARDER_TYPE_DATA:
    case LARDER_TYPE_JSON: set_heap(sample, index, 3, 4); break;
    default: set_numbers(sample, index);
    }
    if (index + 1 < LARDER_TYPE_OBJECT) return;
    column->entity = "Member";
    column->subentities = sample->subentities;
    column->n_subentities = 2;
    column->entity_indexes = sample->entities;
    column->n_entity_indexes = ROWS;
    if (index + 1 == LARDER_TYPE_OBJECT) return;
    // The first row has two objects, the second one has one.
    column->integers[2] = 3;
    sample->ends[index][0] = 2;
    sample->ends[index][1] = sample->ends[index][2] = 3;
    column->ends = sample->ends[index];
    column->n_ends = ROWS;
}

void make_sample(Sample *sample) {
    memset(sample, 0, sizeof *sample);
    larder__v1__batch__init(&sample->batch);
    larder__v1__identity__init(&sample->identity);
    sample->nulls[0] = 4;
    sample->subentities[0] = "Student";
    sample->subentities[1] = "Tutor";
    for (int row = 0; row < ROWS; row++) {
        sample->keys[row] = row + 1;
        sample->versions[row] = 10 * row + 1;
        sample->entities[row] = (uint32_t)row;
    }
    for (int index = 0; index < COLUMNS; index++) {
        make_column(sample, index);
        sample->listed[index] = &sample->columns[index];
    }
    sample->identity.entity = "Member";
    sample->identity.keys = sample->keys;
    sample->identity.versions = sample->versions;
    sample->identity.subentities = sample->subentities;
    sample->identity.entity_indexes = sample->entities;
    sample->identity.n_keys = sample->identity.n_versions = ROWS;
    sample->identity.n_entity_indexes = ROWS;
    sample->identity.n_subentities = 2;
    sample->batch.row_count = ROWS;
    sample->batch.identity = &sample->identity;
    sample->batch.columns = sample->listed;
    sample->batch.n_columns = COLUMNS;
}

void send_batches(Script *script, uint64_t id, Batch **batches, size_t count, bool more) {
    Larder__V1__BatchesReply body = LARDER__V1__BATCHES_REPLY__INIT;
    body.batches = batches;
    body.n_batches = count;
    body.more = more;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = id;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_BATCHES;
    envelope.batches = &body;
    canned_envelope(script, &envelope);
}

void send_sample(Script *script, uint64_t id, Sample *sample, bool more) {
    Batch *batch = &sample->batch;
    send_batches(script, id, &batch, 1, more);
}

void send_error(Script *script, uint64_t id, uint32_t code, const char *message) {
    Larder__V1__ErrorReply body = LARDER__V1__ERROR_REPLY__INIT;
    body.code = code;
    body.message = (char *)message;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = id;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_FAILED;
    envelope.failed = &body;
    canned_envelope(script, &envelope);
}

static Larder__V1__HistoryToken token_of(int64_t number) {
    Larder__V1__HistoryToken token = LARDER__V1__HISTORY_TOKEN__INIT;
    token.store = (ProtobufCBinaryData){16, (uint8_t *)canned_store};
    token.epoch = 7;
    token.number = number;
    return token;
}

void send_change(Script *script, uint64_t id, const Change *change) {
    static const int64_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t keys[8];
    uint32_t ends[8];
    for (size_t row = 0; row < change->count; row++) {
        keys[row] = change->names[row];
        ends[row] = (uint32_t)row + 1;
    }
    Larder__V1__Identity identity = LARDER__V1__IDENTITY__INIT;
    identity.entity = "Letter";
    identity.keys = keys;
    identity.versions = (int64_t *)ones;
    identity.n_keys = identity.n_versions = change->count;
    Column column = LARDER__V1__COLUMN__INIT, *columns[] = {&column};
    column.name = "name";
    column.type = LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_STRING;
    column.heap = (ProtobufCBinaryData){change->count, (uint8_t *)change->names};
    column.ends = ends;
    column.n_ends = change->count;
    Batch batch = LARDER__V1__BATCH__INIT, *batches[] = {&batch};
    batch.row_count = (uint32_t)change->count;
    batch.identity = &identity;
    batch.columns = columns;
    batch.n_columns = 1;
    Larder__V1__ObserveReply body = LARDER__V1__OBSERVE_REPLY__INIT;
    body.begins = change->begins;
    body.ends = change->ends;
    body.rows = batches;
    body.n_rows = change->count > 0;
    if (!change->begins && !change->ends) {
        body.new_indexes = (uint32_t *)change->new_indexes;
        body.old_indexes = (uint32_t *)change->old_indexes;
        body.moved = (protobuf_c_boolean *)change->moved;
        body.n_new_indexes = body.n_old_indexes = body.n_moved = change->count;
        body.deleted = (uint32_t *)change->deleted;
        body.n_deleted = change->deleted_count;
    }
    Larder__V1__HistoryToken position = token_of(change->position);
    body.position = &position;
    body.more = true;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = id;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_OBSERVED;
    envelope.observed = &body;
    canned_envelope(script, &envelope);
}

void send_transaction(Script *script, uint64_t id, int64_t number, bool partial, bool more) {
    char *properties[] = {"name", "year"};
    Larder__V1__HistoryRun run = LARDER__V1__HISTORY_RUN__INIT, *runs[] = {&run};
    run.kind = LARDER__V1__HISTORY_CHANGE_KIND__HISTORY_CHANGE_KIND_UPDATED;
    run.entity = "Student";
    run.first_key = 3;
    run.last_key = 5;
    run.properties = properties;
    run.n_properties = 2;
    Value name = LARDER__V1__VALUE__INIT;
    name.kind_case = LARDER__V1__VALUE__KIND_STRING_VALUE;
    name.string_value = (ProtobufCBinaryData){3, (uint8_t *)heap};
    Larder__V1__PreservedValue value = LARDER__V1__PRESERVED_VALUE__INIT, *values[] = {&value};
    value.name = "name";
    value.value = &name;
    Larder__V1__HistoryTombstone tombstone = LARDER__V1__HISTORY_TOMBSTONE__INIT;
    Larder__V1__HistoryTombstone *tombstones[] = {&tombstone};
    tombstone.entity = "Student";
    tombstone.key = 9;
    tombstone.values = values;
    tombstone.n_values = 1;
    Larder__V1__HistoryTransaction transaction = LARDER__V1__HISTORY_TRANSACTION__INIT;
    Larder__V1__HistoryTransaction *transactions[] = {&transaction};
    transaction.number = number;
    transaction.author = "author";
    transaction.runs = runs;
    transaction.n_runs = 1;
    transaction.tombstones = tombstones;
    transaction.n_tombstones = 1;
    Larder__V1__HistoryToken position = token_of(partial ? number - 1 : number);
    Larder__V1__HistoryReply body = LARDER__V1__HISTORY_REPLY__INIT;
    body.transactions = transactions;
    body.n_transactions = 1;
    body.position = &position;
    body.partial = partial;
    body.more = more;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = id;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_TRANSACTIONS;
    envelope.transactions = &body;
    canned_envelope(script, &envelope);
}

void send_saved(Script *script, uint64_t id, int64_t key) {
    Larder__V1__Identifier identifier = LARDER__V1__IDENTIFIER__INIT;
    Larder__V1__Identifier *identifiers[] = {&identifier};
    identifier.store = (ProtobufCBinaryData){16, (uint8_t *)canned_store};
    identifier.entity = "Student";
    identifier.name_case = LARDER__V1__IDENTIFIER__NAME_KEY;
    identifier.key = key;
    Larder__V1__SaveReply body = LARDER__V1__SAVE_REPLY__INIT;
    body.inserted = identifiers;
    body.n_inserted = 1;
    body.transaction = 12;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = id;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_SAVED;
    envelope.saved = &body;
    canned_envelope(script, &envelope);
}

void send_inserted(Script *script, uint64_t id, int64_t rows, int64_t batches) {
    Larder__V1__InsertReply body = LARDER__V1__INSERT_REPLY__INIT;
    body.row_count = rows;
    body.batch_count = batches;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = id;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_INSERTED;
    envelope.inserted = &body;
    canned_envelope(script, &envelope);
}

bool insert_rows(larder_client *client, larder_error *error) {
    larder_insert_column columns[] = {
        {"name", LARDER_TYPE_STRING, NULL}, {"course", LARDER_TYPE_OBJECT, "Course"}};
    larder_insertion *insertion =
        larder_insert_many(client, "Student", columns, 2, NULL, error);
    larder_identifier course = {.key = 1, .entity = "Subcourse"};
    memcpy(course.store, canned_store, 16);
    larder_value values[] = {larder_text("Ann"), larder_object(&course)};
    bool is_done = insertion && larder_insertion_add(insertion, values, error);
    values[1] = larder_nil();
    is_done = is_done && larder_insertion_add(insertion, values, error) &&
              larder_insertion_finish(insertion, NULL, error);
    larder_insertion_free(insertion);
    return is_done;
}

void read_everything(larder_rows *rows) {
    larder_identifier identifiers[2];
    size_t length;
    // Column -1 does not exist.
    for (int column = -1; column <= larder_column_count(rows); column++) {
        larder_column_name(rows, column);
        larder_column_type(rows, column);
        larder_row_is_nil(rows, column);
        larder_row_bool(rows, column);
        larder_row_int64(rows, column);
        larder_row_double(rows, column);
        const char *text = larder_row_text(rows, column, &length);
        if (text) length = strlen(text);
        larder_row_decimal(rows, column);
        const uint8_t *bytes = larder_row_bytes(rows, column, &length);
        // Reads the bytes, so that those outside of the memory are found.
        static volatile uint8_t sum;
        for (size_t index = 0; index < length; index++) sum = (uint8_t)(sum + bytes[index]);
        larder_row_date(rows, column);
        larder_row_timespec(rows, column);
        const uint8_t *uuid = larder_row_uuid(rows, column);
        if (uuid) larder_uuid(uuid);
        larder_row_identifier(rows, column, &identifiers[0]);
        larder_row_identifiers(rows, column, identifiers, 2);
    }
    larder_row_object(rows, &identifiers[0]);
    larder_row_version(rows);
}
