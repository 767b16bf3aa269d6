// The tests of the library on a server with schema.json and an empty store.
#ifndef LARDER_SERVER_H
#define LARDER_SERVER_H

#include <stdio.h>
#include <string.h>

#include "check.h"

extern larder_client *client;
extern larder_error error;

// Inserts an author.
larder_identifier insert_author(const char *name);
// Inserts books of an author, whose years count from 1990, in one transaction.
void insert_books(const larder_identifier *author, int count);
int64_t count_of(const char *entity, const char *where);
void delete_all(const char *entity);

void test_reading(void);
void test_writing(void);
void test_live(void);

#endif
