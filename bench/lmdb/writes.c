/* Workloads that write, without syncing. */
#include <string.h>
#include "workload.h"

#define BATCH 1000

/* Runs `put` for a number of operations, committing after each batch. */
static uint64_t in_batches(struct side *side, uint64_t operations, uint64_t batch,
	int (*work)(struct side *, MDB_txn *, uint64_t))
{
	for (uint64_t i = 0; i < operations;) {
		MDB_txn *txn = begin(side, 0);
		for (uint64_t j = 0; j < batch && i < operations; j++, i++)
			MUST_(side, work(side, txn, i));
		commit(side, txn);
	}
	side->operations = operations;
	return 0;
}

static int put(struct side *side, MDB_txn *txn, const char *name, uint64_t i, unsigned flags)
{
	char text[100];
	memset(text, 'a' + (int)(i % 26), sizeof text);
	memcpy(text, &i, 8);
	MDB_val key = { 16, (void *)name }, data = { sizeof text, text };
	return side->db.put(txn, side->dbi, &key, &data, flags);
}

static int put_random(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	record_key(name, i + (1u << 30));
	return put(side, txn, name, i, 0);
}

static int put_over(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	record_key(name, mix(11, i) % side->size->write_records);
	return put(side, txn, name, i + 1, 0);
}

static int put_ascending(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	sorted_key(name, i);
	return put(side, txn, name, i, 0);
}

static int append(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	sorted_key(name, i);
	return put(side, txn, name, i, MDB_APPEND);
}

static int reserve(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	record_key(name, i + (1u << 30));
	MDB_val key = { 16, name }, data = { 100, NULL };
	int rc = side->db.put(txn, side->dbi, &key, &data, MDB_RESERVE);
	if (!rc)
		memset(data.mv_data, 'r', 100);
	return rc;
}

static int del_random(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	record_key(name, i);
	MDB_val key = { 16, name };
	return side->db.del(txn, side->dbi, &key, NULL);
}

static int put_dup(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17], text[25];
	uint64_t key_at = mix(12, i) % side->size->dup_keys;
	sorted_key(name, key_at);
	dup_value(text, key_at + 1000, i);
	MDB_val key = { 16, name }, data = { 24, text };
	return side->db.put(txn, side->dbi, &key, &data, 0);
}

static int del_dup(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17], text[25];
	sorted_key(name, i % side->size->dup_keys);
	dup_value(text, i % side->size->dup_keys, i / side->size->dup_keys);
	MDB_val key = { 16, name }, data = { 24, text };
	return side->db.del(txn, side->dbi, &key, &data);
}

static int put_few_dup(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17], text[25];
	uint64_t key_at = mix(13, i) % side->size->few_keys;
	record_key(name, key_at);
	dup_value(text, key_at + 1000, i);
	MDB_val key = { 16, name }, data = { 12, text };
	return side->db.put(txn, side->dbi, &key, &data, 0);
}

static int put_number(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	uint64_t number = mix(14, i);
	sorted_key(name, mix(15, i) % side->size->dup_keys);
	MDB_val key = { 16, name }, data = { 8, &number };
	return side->db.put(txn, side->dbi, &key, &data, 0);
}

/* 100 at once. */
static int put_many(struct side *side, MDB_txn *txn, uint64_t i)
{
	char name[17];
	uint64_t numbers[100];
	for (uint64_t j = 0; j < 100; j++)
		numbers[j] = (i << 32) + j;
	sorted_key(name, i % side->size->dup_keys);
	MDB_val key = { 16, name }, data[2] = { { 8, numbers }, { 100, NULL } };
	MDB_cursor *cursor = open_cursor(side, txn);
	int rc = side->db.cursor_put(cursor, &key, data, MDB_MULTIPLE);
	side->db.cursor_close(cursor);
	return rc;
}

static int put_large(struct side *side, MDB_txn *txn, uint64_t i)
{
	static uint64_t large[1 << 15];
	char name[17];
	sorted_key(name, i);
	large[0] = i;
	MDB_val key = { 16, name }, data = { side->size->large_bytes, large };
	return side->db.put(txn, side->dbi, &key, &data, 0);
}

static int put_nested(struct side *side, MDB_txn *txn, uint64_t i)
{
	MDB_txn *child;
	int rc = side->db.txn_begin(side->env, txn, 0, &child);
	if (!rc)
		rc = put_over(side, child, i);
	return rc ? rc : side->db.txn_commit(child);
}

static int abort_nested(struct side *side, MDB_txn *txn, uint64_t i)
{
	MDB_txn *child;
	int rc = side->db.txn_begin(side->env, txn, 0, &child);
	if (!rc)
		rc = put_over(side, child, i);
	side->db.txn_abort(child);
	return rc;
}

#define BATCHED(name, work, operations, batch) \
	static uint64_t name(struct side *side) \
	{ \
		return in_batches(side, operations, batch, work); \
	}

BATCHED(write_random, put_random, side->size->operations / 2, BATCH)
BATCHED(write_over, put_over, side->size->operations / 2, BATCH)
BATCHED(write_reserved, reserve, side->size->operations / 2, BATCH)
BATCHED(write_sorted, put_ascending, side->size->operations, BATCH)
BATCHED(write_append, append, side->size->operations, BATCH)
BATCHED(write_one_txn, put_random, side->size->operations / 2, ~0u)
BATCHED(write_single, put_over, side->size->operations / 20, 1)
BATCHED(delete_random, del_random, side->size->write_records, BATCH)
BATCHED(write_dups, put_dup, side->size->operations / 2, BATCH)
BATCHED(delete_dups, del_dup, side->size->operations / 4, BATCH)
BATCHED(write_few_dups, put_few_dup, side->size->operations / 2, BATCH)
BATCHED(write_numbers, put_number, side->size->operations / 2, BATCH)
BATCHED(write_many, put_many, side->size->operations / 50, 10)
BATCHED(write_large, put_large, side->size->large_records, 10)
BATCHED(write_nested, put_nested, side->size->operations / 20, 100)
BATCHED(drop_nested, abort_nested, side->size->operations / 20, 100)

/* With a cursor that stays open. */
static uint64_t cursor_sorted(struct side *side)
{
	uint64_t operations = side->size->operations;
	for (uint64_t i = 0; i < operations;) {
		MDB_txn *txn = begin(side, 0);
		MDB_cursor *cursor = open_cursor(side, txn);
		for (int j = 0; j < BATCH && i < operations; j++, i++) {
			char name[17], text[100];
			sorted_key(name, i);
			memset(text, 'c', sizeof text);
			MDB_val key = { 16, name }, data = { sizeof text, text };
			MUST_(side, side->db.cursor_put(cursor, &key, &data, 0));
		}
		side->db.cursor_close(cursor);
		commit(side, txn);
	}
	side->operations = operations;
	return 0;
}

static uint64_t empty_writes(struct side *side)
{
	uint64_t operations = side->size->operations;
	for (uint64_t i = 0; i < operations; i++)
		side->db.txn_abort(begin(side, 0));
	side->operations = operations;
	return 0;
}

/* A quarter of all records go while a cursor walks over them. */
static uint64_t cursor_delete(struct side *side)
{
	MDB_txn *txn = begin(side, 0);
	MDB_cursor *cursor = open_cursor(side, txn);
	MDB_val key, data;
	uint64_t i = 0;
	while (!side->db.cursor_get(cursor, &key, &data, MDB_NEXT))
		if (i++ % 4 == 0)
			MUST_(side, side->db.cursor_del(cursor, 0));
	side->db.cursor_close(cursor);
	commit(side, txn);
	side->operations = i;
	return i;
}

/* A reader that keeps its snapshot while everything is overwritten, and ends. */
static void long_reader(struct side *side)
{
	MDB_txn *reader = begin(side, MDB_RDONLY);
	for (uint64_t round = 0; round < 4; round++) {
		MDB_txn *txn = begin(side, 0);
		for (uint64_t i = 0; i < side->size->write_records; i += 20)
			MUST_(side, put_over(side, txn, i + round));
		commit(side, txn);
	}
	side->db.txn_abort(reader);
}

static uint64_t write_after_reader(struct side *side)
{
	return in_batches(side, side->size->operations / 100, 1, put_over);
}

/* Values of a page each, of which every other one is deleted: a free list without two neighbours. */
static void fragments(struct side *side)
{
	static char page[3000];
	uint64_t records = side->size->write_records / 10;
	MDB_txn *txn = begin(side, 0);
	for (uint64_t i = 0; i < records; i++) {
		char name[17];
		record_key(name, i);
		MDB_val key = { 16, name }, data = { sizeof page, page };
		MUST_(side, side->db.put(txn, side->dbi, &key, &data, 0));
	}
	commit(side, txn);
	txn = begin(side, 0);
	for (uint64_t i = 0; i < records; i += 2)
		MUST_(side, del_random(side, txn, i));
	commit(side, txn);
	for (uint64_t i = 0; i < 3; i++) {
		txn = begin(side, 0);
		MUST_(side, put_ascending(side, txn, i));
		commit(side, txn);
	}
}

static uint64_t write_large_single(struct side *side)
{
	return in_batches(side, side->size->large_records / 4, 1, put_large);
}

const struct workload write_workloads[] = {
	{ "put", "random put, 1,000 per txn", SOME, 1, write_random, NULL },
	{ "put-over", "overwrite, 1,000 per txn", SOME, 1, write_over, NULL },
	{ "put-reserve", "random put, RESERVE, 1,000 per txn", SOME, 1, write_reserved, NULL },
	{ "put-one-txn", "random put, all in one txn", EMPTY, 1, write_one_txn, NULL },
	{ "put-single", "overwrite, one per txn", SOME, 1, write_single, NULL },
	{ "put-sorted", "ascending put, 1,000 per txn", EMPTY, 1, write_sorted, NULL },
	{ "append", "APPEND, 1,000 per txn", EMPTY, 1, write_append, NULL },
	{ "cursor-put", "ascending cursor_put, 1,000 per txn", EMPTY, 1, cursor_sorted, NULL },
	{ "del", "random delete, 1,000 per txn", SOME, 1, delete_random, NULL },
	{ "cursor-del", "NEXT over all, every 4th deleted", SOME, 1, cursor_delete, NULL },
	{ "dup-put", "duplicates (sub-databases), 1,000 per txn", DUPS, 1, write_dups, NULL },
	{ "dup-del", "the same, delete", DUPS, 1, delete_dups, NULL },
	{ "few-put", "duplicates (sub-pages), 1,000 per txn", FEW_DUPS, 1, write_few_dups, NULL },
	{ "fixed-put", "DUPFIXED, 1,000 per txn", FIXED, 1, write_numbers, NULL },
	{ "fixed-many", "MULTIPLE, 100 at once, 10 per txn", FIXED, 1, write_many, NULL },
	{ "put-large", "large values, 10 per txn", EMPTY, 1, write_large, NULL },
	{ "nested", "nested txn: begin, overwrite, commit", SOME, 1, write_nested, NULL },
	{ "nested-abort", "nested txn: begin, overwrite, abort", SOME, 1, drop_nested, NULL },
	{ "begin-write", "write txn: begin, abort", SOME, 1, empty_writes, NULL },
	{ "put-after", "overwrite, one per txn, after a long reader", SOME, 1, write_after_reader, long_reader },
	{ "put-fragments", "large values, one per txn, in a fragmented file", EMPTY, 1, write_large_single, fragments },
	{ NULL, NULL, EMPTY, 0, NULL, NULL }
};
