// The workloads' operations as Redis's commands, as YCSB's binding maps them: a record is a hash,
// and a sorted set has all keys for scans. What the binding sends as commands that wait for each
// other is sent at once here: HSET with ZADD, and all HMGETs of a scan.
#include "ycsb.h"

static unsigned char *put_argument(unsigned char *out, const void *bytes, size_t length) {
    out += sprintf((char *)out, "$%zu\r\n", length);
    memcpy(out, bytes, length);
    memcpy(out + length, "\r\n", 2);
    return out + length + 2;
}

static unsigned char *put_word(unsigned char *out, const char *word) {
    return put_argument(out, word, strlen(word));
}

static unsigned char *put_count(unsigned char *out, int arguments) {
    return out + sprintf((char *)out, "*%d\r\n", arguments);
}

static unsigned char *put_number_word(unsigned char *out, const char *prefix, int64_t number) {
    char word[40];
    size_t length = snprintf(word, sizeof word, "%s%lld", prefix, (long long)number);
    return put_argument(out, word, length);
}

static unsigned char *put_value(unsigned char *out, const operation *op, int index) {
    unsigned char text[FIELD_BYTES];
    put_text(text, op->number, index, op->variant);
    return put_argument(out, text, FIELD_BYTES);
}

static unsigned char *put_read(unsigned char *out, int64_t number) {
    out = put_word(put_count(out, 2 + FIELDS), "HMGET");
    out = put_number_word(out, "user:", number);
    static const char fields[] =
        "$6\r\nfield0\r\n$6\r\nfield1\r\n$6\r\nfield2\r\n$6\r\nfield3\r\n$6\r\nfield4\r\n"
        "$6\r\nfield5\r\n$6\r\nfield6\r\n$6\r\nfield7\r\n$6\r\nfield8\r\n$6\r\nfield9\r\n";
    memcpy(out, fields, sizeof fields - 1);
    return out + sizeof fields - 1;
}

static unsigned char *put_insert(unsigned char *out, const operation *op) {
    out = put_word(put_count(out, 2 + 2 * FIELDS), "HSET");
    out = put_number_word(out, "user:", op->number);
    for (int i = 0; i < FIELDS; i++) out = put_value(put_number_word(out, "field", i), op, i);
    out = put_word(put_word(put_count(out, 4), "ZADD"), "users");
    out = put_number_word(out, "", op->number);
    return put_number_word(out, "", op->number);
}

static unsigned char *put_index_range(unsigned char *out, const operation *op) {
    out = put_word(put_word(put_count(out, 7), "ZRANGEBYSCORE"), "users");
    out = put_word(put_word(put_number_word(out, "", op->number), "+inf"), "LIMIT");
    return put_number_word(put_word(out, "0"), "", op->rows);
}

static void open_redis(connection *c) { c->descriptor = connect_unix(socket_path); }

static size_t encode_redis(connection *c, const operation *op, int step, unsigned char *out) {
    unsigned char *end = out;
    if (op->kind == SCAN && step == 1) {
        for (int i = 0; i < c->found_count; i++) end = put_read(end, c->found[i]);
        c->pending = c->found_count;
        return end - out;
    }
    if (step > 0) return 0;
    c->pending = op->kind == INSERT ? 2 : 1;
    c->found_count = 0;
    switch (op->kind) {
    case READ: end = put_read(out, op->number); break;
    case INSERT: end = put_insert(out, op); break;
    case SCAN: end = put_index_range(out, op); break;
    default:
        end = put_number_word(put_word(put_count(out, 4), "HSET"), "user:", op->number);
        end = put_value(put_number_word(end, "field", op->field), op, op->field);
    }
    return end - out;
}

// Reads a line's number; NULL if the line is incomplete.
static const unsigned char *take_line(
    const unsigned char *bytes, const unsigned char *end, int64_t *number
) {
    int64_t value = 0;
    int is_negative = 0;
    for (; bytes < end && *bytes != '\r'; bytes++) {
        if (*bytes == '-') is_negative = 1;
        else value = value * 10 + (*bytes - '0');
    }
    *number = is_negative ? -value : value;
    return end - bytes < 2 ? NULL : bytes + 2;
}

// A reply is a line, or an array of strings, which is read only when it is complete.
static size_t decode_redis(connection *c, const unsigned char *bytes, size_t filled) {
    const unsigned char *end = bytes + filled, *next, *first;
    int64_t elements, size;
    if (!filled || !(next = take_line(bytes + 1, end, &elements))) return 0;
    if (bytes[0] == '-') {
        fprintf(stderr, "redis: %.*s", (int)(next - bytes), (const char *)bytes);
        fail("redis", "an error");
    }
    if (bytes[0] == '*') {
        first = next;
        for (int64_t i = 0; i < elements; i++) {
            if (next >= end || !(next = take_line(next + 1, end, &size))) return 0;
            if (size < 0) fail("redis", "a field is missing");
            if (end - next < size + 2) return 0;
            next += size + 2;
        }
        int is_index = c->operation.kind == SCAN && c->step == 0;
        if (!is_index) c->rows++;
        for (int64_t i = 0; i < elements; i++) {
            first = take_line(first + 1, end, &size);
            if (is_index) take_line(first, end, &c->found[c->found_count++]);
            else count_bytes(c, first, size);
            first += size + 2;
        }
    }
    c->pending--;
    return next - bytes;
}

static void await_replies(connection *c, int count) {
    for (c->pending = count; c->pending;) {
        ssize_t got = recv(c->descriptor, c->reply + c->filled, REPLY_BYTES_MAX - c->filled, 0);
        if (got <= 0) fail("redis", "has closed the connection");
        c->filled += got;
        size_t used = 0, length;
        while (c->pending && (length = decode_redis(c, c->reply + used, c->filled - used)))
            used += length;
        memmove(c->reply, c->reply + used, c->filled -= used);
    }
}

static unsigned char *put_append_sync(unsigned char *out, const char *policy) {
    out = put_word(put_word(put_count(out, 4), "CONFIG"), "SET");
    return put_word(put_word(out, "appendfsync"), policy);
}

// Records are loaded with one sync per second, since Redis would otherwise sync every few records.
static void load_redis(int64_t count) {
    connection c = {.reply = malloc(REPLY_BYTES_MAX)};
    unsigned char *bytes = malloc(2 << 20);
    unsigned char *end = put_word(put_count(bytes, 1), "FLUSHALL");
    end = put_append_sync(end, "everysec");
    open_redis(&c);
    send_all(c.descriptor, bytes, end - bytes);
    await_replies(&c, 2);
    for (int64_t first = 1; first <= count; first += CHUNK_RECORDS) {
        int records = 0;
        end = bytes;
        for (int64_t n = first; n < first + CHUNK_RECORDS && n <= count; n++, records++) {
            operation op = {.kind = INSERT, .number = n};
            end = put_insert(end, &op);
        }
        send_all(c.descriptor, bytes, end - bytes);
        await_replies(&c, 2 * records);
    }
    end = put_append_sync(bytes, "always");
    send_all(c.descriptor, bytes, end - bytes);
    await_replies(&c, 1);
    close(c.descriptor);
    free(c.reply), free(bytes);
}

const protocol redis_protocol = {
    "redis", open_redis, load_redis, encode_redis, decode_redis,
};
