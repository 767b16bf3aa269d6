#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "internal.h"
#include "changes.h"

// The builder of change sets. The first failure of a function is reported by larder_save.

enum { KEY_BYTES = 16 };

typedef Larder__V1__Change Change;

larder_changes *larder_changes_new(void) {
    larder_changes *changes = calloc(1, sizeof *changes);
    if (changes) larder__v1__change_set__init(&changes->set);
    return changes;
}

void larder_changes_free(larder_changes *changes) {
    if (!changes) return;
    if (changes->reply) larder__v1__envelope__free_unpacked(changes->reply, NULL);
    larder_arena_free(&changes->arena);
    free(changes);
}

// Where to store a failure: only the first one is kept.
static larder_error *failure_of(larder_changes *changes) {
    return changes->error.code == 0 ? &changes->error : NULL;
}

static void fail_memory(larder_changes *changes) { larder_fail_memory(failure_of(changes)); }

// The set

static void choose_key(larder_changes *changes) {
    uint8_t bytes[KEY_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        larder_fail(
            failure_of(changes), LARDER_ERROR_RESOURCE_EXHAUSTED, "there are no random bytes");
        return;
    }
    char key[2 * KEY_BYTES + 1];
    for (size_t index = 0; index < sizeof bytes; index++) {
        snprintf(key + 2 * index, 3, "%02x", bytes[index]);
    }
    larder_changes_key(changes, key);
}

void larder_changes_key(larder_changes *changes, const char *key) {
    if (!key) {
        choose_key(changes);
        return;
    }
    char *copy = larder_arena_text(&changes->arena, key);
    if (copy) {
        changes->set.idempotency_key = copy;
    } else {
        fail_memory(changes);
    }
}

void larder_changes_author(larder_changes *changes, const char *author) {
    char *copy = larder_arena_text(&changes->arena, author);
    if (copy) {
        changes->set.author = copy;
    } else {
        fail_memory(changes);
    }
}

void larder_changes_merge(larder_changes *changes, larder_merge policy) {
    changes->set.merge_policy = (Larder__V1__MergePolicy)policy;
}

void larder_changes_upsert(larder_changes *changes, bool upserts) {
    changes->set.on_unique_conflict =
        upserts ? LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_UPSERT
                : LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_ERROR;
}

// Changes of one object

// Adds a change; NULL after a failure.
static Change *add_change(larder_changes *changes, Larder__V1__ChangeKind kind) {
    Larder__V1__ChangeSet *set = &changes->set;
    Change *change = larder_arena_take(&changes->arena, sizeof *change);
    void **grown =
        larder_arena_grow(&changes->arena, (void **)set->changes, set->n_changes);
    changes->last = NULL;
    if (!change || !grown) {
        fail_memory(changes);
        return NULL;
    }
    larder__v1__change__init(change);
    change->kind = kind;
    set->changes = (Change **)grown;
    set->changes[set->n_changes++] = change;
    return change;
}

static void add_object_change(
    larder_changes *changes, Larder__V1__ChangeKind kind, const larder_identifier *object) {
    Change *change = add_change(changes, kind);
    if (!change) return;
    if (larder_build_identifier(&changes->arena, object, &change->object)) {
        changes->last = change;
    } else {
        fail_memory(changes);
    }
}

larder_identifier larder_changes_insert(larder_changes *changes, const char *entity) {
    larder_identifier object = {.key = -++changes->insert_count};
    if (!entity) entity = "";
    larder_copy_text(object.entity, sizeof object.entity, entity, strlen(entity));
    add_object_change(changes, LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT, &object);
    return object;
}

void larder_changes_update(larder_changes *changes, const larder_identifier *object) {
    add_object_change(changes, LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE, object);
}

void larder_changes_delete(larder_changes *changes, const larder_identifier *object) {
    add_object_change(changes, LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE, object);
}

// The change that a property belongs to; NULL after a failure.
static Change *last_change(larder_changes *changes) {
    if (!changes->last) {
        larder_fail(
            failure_of(changes), LARDER_ERROR_INVALID_CHANGE_SET,
            "there is no insert, update or delete that this belongs to");
    }
    return changes->last;
}

static void add_value(
    larder_changes *changes, Larder__V1__PropertyValue ***values, size_t *count,
    const char *name, const larder_value *value) {
    Arena *arena = &changes->arena;
    Larder__V1__PropertyValue *property = larder_arena_take(arena, sizeof *property);
    Value *built = larder_arena_take(arena, sizeof *built);
    char *copy = larder_arena_text(arena, name);
    void **grown = larder_arena_grow(arena, (void **)*values, *count);
    if (!property || !built || !copy || !grown) {
        fail_memory(changes);
        return;
    }
    if (!larder_build_value(arena, value, built, failure_of(changes))) return;
    larder__v1__property_value__init(property);
    property->name = copy;
    property->value = built;
    *values = (Larder__V1__PropertyValue **)grown;
    (*values)[(*count)++] = property;
}

void larder_changes_set(larder_changes *changes, const char *property, larder_value value) {
    Change *last = last_change(changes);
    if (last) add_value(changes, &last->values, &last->n_values, property, &value);
}

void larder_changes_base(larder_changes *changes, const char *property, larder_value value) {
    Change *last = last_change(changes);
    if (last) add_value(changes, &last->base_values, &last->n_base_values, property, &value);
}

void larder_changes_version(larder_changes *changes, int64_t version) {
    Change *last = last_change(changes);
    if (!last) return;
    last->if_version_presence_case = LARDER__V1__CHANGE__IF_VERSION_PRESENCE_IF_VERSION;
    last->if_version = version;
}

void larder_changes_edit(
    larder_changes *changes, larder_edit edit, const char *relationship,
    const larder_identifier *objects, size_t count, int64_t index) {
    Change *last = last_change(changes);
    if (!last) return;
    Arena *arena = &changes->arena;
    Larder__V1__RelationshipEdit *built = larder_arena_take(arena, sizeof *built);
    void **grown = larder_arena_grow(arena, (void **)last->edits, last->n_edits);
    bool is_built = built && grown;
    if (is_built) {
        larder__v1__relationship_edit__init(built);
        built->kind = (Larder__V1__RelationshipEditKind)edit;
        built->name = larder_arena_text(arena, relationship);
        built->objects = larder_arena_take(arena, count * sizeof *built->objects);
        is_built = built->name && built->objects;
    }
    for (size_t each = 0; is_built && each < count; each++) {
        is_built = larder_build_identifier(arena, &objects[each], &built->objects[each]);
    }
    if (!is_built) {
        fail_memory(changes);
        return;
    }
    built->n_objects = count;
    if (index != LARDER_END) {
        built->position_case = LARDER__V1__RELATIONSHIP_EDIT__POSITION_INDEX;
        built->index = index;
    }
    last->edits = (Larder__V1__RelationshipEdit **)grown;
    last->edits[last->n_edits++] = built;
}

// Changes by predicate

static bool is_selection(larder_changes *changes, const larder_query *query, bool can_limit) {
    bool has_limit = query->limit != 0 || query->sort_count > 0;
    if (query->column_count > 0 || query->group_count > 0 || query->aggregate_count > 0 ||
        query->having || query->offset != 0 || query->selection != 0 || query->is_distinct ||
        (has_limit && !can_limit)) {
        return larder_fail(
            failure_of(changes), LARDER_ERROR_UNSUPPORTED,
            "the objects of a change are given by a predicate, sort keys and a limit only");
    }
    if (query->limit < 0 || (query->limit == 0 && query->sort_count > 0)) {
        return larder_fail(
            failure_of(changes), LARDER_ERROR_UNSUPPORTED, "sort keys need a limit from 1");
    }
    return true;
}

static Larder__V1__ObjectsChange *build_objects(
    larder_changes *changes, const larder_query *query, const larder_term *assignments,
    size_t count) {
    Arena *arena = &changes->arena;
    Larder__V1__ObjectsChange *built = larder_arena_take(arena, sizeof *built);
    if (!built) {
        fail_memory(changes);
        return NULL;
    }
    larder__v1__objects_change__init(built);
    built->entity = larder_arena_text(arena, query->entity);
    built->predicate = query->where ? larder_build_term(arena, query->where) : NULL;
    built->sort = larder_build_sort(arena, query->sort, query->sort_count);
    built->assignments = larder_build_terms(arena, assignments, count);
    if (!built->entity || (query->where && !built->predicate) || !built->sort ||
        !built->assignments) {
        fail_memory(changes);
        return NULL;
    }
    built->n_sort = query->sort_count;
    built->n_assignments = count;
    built->exclude_subentities = query->excludes_subentities;
    if (query->limit > 0) {
        built->limit_presence_case = LARDER__V1__OBJECTS_CHANGE__LIMIT_PRESENCE_LIMIT;
        built->limit = query->limit;
    }
    built->n_arguments = query->argument_count;
    built->n_variables = query->variable_count;
    bool is_built =
        larder_build_arguments(
            arena, query->arguments, query->argument_count, &built->arguments,
            failure_of(changes)) &&
        larder_build_variables(
            arena, query->variables, query->variable_count, &built->variables,
            failure_of(changes));
    return is_built ? built : NULL;
}

static void add_objects_change(
    larder_changes *changes, const larder_query *objects, const larder_term *assignments,
    size_t count, Larder__V1__ChangeKind kind_of_all, Larder__V1__ChangeKind kind_of_first) {
    if (!is_selection(changes, objects, true)) return;
    Larder__V1__ObjectsChange *built = build_objects(changes, objects, assignments, count);
    if (!built) return;
    Change *change = add_change(changes, objects->limit > 0 ? kind_of_first : kind_of_all);
    if (change) change->by_predicate = built;
}

void larder_changes_update_all(
    larder_changes *changes, const larder_query *objects, const larder_term *assignments,
    size_t count) {
    add_objects_change(
        changes, objects, assignments, count, LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_ALL,
        LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_FIRST);
}

void larder_changes_delete_all(larder_changes *changes, const larder_query *objects) {
    add_objects_change(
        changes, objects, NULL, 0, LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_ALL,
        LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_FIRST);
}

void larder_changes_require(
    larder_changes *changes, const larder_query *objects, int64_t count) {
    if (!is_selection(changes, objects, false)) return;
    Larder__V1__ChangeSet *set = &changes->set;
    Larder__V1__Condition *condition = larder_arena_take(&changes->arena, sizeof *condition);
    void **grown =
        larder_arena_grow(&changes->arena, (void **)set->conditions, set->n_conditions);
    if (!condition || !grown) {
        fail_memory(changes);
        return;
    }
    larder__v1__condition__init(condition);
    condition->objects = build_objects(changes, objects, NULL, 0);
    if (!condition->objects) return;
    condition->count = count;
    set->conditions = (Larder__V1__Condition **)grown;
    set->conditions[set->n_conditions++] = condition;
}
