/* What the halves of the walker share: the library, the luck, and the count of
 * what it answered. */
#ifndef WALKER_H
#define WALKER_H

#include <stdint.h>
#include "library.h"

#define DATABASES 13

extern struct library db;

struct met {
	uint64_t calls, errors;
	/* The transaction at hand can only be aborted. */
	int failed;
};

extern struct met met;

/* Numbers that follow from the seed of the walk. */
uint64_t luck(void);
unsigned below(unsigned bound);
int chance(unsigned percent);
MDB_val noise(void *room, size_t length);

/* Counts a call; gives back its result. */
int see(int rc);

/* Looks at octets that were lent: they must be there. */
void touch(MDB_val value);

/* The main database and those that the keys in it name. */
unsigned databases(MDB_txn *txn, MDB_dbi *dbis);
/* Everything that can be asked about a database. */
void read_database(MDB_txn *txn, MDB_dbi dbi);

/* walker_write.c: some transactions, each with some changes. */
void change(MDB_env *env);

#endif
