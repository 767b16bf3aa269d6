// The workloads' operations as requests of Larder's protocol (Proto/larder.proto).
#include "ycsb.h"

static const char entity[] = "User";
static _Thread_local unsigned char store[16];
static _Thread_local unsigned char scratch[REQUEST_BYTES_MAX];

// Requests of a connection follow each other, so that all may have the same id.
enum { REQUEST_ID = 2, HELLO = 10, GET, QUERY, SAVE = 14, INSERT_ROWS = 21, ROWS };
enum { INSERT_CHANGE = 1, UPDATE_CHANGE = 2, STRING_TYPE = 8 };

static void receive(connection *c) {
    ssize_t got = recv(c->descriptor, c->reply + c->filled, REPLY_BYTES_MAX - c->filled, 0);
    if (got <= 0) fail("larderd", "has closed the connection");
    c->filled += got;
}

static field receive_body(connection *c) {
    size_t length;
    while (!(length = whole_frame(c->reply, c->filled))) receive(c);
    return frame_body(c->reply, length);
}

static void drop_frame(connection *c) {
    size_t length = whole_frame(c->reply, c->filled);
    memmove(c->reply, c->reply + length, c->filled -= length);
}

static void open_larder(connection *c) {
    unsigned char frame[64], hello[16] = {1 << 3, 1};
    c->descriptor = connect_unix(socket_path);
    int length = 2 + put_field(hello + 2, 2, "ycsb", 4);
    send_all(c->descriptor, frame, put_frame(frame, 1, HELLO, hello, length));
    field welcome = receive_body(c);
    for (field part; take_field(&welcome.bytes, c->reply + c->filled, &part);)
        if (part.number == 3 && part.value == 16) {
            memcpy(store, part.bytes, 16);
            break;
        }
    drop_frame(c);
}

// MARK: Requests

static int put_identifier(unsigned char *out, int number, int64_t key) {
    unsigned char identifier[64];
    int used = put_field(identifier, 1, store, 16);
    used += put_field(identifier + used, 2, entity, strlen(entity));
    used += put_number(identifier + used, 3, key);
    return put_field(out, number, identifier, used);
}

static int put_property(unsigned char *out, const operation *op, int number, int index) {
    unsigned char text[FIELD_BYTES], value[FIELD_BYTES + 4], property[FIELD_BYTES + 32];
    char name[16];
    put_text(text, op->number, index, op->variant);
    int value_length = put_field(value, 7, text, FIELD_BYTES);
    int used = put_field(property, 1, name, snprintf(name, sizeof name, "field%d", index));
    used += put_field(property + used, 2, value, value_length);
    return put_field(out, number, property, used);
}

static size_t encode_save(const operation *op, unsigned char *out) {
    unsigned char *change = scratch, *set = scratch + REQUEST_BYTES_MAX / 2;
    int used = put_number(change, 1, op->kind == INSERT ? INSERT_CHANGE : UPDATE_CHANGE);
    if (op->kind == INSERT) {
        unsigned char identifier[32];
        int length = put_field(identifier, 2, entity, strlen(entity));
        length += put_field(identifier + length, 4, "t", 1);
        used += put_field(change + used, 2, identifier, length);
        for (int i = 0; i < FIELDS; i++) used += put_property(change + used, op, 4, i);
    } else {
        used += put_identifier(change + used, 2, key_of(op->number));
        used += put_property(change + used, op, 4, op->field);
    }
    return put_frame(out, REQUEST_ID, SAVE, set, put_field(set, 1, change, used));
}

// The objects from a key on, in the order of their keys.
static size_t encode_scan(const operation *op, unsigned char *out) {
    unsigned char fetch[32], shape[64], value[64];
    int length = put_field(fetch, 1, entity, strlen(entity));
    length += put_number(fetch + length, 4, 1);
    length = put_field(shape, 1, fetch, length);
    int used = put_field(scratch, 1, shape, length);
    used += put_number(scratch + used, 4, op->rows);
    int64_t key = key_of(op->number);
    if (key > 1)
        used += put_field(scratch + used, 8, value, put_identifier(value, 13, key - 1));
    return put_frame(out, REQUEST_ID, QUERY, scratch, used);
}

static size_t encode_larder(connection *c, const operation *op, int step, unsigned char *out) {
    if (step > 0) return 0;
    c->pending = 1;
    switch (op->kind) {
    case READ:
        return put_frame(
            out, REQUEST_ID, GET, scratch, put_identifier(scratch, 1, key_of(op->number)));
    case SCAN: return encode_scan(op, out);
    default: return encode_save(op, out);
    }
}

// MARK: Replies

static void count_batch(connection *c, const unsigned char *bytes, size_t length) {
    const unsigned char *end = bytes + length;
    for (field part; take_field(&bytes, end, &part);) {
        if (part.number == 1) c->rows += part.value;
        if (part.number != 3) continue;
        const unsigned char *column = part.bytes, *column_end = part.bytes + part.value;
        for (field member; take_field(&column, column_end, &member);)
            if (member.number == 6) count_bytes(c, member.bytes, member.value);
    }
}

static size_t decode_larder(connection *c, const unsigned char *bytes, size_t filled) {
    size_t length = whole_frame(bytes, filled);
    if (!length) return 0;
    field body = frame_body(bytes, length), part;
    int has_more = 0;
    while (take_field(&body.bytes, bytes + length, &part)) {
        if (body.number == 31 && part.number == 1) count_batch(c, part.bytes, part.value);
        if (body.number == 31 && part.number == 2) has_more = part.value;
        if (body.number == 32 && part.number == 1) {
            const unsigned char *identifier = part.bytes;
            for (field member; take_field(&identifier, part.bytes + part.value, &member);)
                if (member.number == 3) c->inserted_key = member.value;
        }
    }
    if (!has_more) c->pending--;
    return length;
}

// MARK: Loading

// Waits until the server has stored this number of `rows`.
static void await_rows(connection *c, int64_t wanted) {
    for (int64_t done = 0; done < wanted;) {
        field reply = receive_body(c), part;
        const unsigned char *end = c->reply + whole_frame(c->reply, c->filled);
        while (take_field(&reply.bytes, end, &part))
            if (part.number == 2) done = part.value;
        drop_frame(c);
    }
}

// A stream of rows, as columns; the server stores the rows of each message in one transaction.
static void load_larder(int64_t count) {
    connection c = {.reply = malloc(REPLY_BYTES_MAX)};
    size_t rows_bytes = CHUNK_RECORDS * FIELDS * (FIELD_BYTES + 8) + 4096;
    unsigned char *batch = malloc(rows_bytes), *rows = malloc(rows_bytes);
    unsigned char *frame = malloc(rows_bytes), *column = malloc(rows_bytes);
    unsigned char *heap = malloc(CHUNK_RECORDS * FIELD_BYTES);
    uint32_t ends[CHUNK_RECORDS];
    int64_t sent = 0;
    open_larder(&c);
    int length = put_field(batch, 1, entity, strlen(entity));
    send_all(c.descriptor, frame, put_frame(frame, 2, INSERT_ROWS, batch, length));
    for (int64_t first = 1; first <= count; first += CHUNK_RECORDS) {
        int records = count - first < CHUNK_RECORDS ? count - first + 1 : CHUNK_RECORDS;
        size_t used = put_number(batch, 1, records);
        for (int i = 0; i < FIELDS; i++) {
            char name[16];
            for (int row = 0; row < records; row++) {
                put_text(heap + row * FIELD_BYTES, first + row, i, 0);
                ends[row] = (row + 1) * FIELD_BYTES;
            }
            size_t length = put_field(column, 1, name, snprintf(name, sizeof name, "field%d", i));
            length += put_number(column + length, 2, STRING_TYPE);
            length += put_field(column + length, 6, heap, records * FIELD_BYTES);
            length += put_field(column + length, 7, ends, records * sizeof *ends);
            used += put_field(batch + used, 3, column, length);
        }
        size_t size = put_number(rows, 1, 2);
        size += put_field(rows + size, 2, batch, used);
        if (first + records > count) size += put_number(rows + size, 3, 1);
        send_all(c.descriptor, frame, put_frame(frame, 3 + sent++, ROWS, rows, size));
        if (sent > 2) await_rows(&c, sent - 2);
    }
    await_rows(&c, sent);
    close(c.descriptor);
    free(c.reply), free(batch), free(rows), free(frame), free(column), free(heap);
}

const protocol larder_protocol = {
    "larder", open_larder, load_larder, encode_larder, decode_larder,
};
