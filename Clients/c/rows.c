#include <stdlib.h>
#include <string.h>

#include "internal.h"

// Results: the requests that read, and the cursor over the batches of their replies.

Page *larder_page_new(Batch **batch) {
    size_t count = (*batch)->n_columns;
    Page *page = calloc(1, sizeof *page + count * sizeof page->texts[0]);
    if (!page) return NULL;
    page->references = 1;
    page->batch = *batch;
    *batch = NULL;
    return page;
}

void larder_page_release(Page *page) {
    if (!page || --page->references > 0) return;
    for (size_t index = 0; index < page->batch->n_columns; index++) free(page->texts[index]);
    larder__v1__batch__free_unpacked(page->batch, NULL);
    free(page);
}

// The cursor

static void free_reply(larder_rows *rows) {
    if (rows->reply) larder__v1__envelope__free_unpacked(rows->reply, NULL);
    rows->reply = NULL;
    rows->batch_index = 0;
}

// Waits for the next reply. Returns 1, 0 at the end, or -1.
static int next_reply(larder_rows *rows, larder_error *error) {
    if (rows->reply) {
        free_reply(rows);
        if (rows->stream) larder_stream_credit(rows->stream);
    }
    if (!rows->stream) return 0;
    Reply reply;
    int64_t deadline = larder_reply_deadline(rows->client);
    int found = larder_stream_next(rows->stream, deadline, &reply, error);
    if (found == 1) {
        rows->reply = reply.envelope;
    } else if (found == 0 && rows->stream->client) {
        larder_fail(error, LARDER_ERROR_CONNECTION_FAILED, "the server does not reply");
        larder_disconnect(rows->client, error);
        return -1;
    }
    return found;
}

// Moves to the next batch, before its first row. Returns 1, 0 at the end, or -1.
static int next_page(larder_rows *rows, larder_error *error) {
    for (;;) {
        Larder__V1__BatchesReply *batches = rows->reply ? rows->reply->batches : NULL;
        if (batches && rows->batch_index < batches->n_batches) {
            Batch **batch = &batches->batches[rows->batch_index];
            Page *page = larder_page_new(batch);
            if (!page) {
                larder_fail_memory(error);
                return -1;
            }
            rows->batch_index++;
            rows->batch_count++;
            larder_page_release(rows->page);
            rows->page = page;
            rows->row = -1;
            return 1;
        }
        int found = next_reply(rows, error);
        if (found != 1) return found;
    }
}

bool larder_rows_seek(larder_rows *rows, size_t index) {
    if (!rows->is_observed || index >= rows->reference_count) return false;
    rows->page = rows->references[index].page;
    rows->row = rows->references[index].row;
    rows->reference_index = index + 1;
    return true;
}

int larder_rows_next(larder_rows *rows, larder_error *error) {
    if (rows->error.code != 0) {
        larder_copy_error(error, &rows->error);
        return -1;
    }
    if (rows->is_observed) {
        if (larder_rows_seek(rows, rows->reference_index)) return 1;
        rows->row = -1;
        return 0;
    }
    for (;;) {
        if (rows->page && rows->row + 1 < rows->page->batch->row_count) {
            rows->row++;
            return 1;
        }
        larder_error failure;
        int found = next_page(rows, &failure);
        if (found == 1) continue;
        // The columns remain.
        rows->row = rows->page ? (int64_t)rows->page->batch->row_count : -1;
        if (found < 0) {
            rows->error = failure;
            larder_copy_error(error, &failure);
        }
        return found;
    }
}

size_t larder_rows_batch_count(const larder_rows *rows) { return rows->batch_count; }

void larder_rows_free(larder_rows *rows) {
    if (!rows || rows->is_observed) return;
    free_reply(rows);
    larder_page_release(rows->page);
    larder_stream_release(rows->stream);
    larder_unretain(rows->client);
    free(rows);
}

// Requests

// Sends a request and makes the cursor, which has the first batch.
static larder_rows *read_rows(larder_client *client, Envelope *request, larder_error *error) {
    larder_rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        larder_fail_memory(error);
        return NULL;
    }
    rows->client = client;
    rows->row = -1;
    larder_retain(client);
    bool is_stream = request->body_case == LARDER__V1__ENVELOPE__BODY_QUERY;
    rows->reply = larder_call(
        client, request, LARDER__V1__ENVELOPE__BODY_BATCHES, REPEAT_ALWAYS,
        is_stream ? &rows->stream : NULL, error);
    memcpy(rows->store, client->store, UUID_BYTES);
    if (!rows->reply || next_page(rows, error) < 0) {
        larder_rows_free(rows);
        return NULL;
    }
    return rows;
}

larder_rows *larder_get(
    larder_client *client, const larder_identifier *identifiers, size_t count,
    larder_error *error) {
    Arena arena = {0};
    Larder__V1__GetRequest body = LARDER__V1__GET_REQUEST__INIT;
    body.identifiers = larder_arena_take(&arena, count * sizeof *body.identifiers);
    bool is_built = body.identifiers != NULL;
    for (size_t index = 0; is_built && index < count; index++) {
        is_built = larder_build_identifier(&arena, &identifiers[index], &body.identifiers[index]);
    }
    body.n_identifiers = count;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_GET;
    request.get = &body;
    larder_rows *rows = NULL;
    if (is_built) {
        rows = read_rows(client, &request, error);
    } else {
        larder_fail_memory(error);
    }
    larder_arena_free(&arena);
    return rows;
}

static larder_rows *run_query(
    larder_client *client, const larder_query *query, QueryForm form, larder_error *error) {
    Arena arena = {0};
    Larder__V1__QueryRequest body = LARDER__V1__QUERY_REQUEST__INIT;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_QUERY;
    request.query = &body;
    larder_rows *rows = NULL;
    if (larder_build_query(&arena, query, form, &body, error)) {
        rows = read_rows(client, &request, error);
    }
    larder_arena_free(&arena);
    return rows;
}

larder_rows *larder_fetch(
    larder_client *client, const larder_query *query, larder_error *error) {
    return run_query(client, query, FORM_FETCH, error);
}

larder_rows *larder_aggregate(
    larder_client *client, const larder_query *query, larder_error *error) {
    return run_query(client, query, FORM_AGGREGATE, error);
}

bool larder_count(
    larder_client *client, const larder_query *query, int64_t *count, larder_error *error) {
    larder_rows *rows = run_query(client, query, FORM_COUNT, error);
    if (!rows) return false;
    int found = larder_rows_next(rows, error);
    if (found == 0) {
        larder_fail(error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent no count");
    } else if (found == 1) {
        *count = larder_row_int64(rows, 0);
        if (rows->error.code != 0) {
            larder_copy_error(error, &rows->error);
            found = -1;
        }
    }
    larder_rows_free(rows);
    return found == 1;
}
