/* What a workload is, and the environment it works on. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdint.h>
#include "library.h"

/* What an environment holds when a workload begins. */
enum content {
	EMPTY,     /* nothing */
	RECORDS,   /* READ_RECORDS keys of 16 bytes with values of 100 */
	SOME,      /* WRITE_RECORDS of the same */
	NUMBERS,   /* NUMBER_RECORDS integer keys with values of 8 bytes */
	DUPS,      /* DUP_KEYS keys with DUPS_EACH duplicates of 24 bytes */
	FEW_DUPS,  /* FEW_KEYS keys with 8 duplicates of 12 bytes: sub-pages */
	FIXED,     /* DUP_KEYS keys with FIXED_EACH integers */
	LARGE,     /* LARGE_RECORDS values of LARGE_BYTES */
	CONTENTS
};

/* Sizes, divided by `scale` where counting instructions is slow. */
struct sizes {
	uint64_t read_records, write_records, number_records;
	uint64_t dup_keys, dups_each, few_keys, fixed_each;
	uint64_t large_records, large_bytes;
	uint64_t operations;
};

/* One library with its open environment. */
struct side {
	struct library db;
	char folder[512];
	MDB_env *env;
	MDB_dbi dbi;
	const struct sizes *size;
	uint64_t operations; /* done by the workload: what its time is divided by */
};

struct workload {
	const char *name, *meaning;
	enum content content;
	int writes; /* begins with a fresh copy of its content each time */
	/* The measured work. Its result depends on every answer, and must be the same for all libraries. */
	uint64_t (*run)(struct side *side);
	/* What comes before and is not measured; may be missing. */
	void (*prepare)(struct side *side);
};

extern const struct workload read_workloads[], write_workloads[];

uint64_t mix(uint64_t a, uint64_t b);
/* Key i of RECORDS, scattered; 16 bytes. */
void record_key(char key[17], uint64_t i);
/* Key i in ascending order; 16 bytes. */
void sorted_key(char key[17], uint64_t i);
/* Duplicate i of a key, scattered; 24 bytes. */
void dup_value(char value[25], uint64_t key, uint64_t i);
/* Fills a database with a content; in transactions. */
void fill_content(struct side *side, enum content content);
unsigned database_flags(enum content content);
uint64_t digest(uint64_t so_far, const MDB_val *value);

#define MUST_(side, call) MUST(&(side)->db, (call))

static inline MDB_txn *begin(struct side *side, unsigned flags)
{
	MDB_txn *txn;
	MUST_(side, side->db.txn_begin(side->env, NULL, flags, &txn));
	return txn;
}

static inline void commit(struct side *side, MDB_txn *txn)
{
	MUST_(side, side->db.txn_commit(txn));
}

static inline MDB_cursor *open_cursor(struct side *side, MDB_txn *txn)
{
	MDB_cursor *cursor;
	MUST_(side, side->db.cursor_open(txn, side->dbi, &cursor));
	return cursor;
}

#endif
