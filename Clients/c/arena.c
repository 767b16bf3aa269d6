#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { BLOCK_BYTES = 4096 };

struct ArenaBlock {
    ArenaBlock *next;
    size_t capacity, used;
    max_align_t bytes[];
};

void *larder_arena_take(Arena *arena, size_t size) {
    size_t alignment = sizeof(max_align_t);
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + alignment - 1) / alignment * alignment;
    ArenaBlock *block = arena->blocks;
    if (!block || block->capacity - block->used < size) {
        size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof *block + capacity);
        if (!block) return NULL;
        *block = (ArenaBlock){arena->blocks, capacity, 0};
        arena->blocks = block;
    }
    void *taken = (char *)block->bytes + block->used;
    block->used += size;
    return memset(taken, 0, size);
}

void *larder_arena_copy(Arena *arena, const void *bytes, size_t length) {
    void *copy = larder_arena_take(arena, length + 1);
    if (copy && length > 0) memcpy(copy, bytes, length);
    return copy;
}

char *larder_arena_text(Arena *arena, const char *text) {
    // The server reports a name that is missing.
    if (!text) text = "";
    return larder_arena_copy(arena, text, strlen(text));
}

void **larder_arena_grow(Arena *arena, void **items, size_t count) {
    // Full at the powers of two.
    if (count > 0 && (count & (count - 1)) != 0) return items;
    size_t capacity = count > 0 ? 2 * count : 1;
    if (capacity > SIZE_MAX / 4 / sizeof *items) return NULL;
    void **grown = larder_arena_take(arena, capacity * sizeof *items);
    if (grown && count > 0) memcpy(grown, items, count * sizeof *items);
    return grown;
}

void larder_arena_free(Arena *arena) {
    while (arena->blocks) {
        ArenaBlock *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
