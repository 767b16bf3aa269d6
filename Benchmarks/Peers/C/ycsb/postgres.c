// The workloads' operations as messages of PostgreSQL's protocol, version 3: prepared statements
// with binary parameters and results, one Bind, Execute and Sync for each. It is what libpq sends,
// without libpq's copies of the results.
#include "ycsb.h"
#include <endian.h>

typedef struct { unsigned char *start, *next; } message;

#define ALL_FIELDS \
    "field0, field1, field2, field3, field4, field5, field6, field7, field8, field9"

static void put_int(message *m, uint32_t value) {
    value = htonl(value);
    memcpy(m->next, &value, 4);
    m->next += 4;
}

static void put_short(message *m, uint16_t value) {
    value = htons(value);
    memcpy(m->next, &value, 2);
    m->next += 2;
}

static void put_bytes(message *m, const void *bytes, size_t length) {
    memcpy(m->next, bytes, length);
    m->next += length;
}

static void put_string(message *m, const char *text) { put_bytes(m, text, strlen(text) + 1); }

// Returns where the message begins, for end_message.
static unsigned char *begin_message(message *m, char type) {
    unsigned char *start = m->next;
    *m->next = type;
    m->next += 5;
    return start;
}

static void end_message(message *m, unsigned char *start) {
    uint32_t length = htonl(m->next - start - 1);
    memcpy(start + 1, &length, 4);
}

static void put_sync(message *m) { end_message(m, begin_message(m, 'S')); }

// The length of the first message; 0 if it is incomplete.
static size_t whole_message(const unsigned char *bytes, size_t filled) {
    uint32_t size;
    if (filled < 5) return 0;
    memcpy(&size, bytes + 1, 4);
    size_t length = 1 + (size_t)ntohl(size);
    return filled >= length ? length : 0;
}

static void check_message(const unsigned char *bytes, size_t length) {
    if (bytes[0] != 'E') return;
    // Fields of a letter and a text; M is the sentence.
    for (size_t i = 5; i < length && bytes[i]; i += 2 + strlen((const char *)bytes + i + 1))
        if (bytes[i] == 'M') fail("postgres", (const char *)bytes + i + 1);
    fail("postgres", "an error");
}

// Reads messages up to one of this type.
static void await_message(connection *c, char type) {
    for (char found = 0; found != type;) {
        size_t length;
        while (!(length = whole_message(c->reply, c->filled))) {
            ssize_t got =
                recv(c->descriptor, c->reply + c->filled, REPLY_BYTES_MAX - c->filled, 0);
            if (got <= 0) fail("postgres", "has closed the connection");
            c->filled += got;
        }
        check_message(c->reply, length);
        found = c->reply[0];
        memmove(c->reply, c->reply + length, c->filled -= length);
    }
}

static void send_message(connection *c, const message *m) {
    send_all(c->descriptor, m->start, m->next - m->start);
}

static void run_sql(connection *c, const char *sql) {
    unsigned char bytes[1024];
    message m = {bytes, bytes};
    unsigned char *start = begin_message(&m, 'Q');
    put_string(&m, sql);
    end_message(&m, start);
    send_message(c, &m);
    await_message(c, 'Z');
}

static void connect_postgres(connection *c) {
    unsigned char bytes[256];
    static const char parameters[] = "user\0bench\0database\0postgres\0";
    message m = {bytes, bytes + 4};
    put_int(&m, 196608);
    put_bytes(&m, parameters, sizeof parameters);
    uint32_t length = htonl(m.next - bytes);
    memcpy(bytes, &length, 4);
    c->descriptor = connect_unix(socket_path);
    send_message(c, &m);
    await_message(c, 'Z');
}

static void prepare(connection *c, const char *name, const char *sql) {
    unsigned char bytes[1024];
    message m = {bytes, bytes};
    unsigned char *start = begin_message(&m, 'P');
    put_string(&m, name);
    put_string(&m, sql);
    put_short(&m, 0);
    end_message(&m, start);
    put_sync(&m);
    send_message(c, &m);
    await_message(c, 'Z');
}

static void open_postgres(connection *c) {
    connect_postgres(c);
    prepare(c, "read", "SELECT " ALL_FIELDS " FROM usertable WHERE id = $1::bigint");
    prepare(c, "scan",
        "SELECT id, " ALL_FIELDS " FROM usertable WHERE id >= $1::bigint ORDER BY id "
        "LIMIT $2::bigint");
    prepare(c, "insert",
        "INSERT INTO usertable VALUES ($1::bigint, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    for (int i = 0; i < FIELDS; i++) {
        char name[16], sql[128];
        snprintf(name, sizeof name, "update%d", i);
        snprintf(sql, sizeof sql, "UPDATE usertable SET field%d = $2 WHERE id = $1::bigint", i);
        prepare(c, name, sql);
    }
}

static void put_long(message *m, int64_t value) {
    value = htobe64(value);
    put_int(m, 8);
    put_bytes(m, &value, 8);
}

static void put_field_text(message *m, const operation *op, int index) {
    put_int(m, FIELD_BYTES);
    put_text(m->next, op->number, index, op->variant);
    m->next += FIELD_BYTES;
}

static size_t encode_postgres(connection *c, const operation *op, int step, unsigned char *out) {
    static const char *const names[] = {"read", "update", "insert", "scan"};
    if (step > 0) return 0;
    char name[16];
    snprintf(name, sizeof name, op->kind == UPDATE ? "%s%d" : "%s", names[op->kind], op->field);
    message m = {out, out};
    unsigned char *start = begin_message(&m, 'B');
    put_string(&m, "");
    put_string(&m, name);
    put_short(&m, 1); // one format for all parameters: binary
    put_short(&m, 1);
    put_short(&m, op->kind == READ ? 1 : op->kind == INSERT ? 1 + FIELDS : 2);
    put_long(&m, op->number);
    if (op->kind == UPDATE) put_field_text(&m, op, op->field);
    if (op->kind == INSERT)
        for (int i = 0; i < FIELDS; i++) put_field_text(&m, op, i);
    if (op->kind == SCAN) put_long(&m, op->rows);
    put_short(&m, 1); // one format for all results: binary
    put_short(&m, 1);
    end_message(&m, start);
    start = begin_message(&m, 'E');
    put_string(&m, "");
    put_int(&m, 0);
    end_message(&m, start);
    put_sync(&m);
    c->pending = 1;
    return m.next - out;
}

static size_t decode_postgres(connection *c, const unsigned char *bytes, size_t filled) {
    size_t length = whole_message(bytes, filled);
    if (!length) return 0;
    check_message(bytes, length);
    if (bytes[0] == 'Z') c->pending--;
    if (bytes[0] == 'D') {
        const unsigned char *next = bytes + 7;
        uint16_t columns;
        memcpy(&columns, bytes + 5, 2);
        columns = ntohs(columns);
        c->rows++;
        for (int i = 0; i < columns; i++) {
            uint32_t size;
            memcpy(&size, next, 4);
            size = ntohl(size);
            // The key is no field.
            if (i >= columns - FIELDS) count_bytes(c, next + 4, size);
            next += 4 + size;
        }
    }
    return length;
}

// COPY in its binary form, and then what an administrator would do.
static void load_postgres(int64_t count) {
    connection c = {.reply = malloc(REPLY_BYTES_MAX)};
    unsigned char *bytes = malloc(1 << 20);
    connect_postgres(&c);
    run_sql(&c, "SET client_min_messages = warning");
    run_sql(&c, "DROP TABLE IF EXISTS usertable");
    // Room in each page, so that an update stays in it and leaves the index alone.
    run_sql(&c,
        "CREATE TABLE usertable (id bigint PRIMARY KEY, field0 text NOT NULL, "
        "field1 text NOT NULL, field2 text NOT NULL, field3 text NOT NULL, field4 text NOT NULL, "
        "field5 text NOT NULL, field6 text NOT NULL, field7 text NOT NULL, field8 text NOT NULL, "
        "field9 text NOT NULL) WITH (fillfactor = 80)");
    message m = {bytes, bytes};
    unsigned char *start = begin_message(&m, 'Q');
    put_string(&m, "COPY usertable FROM STDIN (FORMAT binary)");
    end_message(&m, start);
    send_message(&c, &m);
    await_message(&c, 'G');
    m.next = bytes;
    start = begin_message(&m, 'd');
    put_bytes(&m, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    end_message(&m, start);
    for (int64_t first = 1; first <= count; first += CHUNK_RECORDS) {
        start = begin_message(&m, 'd');
        for (int64_t n = first; n < first + CHUNK_RECORDS && n <= count; n++) {
            operation op = {.number = n};
            put_short(&m, 1 + FIELDS);
            put_long(&m, n);
            for (int i = 0; i < FIELDS; i++) put_field_text(&m, &op, i);
        }
        end_message(&m, start);
        send_message(&c, &m);
        m.next = bytes;
    }
    start = begin_message(&m, 'd');
    put_short(&m, UINT16_MAX);
    end_message(&m, start);
    end_message(&m, begin_message(&m, 'c'));
    send_message(&c, &m);
    await_message(&c, 'Z');
    run_sql(&c, "VACUUM (FREEZE, ANALYZE) usertable");
    run_sql(&c, "CHECKPOINT");
    close(c.descriptor);
    free(c.reply), free(bytes);
}

const protocol postgres_protocol = {
    "postgres", open_postgres, load_postgres, encode_postgres, decode_postgres,
};
