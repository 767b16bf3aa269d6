#include <string.h>

#include "internal.h"

// Requests of queries. The shape is encoded separately, because the server caches its plan.

Term *larder_build_term(Arena *arena, const char *format) {
    Term *built = larder_arena_take(arena, sizeof *built);
    if (!built) return NULL;
    larder__v1__term__init(built);
    built->form_case = LARDER__V1__TERM__FORM_FORMAT;
    built->format = larder_arena_text(arena, format);
    return built->format ? built : NULL;
}

Larder__V1__SortKey **larder_build_sort(Arena *arena, const larder_sort *sort, size_t count) {
    Larder__V1__SortKey **keys = larder_arena_take(arena, count * sizeof *keys);
    for (size_t index = 0; keys && index < count; index++) {
        Larder__V1__SortKey *key = keys[index] = larder_arena_take(arena, sizeof *key);
        if (!key) return NULL;
        larder__v1__sort_key__init(key);
        key->term = larder_build_term(arena, sort[index].term);
        if (!key->term) return NULL;
        key->descending = sort[index].is_descending;
        key->nil_placement = (Larder__V1__NilPlacement)sort[index].nil_order;
        key->string_order = (Larder__V1__StringOrder)sort[index].string_order;
    }
    return keys;
}

Larder__V1__NamedTerm **larder_build_terms(Arena *arena, const larder_term *terms, size_t count) {
    Larder__V1__NamedTerm **built = larder_arena_take(arena, count * sizeof *built);
    for (size_t index = 0; built && index < count; index++) {
        Larder__V1__NamedTerm *each = built[index] = larder_arena_take(arena, sizeof *each);
        if (!each) return NULL;
        larder__v1__named_term__init(each);
        const char *name = terms[index].name ? terms[index].name : terms[index].term;
        each->name = larder_arena_text(arena, name);
        each->term = larder_build_term(arena, terms[index].term);
        if (!each->name || !each->term) return NULL;
    }
    return built;
}

static Larder__V1__AggregateColumn **build_aggregates(
    Arena *arena, const larder_aggregate_column *columns, size_t count) {
    Larder__V1__AggregateColumn **built = larder_arena_take(arena, count * sizeof *built);
    for (size_t index = 0; built && index < count; index++) {
        const larder_aggregate_column *column = &columns[index];
        Larder__V1__AggregateColumn *each = built[index] = larder_arena_take(arena, sizeof *each);
        if (!each) return NULL;
        larder__v1__aggregate_column__init(each);
        each->name = larder_arena_text(arena, column->name);
        each->function = (Larder__V1__AggregateFunction)column->function;
        each->term = column->term ? larder_build_term(arena, column->term) : NULL;
        each->filter = column->filter ? larder_build_term(arena, column->filter) : NULL;
        if (!each->name || (column->term && !each->term) || (column->filter && !each->filter)) {
            return NULL;
        }
    }
    return built;
}

static Larder__V1__FetchQuery *build_fetch(Arena *arena, const larder_query *query) {
    Larder__V1__FetchQuery *fetch = larder_arena_take(arena, sizeof *fetch);
    if (!fetch) return NULL;
    larder__v1__fetch_query__init(fetch);
    fetch->entity = larder_arena_text(arena, query->entity);
    fetch->predicate = query->where ? larder_build_term(arena, query->where) : NULL;
    fetch->columns = larder_build_terms(arena, query->columns, query->column_count);
    fetch->n_columns = query->column_count;
    fetch->sort = larder_build_sort(arena, query->sort, query->sort_count);
    fetch->n_sort = query->sort_count;
    fetch->distinct = query->is_distinct;
    fetch->exclude_subentities = query->excludes_subentities;
    if (query->selection == LARDER_SELECT_VALUES) {
        fetch->selection = LARDER__V1__SELECTION__SELECTION_VALUES;
    } else if (query->selection == LARDER_SELECT_IDENTIFIERS) {
        fetch->selection = LARDER__V1__SELECTION__SELECTION_IDENTIFIERS;
    } else {
        fetch->selection = query->column_count > 0
                               ? LARDER__V1__SELECTION__SELECTION_COLUMNS
                               : LARDER__V1__SELECTION__SELECTION_OBJECTS;
    }
    bool is_built = fetch->entity && fetch->columns && fetch->sort &&
                    (!query->where || fetch->predicate);
    return is_built ? fetch : NULL;
}

static Larder__V1__CountQuery *build_count(Arena *arena, const larder_query *query) {
    Larder__V1__CountQuery *count = larder_arena_take(arena, sizeof *count);
    if (!count) return NULL;
    larder__v1__count_query__init(count);
    count->entity = larder_arena_text(arena, query->entity);
    count->predicate = query->where ? larder_build_term(arena, query->where) : NULL;
    count->exclude_subentities = query->excludes_subentities;
    return count->entity && (!query->where || count->predicate) ? count : NULL;
}

static Larder__V1__AggregateQuery *build_aggregate(Arena *arena, const larder_query *query) {
    Larder__V1__AggregateQuery *aggregate = larder_arena_take(arena, sizeof *aggregate);
    if (!aggregate) return NULL;
    larder__v1__aggregate_query__init(aggregate);
    aggregate->entity = larder_arena_text(arena, query->entity);
    aggregate->predicate = query->where ? larder_build_term(arena, query->where) : NULL;
    aggregate->group_by = larder_build_terms(arena, query->groups, query->group_count);
    aggregate->n_group_by = query->group_count;
    aggregate->columns = build_aggregates(arena, query->aggregates, query->aggregate_count);
    aggregate->n_columns = query->aggregate_count;
    aggregate->having = query->having ? larder_build_term(arena, query->having) : NULL;
    aggregate->sort = larder_build_sort(arena, query->sort, query->sort_count);
    aggregate->n_sort = query->sort_count;
    aggregate->exclude_subentities = query->excludes_subentities;
    bool is_built = aggregate->entity && aggregate->group_by && aggregate->columns &&
                    aggregate->sort && (!query->where || aggregate->predicate) &&
                    (!query->having || aggregate->having);
    return is_built ? aggregate : NULL;
}

// Rejects what the form of the query would ignore, and what the server would misunderstand.
static bool is_valid(const larder_query *query, QueryForm form, larder_error *error) {
    bool has_groups = query->group_count > 0 || query->aggregate_count > 0 || query->having;
    bool has_columns = query->column_count > 0 || query->is_distinct || query->selection != 0;
    if (form != FORM_AGGREGATE && has_groups) {
        return larder_fail(
            error, LARDER_ERROR_UNSUPPORTED, "only an aggregate has groups and aggregates");
    }
    if (form != FORM_FETCH && has_columns) {
        return larder_fail(
            error, LARDER_ERROR_UNSUPPORTED, "only a fetch has columns and a selection");
    }
    if (form == FORM_COUNT && query->sort_count > 0) {
        return larder_fail(error, LARDER_ERROR_UNSUPPORTED, "a count has no sort keys");
    }
    if (query->limit < 0 || query->offset < 0) {
        return larder_fail(
            error, LARDER_ERROR_MALFORMED_VALUE, "a limit or an offset is negative");
    }
    return true;
}

static bool build_shape(
    Arena *arena, const larder_query *query, QueryForm form, ProtobufCBinaryData *shape) {
    Larder__V1__Query built = LARDER__V1__QUERY__INIT;
    bool is_built;
    if (form == FORM_FETCH) {
        built.kind_case = LARDER__V1__QUERY__KIND_FETCH;
        is_built = (built.fetch = build_fetch(arena, query)) != NULL;
    } else if (form == FORM_COUNT) {
        built.kind_case = LARDER__V1__QUERY__KIND_COUNT;
        is_built = (built.count = build_count(arena, query)) != NULL;
    } else {
        built.kind_case = LARDER__V1__QUERY__KIND_AGGREGATE;
        is_built = (built.aggregate = build_aggregate(arena, query)) != NULL;
    }
    if (!is_built) return false;
    shape->len = larder__v1__query__get_packed_size(&built);
    shape->data = larder_arena_take(arena, shape->len);
    if (shape->data) larder__v1__query__pack(&built, shape->data);
    return shape->data != NULL;
}

bool larder_build_query(
    Arena *arena, const larder_query *query, QueryForm form, Larder__V1__QueryRequest *built,
    larder_error *error) {
    if (!is_valid(query, form, error)) return false;
    larder__v1__query_request__init(built);
    if (!build_shape(arena, query, form, &built->shape)) return larder_fail_memory(error);
    built->n_arguments = query->argument_count;
    built->n_variables = query->variable_count;
    built->credit = CREDIT;
    if (query->limit > 0) {
        built->limit_presence_case = LARDER__V1__QUERY_REQUEST__LIMIT_PRESENCE_LIMIT;
        built->limit = query->limit;
    }
    if (query->offset > 0) {
        built->offset_presence_case = LARDER__V1__QUERY_REQUEST__OFFSET_PRESENCE_OFFSET;
        built->offset = query->offset;
    }
    return larder_build_arguments(
               arena, query->arguments, query->argument_count, &built->arguments, error) &&
           larder_build_variables(
               arena, query->variables, query->variable_count, &built->variables, error);
}
