// The needs of feed.c in a store: writers that commit a student together with an event, and
// subscribers that wait for events. An event has a number, from 1 after each reset.
#pragma once
#include "../peer.h"

// Removes all students and events.
void reset_store(void);

void *open_writer(void);

// Commits the student with a number, and its event in the same transaction. The commit is durable
// when this returns.
void commit_student(void *writer, int64_t number);

void close_writer(void *writer);

// Connects, and is subscribed when this returns.
void *open_subscriber(void);

// Waits for the next event and returns its number.
int64_t next_event(void *subscriber);

// Reads commands; results are written to the file.
void measure_feed(const char *file);
