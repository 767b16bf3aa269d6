#include <stdlib.h>
#include <string.h>

#include "internal.h"

// Live queries: the result of a query, to which each change of the server is applied.
//
// A row of the result refers to the batch that it arrived in. After a lost connection the query is
// observed again, and the next result is whole.

enum {
    // The bytes of the replies of a whole result, as a multiple of the longest frame.
    RESULT_FRAMES_MAX = 4,
};

struct larder_observation {
    Follower follower;
    size_t restart_count;
    Arena arena;
    Larder__V1__ObserveRequest request;
    Larder__V1__QueryRequest query;
    RowReference *rows;
    size_t row_count;
    // Whether there is a result since the query was last observed, which changes apply to.
    bool has_result;
    // A whole result that is arriving.
    bool is_arriving;
    RowReference *incoming;
    size_t incoming_count, incoming_capacity, incoming_bytes;
    // The changes that led to the rows; NULL after a whole result.
    larder_row_change *changes;
    size_t change_count;
    larder_token position;
    larder_rows cursor;
};

// Rows

static void free_rows(RowReference *rows, size_t count) {
    for (size_t index = 0; index < count; index++) larder_page_release(rows[index].page);
    free(rows);
}

static void discard_incoming(larder_observation *observation) {
    free_rows(observation->incoming, observation->incoming_count);
    observation->incoming = NULL;
    observation->incoming_count = observation->incoming_capacity = 0;
    observation->incoming_bytes = 0;
    observation->is_arriving = false;
}

// Replaces the result, whose cursor begins again.
static void replace_rows(
    larder_observation *observation, RowReference *rows, size_t count,
    larder_row_change *changes, size_t change_count) {
    free_rows(observation->rows, observation->row_count);
    free(observation->changes);
    observation->rows = rows;
    observation->row_count = count;
    observation->changes = changes;
    observation->change_count = change_count;
    observation->cursor = (larder_rows){
        .client = observation->follower.client,
        .row = -1,
        .page = count > 0 ? rows[0].page : NULL,
        .is_observed = true,
        .references = rows,
        .reference_count = count,
    };
    memcpy(observation->cursor.store, observation->position.store, UUID_BYTES);
}

// Whole results

static bool add_incoming(
    larder_observation *observation, Larder__V1__ObserveReply *reply, size_t length,
    larder_error *error) {
    observation->incoming_bytes += length;
    if (observation->incoming_bytes / RESULT_FRAMES_MAX >
        observation->follower.client->reply_bytes_max) {
        return larder_fail(
            error, LARDER_ERROR_RESOURCE_EXHAUSTED, "the server sent a result that is too long");
    }
    size_t count = reply->n_rows > 0 ? reply->rows[0]->row_count : 0;
    if (count == 0) return true;
    size_t needed = observation->incoming_count + count;
    if (needed > observation->incoming_capacity) {
        size_t capacity = 2 * needed;
        RowReference *grown =
            realloc(observation->incoming, capacity * sizeof *observation->incoming);
        if (!grown) return larder_fail_memory(error);
        observation->incoming = grown;
        observation->incoming_capacity = capacity;
    }
    Page *page = larder_page_new(&reply->rows[0]);
    if (!page) return larder_fail_memory(error);
    for (size_t row = 0; row < count; row++) {
        observation->incoming[observation->incoming_count++] =
            (RowReference){page, (uint32_t)row};
    }
    page->references = count;
    return true;
}

static void finish_incoming(larder_observation *observation) {
    RowReference *rows = observation->incoming;
    size_t count = observation->incoming_count;
    observation->incoming = NULL;
    observation->incoming_count = 0;
    discard_incoming(observation);
    observation->has_result = true;
    replace_rows(observation, rows, count, NULL, 0);
}

// Changes

// Whether indexes ascend and are less than a limit.
static bool ascend(const uint32_t *indexes, size_t count, size_t limit) {
    for (size_t index = 0; index < count; index++) {
        if (indexes[index] >= limit || (index > 0 && indexes[index] <= indexes[index - 1])) {
            return false;
        }
    }
    return true;
}

// Marks the rows that are removed, each once. Returns their number, or SIZE_MAX if the change does
// not agree with the result.
static size_t mark_removed(
    const larder_observation *observation, const Larder__V1__ObserveReply *reply,
    bool *is_removed) {
    size_t count = reply->n_deleted;
    for (size_t index = 0; index < reply->n_deleted; index++) {
        is_removed[reply->deleted[index]] = true;
    }
    for (size_t index = 0; index < reply->n_old_indexes; index++) {
        size_t old = reply->old_indexes[index];
        if (old == 0) continue;
        if (old > observation->row_count || is_removed[old - 1]) return SIZE_MAX;
        is_removed[old - 1] = true;
        count++;
    }
    return count;
}

static void list_changes(const Larder__V1__ObserveReply *reply, larder_row_change *changes) {
    for (size_t index = 0; index < reply->n_deleted; index++) {
        *changes++ = (larder_row_change){LARDER_ROW_DELETED, reply->deleted[index], 0};
    }
    for (size_t index = 0; index < reply->n_new_indexes; index++) {
        uint32_t old = reply->old_indexes[index];
        larder_row_change_kind kind = old == 0                ? LARDER_ROW_INSERTED
                                      : reply->moved[index] ? LARDER_ROW_MOVED
                                                            : LARDER_ROW_UPDATED;
        *changes++ = (larder_row_change){kind, old > 0 ? old - 1 : 0, reply->new_indexes[index]};
    }
}

// Makes the new result of the rows that stay, in their order, and of those of a page.
static void place_rows(
    const larder_observation *observation, const Larder__V1__ObserveReply *reply,
    const bool *is_removed, Page *page, RowReference *rows, size_t count) {
    size_t old = 0, placed = 0;
    for (size_t index = 0; index < count; index++) {
        if (placed < reply->n_new_indexes && reply->new_indexes[placed] == index) {
            rows[index] = (RowReference){page, (uint32_t)placed++};
        } else {
            while (is_removed[old]) old++;
            rows[index] = observation->rows[old++];
        }
        rows[index].page->references++;
    }
}

// Applies a change whose indexes were checked.
static bool place_change(
    larder_observation *observation, Larder__V1__ObserveReply *reply, const bool *is_removed,
    size_t count, larder_error *error) {
    size_t change_count = reply->n_deleted + reply->n_new_indexes;
    RowReference *rows = malloc((count ? count : 1) * sizeof *rows);
    larder_row_change *changes = malloc((change_count ? change_count : 1) * sizeof *changes);
    Page *page = NULL;
    bool is_complete = rows && changes;
    if (is_complete && reply->n_new_indexes > 0) {
        page = larder_page_new(&reply->rows[0]);
        is_complete = page != NULL;
    }
    if (!is_complete) {
        free(rows);
        free(changes);
        return larder_fail_memory(error);
    }
    place_rows(observation, reply, is_removed, page, rows, count);
    larder_page_release(page);
    list_changes(reply, changes);
    replace_rows(observation, rows, count, changes, change_count);
    return true;
}

static bool apply_change(
    larder_observation *observation, Larder__V1__ObserveReply *reply, larder_error *error) {
    size_t placed = reply->n_rows > 0 ? reply->rows[0]->row_count : 0;
    bool *is_removed = calloc(observation->row_count + 1, sizeof *is_removed);
    if (!is_removed) return larder_fail_memory(error);
    size_t removed = SIZE_MAX;
    if (reply->n_new_indexes == placed && reply->n_old_indexes == placed &&
        reply->n_moved == placed &&
        ascend(reply->deleted, reply->n_deleted, observation->row_count)) {
        removed = mark_removed(observation, reply, is_removed);
    }
    bool is_applied = false;
    size_t count = observation->row_count - removed + placed;
    if (removed == SIZE_MAX || !ascend(reply->new_indexes, placed, count)) {
        larder_fail(
            error, LARDER_ERROR_MALFORMED_MESSAGE,
            "the server sent a change that does not agree with the result");
    } else {
        is_applied = place_change(observation, reply, is_removed, count, error);
    }
    free(is_removed);
    return is_applied;
}

// Applies a reply, which it frees. Returns 1 if there is a new result, 0 if more of it follows, or
// -1.
static int apply(larder_observation *observation, Reply *reply, larder_error *error) {
    Larder__V1__ObserveReply *observed = reply->envelope->observed;
    larder_token position = {
        .epoch = observed->position->epoch, .number = observed->position->number};
    memcpy(position.store, observed->position->store.data, UUID_BYTES);
    int found = -1;
    if (observed->begins) {
        discard_incoming(observation);
        observation->is_arriving = true;
    }
    if (!observation->is_arriving && !observation->has_result) {
        larder_fail(
            error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent a change without a result");
    } else if (!observation->is_arriving) {
        larder_token former = observation->position;
        observation->position = position;
        if (apply_change(observation, observed, error)) found = 1;
        if (found < 0) observation->position = former;
    } else if (add_incoming(observation, observed, reply->length, error)) {
        found = observed->ends ? 1 : 0;
        if (found == 1) observation->position = position;
        if (found == 1) finish_incoming(observation);
    }
    larder__v1__envelope__free_unpacked(reply->envelope, NULL);
    return found;
}

// The stream

static Envelope request_of(larder_observation *observation) {
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_OBSERVE;
    request.observe = &observation->request;
    return request;
}

larder_observation *larder_observe(
    larder_client *client, const larder_query *query, int interval_milliseconds,
    larder_error *error) {
    larder_observation *observation = calloc(1, sizeof *observation);
    if (!observation) {
        larder_fail_memory(error);
        return NULL;
    }
    larder_retain(client);
    observation->follower = (Follower){
        .client = client, .kind = LARDER__V1__ENVELOPE__BODY_OBSERVED, .follows = true};
    larder__v1__observe_request__init(&observation->request);
    observation->request.query = &observation->query;
    observation->request.interval_milliseconds =
        interval_milliseconds > 0 ? (uint32_t)interval_milliseconds : 0;
    replace_rows(observation, NULL, 0, NULL, 0);
    bool is_aggregate = query->group_count > 0 || query->aggregate_count > 0;
    Envelope request = request_of(observation);
    if (!larder_build_query(
            &observation->arena, query, is_aggregate ? FORM_AGGREGATE : FORM_FETCH,
            &observation->query, error) ||
        !larder_follower_start(&observation->follower, &request, error)) {
        larder_observation_free(observation);
        return NULL;
    }
    return observation;
}

int larder_observe_next(
    larder_observation *observation, int timeout_milliseconds, larder_error *error) {
    Follower *follower = &observation->follower;
    Envelope request = request_of(observation);
    larder_error failure;
    for (;;) {
        Reply reply;
        int found =
            larder_follower_next(follower, &request, timeout_milliseconds, &reply, &failure);
        if (observation->restart_count != follower->restart_count) {
            observation->restart_count = follower->restart_count;
            discard_incoming(observation);
            observation->has_result = false;
        }
        if (found == 1) {
            found = apply(observation, &reply, &failure);
            if (found < 0) {
                // The result is not that of the server any more, so the next one is whole.
                larder_follower_stop(follower);
            } else {
                larder_stream_credit(follower->stream);
            }
            if (found == 0) continue;
        }
        if (found < 0) larder_copy_error(error, &failure);
        return found;
    }
}

larder_rows *larder_observe_rows(larder_observation *observation) {
    larder_rows *rows = &observation->cursor;
    rows->page = observation->row_count > 0 ? observation->rows[0].page : NULL;
    rows->row = -1;
    rows->reference_index = 0;
    rows->error.code = 0;
    return rows;
}

size_t larder_observe_row_count(const larder_observation *observation) {
    return observation->row_count;
}

const larder_row_change *larder_observe_changes(
    const larder_observation *observation, size_t *count) {
    if (count) *count = observation->change_count;
    return observation->changes;
}

larder_token larder_observe_position(const larder_observation *observation) {
    return observation->position;
}

void larder_observation_free(larder_observation *observation) {
    if (!observation) return;
    larder_stream_release(observation->follower.stream);
    discard_incoming(observation);
    free_rows(observation->rows, observation->row_count);
    free(observation->changes);
    larder_arena_free(&observation->arena);
    larder_unretain(observation->follower.client);
    free(observation);
}
