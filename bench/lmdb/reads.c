/* Workloads that only read. */
#include <string.h>
#include "workload.h"

static uint64_t scan(struct side *side, MDB_cursor_op first, MDB_cursor_op next)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	MDB_cursor *cursor = open_cursor(side, txn);
	MDB_val key, data;
	uint64_t sum = 0;
	int rc = side->db.cursor_get(cursor, &key, &data, first);
	for (; !rc; rc = side->db.cursor_get(cursor, &key, &data, next)) {
		sum = digest(digest(sum, &key), &data);
		side->operations++;
	}
	if (rc != MDB_NOTFOUND)
		MUST_(side, rc);
	side->db.cursor_close(cursor);
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t scan_forward(struct side *side)
{
	return scan(side, MDB_FIRST, MDB_NEXT);
}

static uint64_t scan_backward(struct side *side)
{
	return scan(side, MDB_LAST, MDB_PREV);
}

static uint64_t scan_keys(struct side *side)
{
	return scan(side, MDB_FIRST, MDB_NEXT_NODUP);
}

static uint64_t get_random(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		char name[17];
		MDB_val key = { 16, name }, data;
		record_key(name, mix(6, i) % side->size->read_records);
		MUST_(side, side->db.get(txn, side->dbi, &key, &data));
		sum = digest(sum, &data);
	}
	side->operations = side->size->operations;
	side->db.txn_abort(txn);
	return sum;
}

/* Keys of one question. */
#define MANY 128

/* The values of many keys at once, where the library can be asked so; else one after the other. */
static uint64_t get_random_many(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	uint64_t sum = 0, rounds = side->size->operations / MANY;
	for (uint64_t i = 0; i < rounds; i++) {
		char names[MANY][17];
		MDB_val keys[MANY], data[MANY];
		for (uint64_t j = 0; j < MANY; j++) {
			record_key(names[j], mix(6, i * MANY + j) % side->size->read_records);
			keys[j] = (MDB_val){ 16, names[j] };
		}
		if (side->db.get_many)
			MUST_(side, side->db.get_many(txn, side->dbi, MANY, keys, data, NULL));
		for (uint64_t j = 0; j < MANY; j++) {
			if (!side->db.get_many)
				MUST_(side, side->db.get(txn, side->dbi, &keys[j], &data[j]));
			sum = digest(sum, &data[j]);
		}
	}
	side->operations = rounds * MANY;
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t get_missing(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		char name[17];
		MDB_val key = { 15, name }, data;
		record_key(name, mix(6, i) % side->size->read_records);
		sum += (uint64_t)-side->db.get(txn, side->dbi, &key, &data);
	}
	side->operations = side->size->operations;
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t get_number(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		uint64_t number = mix(3, mix(7, i) % side->size->number_records);
		MDB_val key = { 8, &number }, data;
		MUST_(side, side->db.get(txn, side->dbi, &key, &data));
		sum = digest(sum, &data);
	}
	side->operations = side->size->operations;
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t range(struct side *side, int records)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	MDB_cursor *cursor = open_cursor(side, txn);
	uint64_t sum = 0, rounds = side->size->operations / records;
	for (uint64_t i = 0; i < rounds; i++) {
		char name[17];
		MDB_val key = { 12, name }, data;
		record_key(name, mix(8, i) % side->size->read_records);
		int rc = side->db.cursor_get(cursor, &key, &data, MDB_SET_RANGE);
		for (int j = 0; !rc && j < records; j++) {
			sum = digest(digest(sum, &key), &data);
			rc = side->db.cursor_get(cursor, &key, &data, MDB_NEXT);
		}
	}
	side->operations = rounds;
	side->db.cursor_close(cursor);
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t range_and_ten(struct side *side)
{
	return range(side, 10);
}

static uint64_t range_and_hundred(struct side *side)
{
	return range(side, 100);
}

static uint64_t begin_get_abort(struct side *side)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		char name[17];
		MDB_val key = { 16, name }, data;
		record_key(name, i % 100);
		MDB_txn *txn = begin(side, MDB_RDONLY);
		MUST_(side, side->db.get(txn, side->dbi, &key, &data));
		sum = digest(sum, &data);
		side->db.txn_abort(txn);
	}
	side->operations = side->size->operations;
	return sum;
}

static uint64_t begin_abort(struct side *side)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		MDB_txn *txn = begin(side, MDB_RDONLY);
		sum += side->db.txn_id(txn);
		side->db.txn_abort(txn);
	}
	side->operations = side->size->operations;
	return sum;
}

static uint64_t reset_renew(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		side->db.txn_reset(txn);
		MUST_(side, side->db.txn_renew(txn));
		sum += side->db.txn_id(txn);
	}
	side->operations = side->size->operations;
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t cursor_open_close(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	for (uint64_t i = 0; i < side->size->operations; i++)
		side->db.cursor_close(open_cursor(side, txn));
	side->operations = side->size->operations;
	side->db.txn_abort(txn);
	return 0;
}

/* Key by key, duplicate by duplicate. */
static uint64_t dups_of_each(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	MDB_cursor *cursor = open_cursor(side, txn);
	MDB_val key, data;
	uint64_t sum = 0;
	int rc = side->db.cursor_get(cursor, &key, &data, MDB_FIRST);
	while (!rc) {
		size_t count;
		MUST_(side, side->db.cursor_count(cursor, &count));
		sum += count;
		do {
			sum = digest(sum, &data);
			side->operations++;
		} while (!side->db.cursor_get(cursor, &key, &data, MDB_NEXT_DUP));
		rc = side->db.cursor_get(cursor, &key, &data, MDB_NEXT_NODUP);
	}
	side->db.cursor_close(cursor);
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t dup_blocks(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	MDB_cursor *cursor = open_cursor(side, txn);
	MDB_val key, data;
	uint64_t sum = 0;
	for (int again = 0; again < 10; again++) {
		int rc = side->db.cursor_get(cursor, &key, &data, MDB_FIRST);
		while (!rc) {
			rc = side->db.cursor_get(cursor, &key, &data, MDB_GET_MULTIPLE);
			while (!rc) {
				sum = digest(sum, &data);
				side->operations += data.mv_size / 8;
				rc = side->db.cursor_get(cursor, &key, &data, MDB_NEXT_MULTIPLE);
			}
			rc = side->db.cursor_get(cursor, &key, &data, MDB_NEXT_NODUP);
		}
	}
	side->db.cursor_close(cursor);
	side->db.txn_abort(txn);
	return sum;
}

static uint64_t get_pair(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	MDB_cursor *cursor = open_cursor(side, txn);
	uint64_t sum = 0, pairs = side->size->dup_keys * side->size->dups_each;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		char name[17], text[25];
		uint64_t at = mix(9, i) % pairs;
		MDB_val key = { 16, name }, data = { 24, text };
		sorted_key(name, at % side->size->dup_keys);
		dup_value(text, at % side->size->dup_keys, at / side->size->dup_keys);
		MUST_(side, side->db.cursor_get(cursor, &key, &data, MDB_GET_BOTH));
		sum = digest(sum, &data);
	}
	side->operations = side->size->operations;
	side->db.cursor_close(cursor);
	side->db.txn_abort(txn);
	return sum;
}

/* The first bytes only: what a map is for. */
static uint64_t get_large(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	uint64_t sum = 0;
	for (uint64_t i = 0; i < side->size->operations; i++) {
		char name[17];
		MDB_val key = { 16, name }, data;
		sorted_key(name, mix(10, i) % side->size->large_records);
		MUST_(side, side->db.get(txn, side->dbi, &key, &data));
		sum = digest(sum, &data);
	}
	side->operations = side->size->operations;
	side->db.txn_abort(txn);
	return sum;
}

const struct workload read_workloads[] = {
	{ "scan", "sequential read, NEXT", RECORDS, 0, scan_forward, NULL },
	{ "scan-back", "sequential read, PREV", RECORDS, 0, scan_backward, NULL },
	{ "get", "random read, mdb_get", RECORDS, 0, get_random, NULL },
	{ "get-many", "the same, 128 at once (theirs: mdb_get)", RECORDS, 0, get_random_many, NULL },
	{ "get-missing", "mdb_get of absent keys", RECORDS, 0, get_missing, NULL },
	{ "get-number", "mdb_get, integer keys", NUMBERS, 0, get_number, NULL },
	{ "range", "SET_RANGE and 10 NEXT", RECORDS, 0, range_and_ten, NULL },
	{ "range-100", "SET_RANGE and 100 NEXT", RECORDS, 0, range_and_hundred, NULL },
	{ "begin", "read txn: begin, abort", RECORDS, 0, begin_abort, NULL },
	{ "begin-get", "read txn: begin, get, abort", RECORDS, 0, begin_get_abort, NULL },
	{ "renew", "read txn: reset, renew", RECORDS, 0, reset_renew, NULL },
	{ "cursor", "cursor: open, close", RECORDS, 0, cursor_open_close, NULL },
	{ "dup-scan", "duplicates (sub-databases), NEXT", DUPS, 0, scan_forward, NULL },
	{ "dup-back", "the same, PREV", DUPS, 0, scan_backward, NULL },
	{ "dup-each", "the same, count and NEXT_DUP", DUPS, 0, dups_of_each, NULL },
	{ "dup-get", "the same, GET_BOTH", DUPS, 0, get_pair, NULL },
	{ "few-scan", "duplicates (sub-pages), NEXT", FEW_DUPS, 0, scan_forward, NULL },
	{ "few-keys", "the same, NEXT_NODUP", FEW_DUPS, 0, scan_keys, NULL },
	{ "fixed-scan", "DUPFIXED, NEXT", FIXED, 0, scan_forward, NULL },
	{ "fixed-each", "DUPFIXED, NEXT_DUP", FIXED, 0, dups_of_each, NULL },
	{ "fixed-blocks", "DUPFIXED, GET_ and NEXT_MULTIPLE", FIXED, 0, dup_blocks, NULL },
	{ "get-large", "mdb_get of large values", LARGE, 0, get_large, NULL },
	{ NULL, NULL, EMPTY, 0, NULL, NULL }
};
