/* One step of one writer: everything that must become visible together. */
#include <stdarg.h>
#include <string.h>
#include "torture.h"

uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xd1b54a32d192ed03u + 0x632be59bd9b4e019u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void fill(void *to, size_t length, uint64_t seed)
{
	unsigned char *out = to;
	for (size_t at = 0; at < length; at += 8) {
		uint64_t word = mix(seed, at);
		memcpy(out + at, &word, length - at < 8 ? length - at : 8);
	}
}

/* Keys are scattered over the tree, and say whose they are. */
size_t item_key(char to[40], unsigned w, uint64_t i)
{
	return (size_t)sprintf(to, "%016llx-%u-%08llu", (unsigned long long)mix(w + 1, i), w, (unsigned long long)i);
}

/* Short ones, ones around the limit of half a page, and overflow values. */
size_t item_length(unsigned w, uint64_t i, int rewritten)
{
	uint64_t h = mix(w + 100 + (rewritten ? 100 : 0), i);
	unsigned kind = h % 100;
	h >>= 8;
	if (kind < 70)
		return h % 200;
	if (kind < 90)
		return 200 + h % 1700;
	if (kind < 97)
		return 1900 + h % 300;
	return 4000 + h % 16000;
}

size_t dup_text(char to[80], unsigned w, uint64_t i)
{
	uint64_t h = mix(w + 300, i);
	return (size_t)sprintf(to, "%08x-%u-%010llu-%.*s", (unsigned)h, w, (unsigned long long)i, (int)(h >> 40) % 40,
		"........................................");
}

size_t private_text(char to[80], uint64_t i)
{
	return (size_t)sprintf(to, "%010llu%.*s", (unsigned long long)i, (int)(i % 7) * 5, "..............................");
}

/* Odd factors have an inverse modulo 2^64: any value found tells its number. */
#define FACTOR 0x9e3779b97f4a7c15u
#define INVERSE 0xf1de83e19937733du

uint64_t fixed_scatter(uint64_t i)
{
	return i * FACTOR;
}

uint64_t fixed_gather(uint64_t value)
{
	return value * INVERSE;
}

int open_handles(MDB_txn *txn, struct handles *h, unsigned flags)
{
	int rc = db.dbi_open(txn, NULL, 0, &h->main);
	if (!rc)
		rc = db.dbi_open(txn, "ledger", flags, &h->ledger);
	if (!rc)
		rc = db.dbi_open(txn, "items", flags, &h->items);
	if (!rc)
		rc = db.dbi_open(txn, "dups", flags | MDB_DUPSORT, &h->dups);
	if (!rc)
		rc = db.dbi_open(txn, "fixed", flags | MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP, &h->fixed);
	for (unsigned w = 0; !rc && w < WRITERS; w++) {
		char name[8];
		sprintf(name, "own%u", w);
		rc = db.dbi_open(txn, name, flags, &h->own[w]);
	}
	return rc;
}

static int get_number(MDB_txn *txn, MDB_dbi dbi, const char *name, uint64_t *number)
{
	MDB_val key = { strlen(name), (void *)name }, data;
	int rc = db.get(txn, dbi, &key, &data);
	*number = 0;
	if (rc)
		return rc == MDB_NOTFOUND ? 0 : rc;
	if (data.mv_size != sizeof *number)
		wrong("\"%s\" has %zu bytes", name, data.mv_size);
	memcpy(number, data.mv_data, sizeof *number);
	return 0;
}

static int put_number(MDB_txn *txn, MDB_dbi dbi, const char *name, uint64_t number)
{
	MDB_val key = { strlen(name), (void *)name }, data = { sizeof number, &number };
	return db.put(txn, dbi, &key, &data, 0);
}

uint64_t count_of(MDB_txn *txn, const struct handles *h, unsigned w)
{
	char name[8];
	uint64_t number;
	if (w == WRITERS) {
		MUST(&db, get_number(txn, h->main, "total", &number));
	} else {
		sprintf(name, "w%u", w);
		MUST(&db, get_number(txn, h->ledger, name, &number));
	}
	return number;
}

/* What a step removes must be there. */
static int removed(int rc, const char *what, uint64_t i)
{
	if (rc == MDB_NOTFOUND)
		wrong("%s %llu should have been there to remove", what, (unsigned long long)i);
	return rc;
}

static int put_item(MDB_txn *txn, const struct handles *h, unsigned w, uint64_t i, int rewritten)
{
	char name[40];
	MDB_val key = { item_key(name, w, i), name }, data = { item_length(w, i, rewritten), NULL };
	uint64_t seed = mix(w, i * 2 + (uint64_t)rewritten);
	if (i % 3 == 0) {
		int rc = db.put(txn, h->items, &key, &data, MDB_RESERVE);
		if (!rc)
			fill(data.mv_data, data.mv_size, seed);
		return rc;
	}
	static uint64_t room[20000 / 8 + 1];
	fill(room, data.mv_size, seed);
	data.mv_data = room;
	return db.put(txn, h->items, &key, &data, rewritten ? 0 : MDB_NOOVERWRITE);
}

static int step_items(MDB_txn *txn, const struct handles *h, unsigned w, uint64_t n)
{
	int rc = put_item(txn, h, w, n, 0);
	if (!rc && n > ITEMS_KEPT / 2)
		rc = put_item(txn, h, w, n - ITEMS_KEPT / 2, 1);
	if (!rc && n > ITEMS_KEPT) {
		char name[40];
		MDB_val key = { item_key(name, w, n - ITEMS_KEPT), name };
		rc = removed(db.del(txn, h->items, &key, NULL), "item", n - ITEMS_KEPT);
	}
	return rc;
}

static int step_dups(MDB_txn *txn, const struct handles *h, unsigned w, uint64_t n)
{
	char name[8], text[80];
	sprintf(name, "k%u", (unsigned)(n % 5));
	MDB_val key = { 2, name }, data = { dup_text(text, w, n), text };
	int rc = db.put(txn, h->dups, &key, &data, MDB_NODUPDATA);
	if (!rc && n > DUPS_KEPT) {
		data.mv_size = dup_text(text, w, n - DUPS_KEPT);
		rc = removed(db.del(txn, h->dups, &key, &data), "duplicate", n - DUPS_KEPT);
	}
	return rc;
}

/* Grows from one item through a sub-page to a tree, and is deleted whole. */
static int step_private(MDB_txn *txn, const struct handles *h, unsigned w, uint64_t n)
{
	char name[8], text[80];
	MDB_val key = { (size_t)sprintf(name, "p%u", w), name }, data = { private_text(text, n), text };
	if (n % PRIVATE_ROUND)
		return db.put(txn, h->dups, &key, &data, n % 2 ? MDB_APPENDDUP : 0);
	if (n / PRIVATE_ROUND % 2)
		return removed(db.del(txn, h->dups, &key, NULL), "private key", n);
	MDB_cursor *cursor;
	int rc = db.cursor_open(txn, h->dups, &cursor);
	if (!rc) {
		rc = removed(db.cursor_get(cursor, &key, &data, MDB_SET), "private key", n);
		if (!rc)
			rc = db.cursor_del(cursor, MDB_NODUPDATA);
		db.cursor_close(cursor);
	}
	return rc;
}

static int step_fixed(MDB_txn *txn, const struct handles *h, unsigned w, uint64_t n)
{
	uint64_t values[FIXED_STEP];
	uint32_t whose = w;
	MDB_val key = { sizeof whose, &whose };
	MDB_val many[2] = { { sizeof *values, values }, { FIXED_STEP, NULL } };
	for (unsigned j = 0; j < FIXED_STEP; j++)
		values[j] = fixed_scatter(n * FIXED_STEP + j);
	MDB_cursor *cursor;
	int rc = db.cursor_open(txn, h->fixed, &cursor);
	if (rc)
		return rc;
	rc = db.cursor_put(cursor, &key, many, MDB_MULTIPLE);
	if (!rc && many[1].mv_size != FIXED_STEP)
		wrong("MULTIPLE stored %zu of %u", many[1].mv_size, FIXED_STEP);
	for (unsigned j = 0; !rc && n > FIXED_KEPT && j < FIXED_STEP; j++) {
		uint64_t old = fixed_scatter((n - FIXED_KEPT) * FIXED_STEP + j);
		MDB_val data = { sizeof old, &old };
		rc = removed(db.cursor_get(cursor, &key, &data, MDB_GET_BOTH), "fixed", n - FIXED_KEPT);
		if (!rc)
			rc = db.cursor_del(cursor, 0);
	}
	db.cursor_close(cursor);
	return rc;
}

static int step_own(MDB_txn *txn, struct handles *h, unsigned w, uint64_t n)
{
	if (n % OWN_DROPPED == 0) {
		char name[8];
		sprintf(name, "own%u", w);
		int rc = db.drop(txn, h->own[w], 1);
		return rc ? rc : db.dbi_open(txn, name, MDB_CREATE, &h->own[w]);
	}
	if (n % OWN_ROUND == 0)
		return db.drop(txn, h->own[w], 0);
	int rc = 0;
	for (unsigned j = 0; !rc && j < OWN_STEP; j++) {
		uint64_t i = n * OWN_STEP + j, value[8];
		char name[24];
		MDB_val key = { (size_t)sprintf(name, "%016llx", (unsigned long long)i), name }, data = { sizeof value, value };
		fill(value, sizeof value, mix(w + 500, i));
		rc = db.put(txn, h->own[w], &key, &data, MDB_APPEND);
	}
	return rc;
}

int step(MDB_txn *txn, struct handles *h, unsigned w, uint64_t n)
{
	char name[8];
	sprintf(name, "w%u", w);
	int rc = put_number(txn, h->ledger, name, n);
	if (!rc)
		rc = put_number(txn, h->main, "total", count_of(txn, h, WRITERS) + 1);
	if (!rc)
		rc = step_items(txn, h, w, n);
	if (!rc)
		rc = step_dups(txn, h, w, n);
	if (!rc)
		rc = step_private(txn, h, w, n);
	if (!rc)
		rc = step_fixed(txn, h, w, n);
	if (!rc)
		rc = step_own(txn, h, w, n);
	return rc;
}

/* Deletes a run of records at one end. Each is sought anew: 0.9.24 can crash
 * when one cursor deletes duplicates and goes on. */
static int delete_run(MDB_txn *txn, MDB_dbi dbi, uint64_t seed)
{
	MDB_cursor *cursor;
	MDB_val key, data;
	int rc = db.cursor_open(txn, dbi, &cursor);
	if (rc)
		return rc;
	for (unsigned i = 0; !rc && i < seed % 60; i++) {
		rc = db.cursor_get(cursor, &key, &data, seed % 2 ? MDB_FIRST : MDB_LAST);
		if (!rc)
			rc = db.cursor_del(cursor, seed % 7 ? 0 : MDB_NODUPDATA);
	}
	db.cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int vandalise(MDB_txn *txn, const struct handles *h, uint64_t seed)
{
	int rc = put_number(txn, h->main, "total", seed);
	for (unsigned i = 0; !rc && i < 30; i++) {
		uint64_t junk[40];
		fill(junk, sizeof junk, seed + i);
		MDB_val key = { 8, junk }, data = { 8 + junk[1] % 250, junk };
		rc = db.put(txn, h->items, &key, &data, 0);
		key.mv_data = "k3";
		key.mv_size = 2;
		if (!rc)
			rc = db.put(txn, h->dups, &key, &data, 0);
	}
	if (!rc)
		rc = delete_run(txn, h->items, seed);
	if (!rc)
		rc = delete_run(txn, h->dups, seed >> 8);
	if (!rc)
		rc = delete_run(txn, h->fixed, seed >> 16);
	if (!rc && seed >> 24 & 1)
		rc = db.drop(txn, seed >> 25 & 1 ? h->dups : h->items, 0);
	return rc;
}
