/* Judges a snapshot: every record must be what its writer's count says. */
#include <string.h>
#include "torture.h"

/* The snapshot that is being judged. */
struct snapshot {
	MDB_txn *txn;
	const struct handles *h;
	const uint64_t *counts;
};

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int move(MDB_cursor *cursor, MDB_val *key, MDB_val *data, MDB_cursor_op op, const char *what)
{
	int rc = db.cursor_get(cursor, key, data, op);
	if (rc && rc != MDB_NOTFOUND)
		wrong("cursor_get(%d) in %s: %d", op, what, rc);
	return rc;
}

/* Walks from one end to the other. Not with PREV alone: 0.9.24 answers a fresh
 * cursor's PREV in a database with duplicates wrongly. */
static int walk(MDB_cursor *cursor, MDB_val *key, MDB_val *data, int first, int backwards, const char *what)
{
	if (first)
		return move(cursor, key, data, backwards ? MDB_LAST : MDB_FIRST, what);
	return move(cursor, key, data, backwards ? MDB_PREV : MDB_NEXT, what);
}

static void expect_count(const struct snapshot *s, const char *what, MDB_dbi dbi, uint64_t seen, uint64_t expected)
{
	MDB_stat stat;
	MUST(&db, db.stat(s->txn, dbi, &stat));
	if (seen != expected || stat.ms_entries != expected)
		wrong("%s: %llu records seen, %zu in the statistics, expected %llu", what, (unsigned long long)seen,
			stat.ms_entries, (unsigned long long)expected);
}

static void verify_item(const struct snapshot *s, const MDB_val *key, const MDB_val *data)
{
	static uint64_t room[20000 / 8 + 1];
	char text[64], expected[40];
	unsigned w;
	unsigned long long hash, i;
	snprintf(text, sizeof text, "%.*s", (int)key->mv_size, (char *)key->mv_data);
	if (sscanf(text, "%16llx-%1u-%llu", &hash, &w, &i) != 3 || w >= WRITERS
		|| item_key(expected, w, i) != key->mv_size || strcmp(text, expected))
		wrong("items: strange key %s", text);
	uint64_t n = s->counts[w];
	if (i > n || i + ITEMS_KEPT <= n)
		wrong("items: %s with count %llu", text, (unsigned long long)n);
	int rewritten = i + ITEMS_KEPT / 2 <= n;
	if (data->mv_size != item_length(w, i, rewritten))
		wrong("items: %s has %zu bytes with count %llu", text, data->mv_size, (unsigned long long)n);
	fill(room, data->mv_size, mix(w, i * 2 + (uint64_t)rewritten));
	if (memcmp(room, data->mv_data, data->mv_size))
		wrong("items: %s has a foreign value with count %llu", text, (unsigned long long)n);
}

static void verify_items(const struct snapshot *s, int backwards)
{
	MDB_cursor *cursor;
	MDB_val key, data;
	char last[40] = "";
	uint64_t seen = 0, expected = 0;
	MUST(&db, db.cursor_open(s->txn, s->h->items, &cursor));
	while (!walk(cursor, &key, &data, seen == 0, backwards, "items")) {
		verify_item(s, &key, &data);
		int order = strncmp(last, key.mv_data, key.mv_size);
		if (seen++ && (backwards ? order <= 0 : order >= 0))
			wrong("items: %.*s after %s", (int)key.mv_size, (char *)key.mv_data, last);
		snprintf(last, sizeof last, "%.*s", (int)key.mv_size, (char *)key.mv_data);
	}
	db.cursor_close(cursor);
	for (unsigned w = 0; w < WRITERS; w++)
		expected += at_most(s->counts[w], ITEMS_KEPT);
	expect_count(s, "items", s->h->items, seen, expected);
}

static void verify_shared_dup(const struct snapshot *s, const MDB_val *key, const MDB_val *data)
{
	char text[80], expected[80];
	unsigned hash, w;
	unsigned long long i;
	snprintf(text, sizeof text, "%.*s", (int)data->mv_size, (char *)data->mv_data);
	if (sscanf(text, "%8x-%1u-%llu", &hash, &w, &i) != 3 || w >= WRITERS
		|| dup_text(expected, w, i) != data->mv_size || strcmp(text, expected))
		wrong("dups: strange duplicate %s", text);
	uint64_t n = s->counts[w];
	if (i > n || i + DUPS_KEPT <= n || ((char *)key->mv_data)[1] != (char)('0' + i % 5))
		wrong("dups: %s under %.*s with count %llu", text, (int)key->mv_size, (char *)key->mv_data,
			(unsigned long long)n);
}

static void verify_dups(const struct snapshot *s, int backwards)
{
	MDB_cursor *cursor;
	MDB_val key, data;
	uint64_t seen = 0, expected = 0, private[WRITERS] = { 0 };
	MUST(&db, db.cursor_open(s->txn, s->h->dups, &cursor));
	while (!walk(cursor, &key, &data, seen == 0, backwards, "dups")) {
		seen++;
		char kind = ((char *)key.mv_data)[0];
		unsigned w = (unsigned)((char *)key.mv_data)[1] - '0';
		if (key.mv_size != 2 || w >= WRITERS || (kind != 'p' && kind != 'k'))
			wrong("dups: strange key %.*s", (int)key.mv_size, (char *)key.mv_data);
		if (kind == 'k') {
			verify_shared_dup(s, &key, &data);
			continue;
		}
		uint64_t n = s->counts[w];
		uint64_t i = backwards ? n - private[w] : n - n % PRIVATE_ROUND + 1 + private[w];
		char text[80];
		if (private_text(text, i) != data.mv_size || memcmp(text, data.mv_data, data.mv_size))
			wrong("dups: %.*s under p%u with count %llu", (int)data.mv_size, (char *)data.mv_data, w,
				(unsigned long long)n);
		private[w]++;
	}
	for (unsigned w = 0; w < WRITERS; w++) {
		uint64_t many = s->counts[w] % PRIVATE_ROUND;
		if (private[w] != many)
			wrong("dups: %llu under p%u with count %llu", (unsigned long long)private[w], w,
				(unsigned long long)s->counts[w]);
		expected += at_most(s->counts[w], DUPS_KEPT) + many;
		char name[8];
		size_t counted = 0;
		key = (MDB_val){ (size_t)sprintf(name, "p%u", w), name };
		if (many) {
			MUST(&db, db.cursor_get(cursor, &key, &data, MDB_SET));
			MUST(&db, db.cursor_count(cursor, &counted));
		} else if (db.cursor_get(cursor, &key, &data, MDB_SET) != MDB_NOTFOUND) {
			wrong("dups: p%u is there without duplicates", w);
		}
		if (counted != many)
			wrong("dups: p%u counts %zu instead of %llu", w, counted, (unsigned long long)many);
	}
	db.cursor_close(cursor);
	expect_count(s, "dups", s->h->dups, seen, expected);
}

/* One block of packed integers; they ascend, also from block to block. */
static uint64_t verify_block(const struct snapshot *s, unsigned w, const MDB_val *block, uint64_t *last, int any)
{
	uint64_t n = s->counts[w];
	if (block->mv_size % 8)
		wrong("fixed: a block of %zu bytes", block->mv_size);
	for (size_t at = 0; at < block->mv_size; at += 8) {
		uint64_t value;
		memcpy(&value, (char *)block->mv_data + at, 8);
		uint64_t i = fixed_gather(value) / FIXED_STEP;
		if (i > n || i + FIXED_KEPT <= n || i == 0)
			wrong("fixed: number %llu under %u with count %llu", (unsigned long long)i, w, (unsigned long long)n);
		if ((any || at) && value <= *last)
			wrong("fixed: the integers under %u do not ascend", w);
		*last = value;
	}
	return block->mv_size / 8;
}

static void verify_fixed(const struct snapshot *s, int blocks)
{
	MDB_cursor *cursor;
	MDB_val key, data;
	uint64_t all = 0;
	MUST(&db, db.cursor_open(s->txn, s->h->fixed, &cursor));
	for (unsigned w = 0; w < WRITERS; w++) {
		uint32_t whose = w;
		uint64_t seen = 0, last = 0, expected = at_most(s->counts[w], FIXED_KEPT) * FIXED_STEP;
		key = (MDB_val){ sizeof whose, &whose };
		int rc = move(cursor, &key, &data, MDB_SET_KEY, "fixed");
		if (!rc && blocks)
			rc = move(cursor, &key, &data, MDB_GET_MULTIPLE, "fixed");
		while (!rc) {
			seen += verify_block(s, w, &data, &last, seen > 0);
			rc = move(cursor, &key, &data, blocks ? MDB_NEXT_MULTIPLE : MDB_NEXT_DUP, "fixed");
		}
		if (seen != expected)
			wrong("fixed: %llu under %u, expected %llu", (unsigned long long)seen, w, (unsigned long long)expected);
		all += seen;
	}
	db.cursor_close(cursor);
	expect_count(s, "fixed", s->h->fixed, all, all);
}

static void verify_own(const struct snapshot *s, unsigned w)
{
	MDB_cursor *cursor;
	MDB_val key, data;
	uint64_t n = s->counts[w], seen = 0, first = (n - n % OWN_ROUND + 1) * OWN_STEP;
	MUST(&db, db.cursor_open(s->txn, s->h->own[w], &cursor));
	while (!move(cursor, &key, &data, MDB_NEXT, "own")) {
		uint64_t value[8];
		char text[24];
		sprintf(text, "%016llx", (unsigned long long)(first + seen));
		fill(value, sizeof value, mix(w + 500, first + seen));
		if (key.mv_size != 16 || memcmp(key.mv_data, text, 16) || data.mv_size != sizeof value
			|| memcmp(data.mv_data, value, sizeof value))
			wrong("own%u: %.*s where %s should be", w, (int)key.mv_size, (char *)key.mv_data, text);
		seen++;
	}
	db.cursor_close(cursor);
	expect_count(s, "own", s->h->own[w], seen, n % OWN_ROUND * OWN_STEP);
}

void verify(MDB_txn *txn, const struct handles *h, uint64_t counts[WRITERS], unsigned how)
{
	uint64_t sum = 0;
	for (unsigned w = 0; w < WRITERS; w++)
		sum += counts[w] = count_of(txn, h, w);
	if (sum != count_of(txn, h, WRITERS))
		wrong("the counts make %llu, the total says %llu", (unsigned long long)sum,
			(unsigned long long)count_of(txn, h, WRITERS));
	struct snapshot s = { txn, h, counts };
	verify_items(&s, how & 1);
	verify_dups(&s, how >> 1 & 1);
	verify_fixed(&s, how >> 2 & 1);
	for (unsigned w = 0; w < WRITERS; w++)
		verify_own(&s, w);
}
