#include "changes.h"

// Saves of change sets, and their results.

bool larder_save(larder_client *client, larder_changes *changes, larder_error *error) {
    if (changes->error.code != 0) {
        larder_copy_error(error, &changes->error);
        return false;
    }
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_SAVE;
    request.save = &changes->set;
    bool has_key = changes->set.idempotency_key[0] != 0;
    Envelope *reply = larder_call(
        client, &request, LARDER__V1__ENVELOPE__BODY_SAVED,
        has_key ? REPEAT_WRITE : REPEAT_NEVER, NULL, error);
    if (!reply) return false;
    if (changes->reply) larder__v1__envelope__free_unpacked(changes->reply, NULL);
    changes->reply = reply;
    return true;
}

int64_t larder_saved_transaction(const larder_changes *changes) {
    return changes->reply ? changes->reply->saved->transaction : 0;
}

size_t larder_saved_insert_count(const larder_changes *changes) {
    return changes->reply ? changes->reply->saved->n_inserted : 0;
}

bool larder_saved_identifier(
    const larder_changes *changes, size_t index, larder_identifier *identifier) {
    if (index < larder_saved_insert_count(changes)) {
        return larder_read_identifier(changes->reply->saved->inserted[index], identifier);
    }
    *identifier = (larder_identifier){0};
    return false;
}

int64_t larder_saved_version(const larder_changes *changes, size_t index) {
    if (!changes->reply || index >= changes->reply->saved->n_updated_versions) return 0;
    return changes->reply->saved->updated_versions[index];
}

int64_t larder_saved_deleted_count(const larder_changes *changes) {
    return changes->reply ? changes->reply->saved->deleted_count : 0;
}

int64_t larder_saved_affected_count(const larder_changes *changes, size_t index) {
    if (!changes->reply || index >= changes->reply->saved->n_affected) return 0;
    return changes->reply->saved->affected[index]->count;
}

// Single changes

static larder_changes *new_changes(larder_error *error) {
    larder_changes *changes = larder_changes_new();
    if (!changes) larder_fail_memory(error);
    return changes;
}

static void set_all(larder_changes *changes, const larder_property *properties, size_t count) {
    for (size_t index = 0; index < count; index++) {
        larder_changes_set(changes, properties[index].name, properties[index].value);
    }
}

bool larder_insert(
    larder_client *client, const char *entity, const larder_property *properties, size_t count,
    larder_identifier *identifier, larder_error *error) {
    larder_changes *changes = new_changes(error);
    if (!changes) return false;
    larder_changes_insert(changes, entity);
    set_all(changes, properties, count);
    larder_identifier inserted;
    bool is_saved = larder_save(client, changes, error);
    if (is_saved && !larder_saved_identifier(changes, 0, &inserted)) {
        is_saved = larder_fail(
            error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent no identifier of the object");
    }
    if (is_saved && identifier) *identifier = inserted;
    larder_changes_free(changes);
    return is_saved;
}

bool larder_update(
    larder_client *client, const larder_identifier *object, const larder_property *properties,
    size_t count, larder_error *error) {
    larder_changes *changes = new_changes(error);
    if (!changes) return false;
    larder_changes_update(changes, object);
    set_all(changes, properties, count);
    bool is_saved = larder_save(client, changes, error);
    larder_changes_free(changes);
    return is_saved;
}

bool larder_delete(
    larder_client *client, const larder_identifier *object, larder_error *error) {
    larder_changes *changes = new_changes(error);
    if (!changes) return false;
    larder_changes_delete(changes, object);
    bool is_saved = larder_save(client, changes, error);
    larder_changes_free(changes);
    return is_saved;
}
