/* The changing half of a walk. */
#include <string.h>
#include "walker.h"

#define SOME 12
#define RECORD_LEN 48

struct pair {
	size_t key_length, value_length;
	unsigned char key[512], value[512];
};

/* Some records of a database, copied; values cut to what a key may have. */
static unsigned some_of(MDB_txn *txn, MDB_dbi dbi, int is_main, struct pair *some)
{
	static const MDB_cursor_op begins[] = { MDB_FIRST, MDB_LAST, MDB_SET_RANGE };
	static const MDB_cursor_op steps[] = { MDB_NEXT, MDB_NEXT_NODUP, MDB_PREV };
	unsigned char room[2];
	MDB_cursor *cursor;
	unsigned found = 0;
	if (see(db.cursor_open(txn, dbi, &cursor)))
		return 0;
	MDB_val key = noise(room, sizeof room), value = { 0, NULL };
	MDB_cursor_op op = begins[below(3)];
	while (found < SOME && !see(db.cursor_get(cursor, &key, &value, op))) {
		/* Records of 48 octets may be databases, which plain changes must not touch. */
		if ((!is_main || value.mv_size != RECORD_LEN) && key.mv_size <= 511) {
			struct pair *one = &some[found++];
			one->key_length = key.mv_size;
			one->value_length = value.mv_size < 511 ? value.mv_size : 511;
			memcpy(one->key, key.mv_data, one->key_length);
			memcpy(one->value, value.mv_data, one->value_length);
		}
		op = steps[below(3)];
		if (chance(5))
			break;
	}
	db.cursor_close(cursor);
	return found;
}

/* Whether a call of a change failed so that no other may follow. */
static int ends(int rc)
{
	return see(rc) && met.failed;
}

static void put_new(MDB_txn *txn, MDB_dbi dbi)
{
	static const unsigned value_lengths[] = { 0, 3, 8, 30, 200, 5000 }, key_lengths[] = { 8, 8, 3, 20 };
	unsigned char key_room[32], value_room[5000];
	for (unsigned left = 1 + below(20); left; left--) {
		MDB_val key = noise(key_room, key_lengths[below(4)]);
		MDB_val value = noise(value_room, value_lengths[below(6)]);
		if (ends(db.put(txn, dbi, &key, &value, chance(20) ? MDB_NOOVERWRITE : 0)))
			return;
	}
}

static void with_some(MDB_txn *txn, MDB_dbi dbi, int is_main, unsigned way)
{
	struct pair some[SOME];
	unsigned char room[3000];
	unsigned found = some_of(txn, dbi, is_main, some);
	for (unsigned i = 0; i < found && !met.failed; i++) {
		MDB_val key = { some[i].key_length, some[i].key };
		MDB_val value = { some[i].value_length, some[i].value };
		MDB_val fresh;
		switch (way) {
		case 0:
			fresh = noise(room, chance(40) ? value.mv_size : below(3000));
			see(db.put(txn, dbi, &key, &fresh, 0));
			break;
		case 1:
			see(db.del(txn, dbi, &key, NULL));
			break;
		case 2:
			see(db.del(txn, dbi, &key, &value));
			break;
		default:
			for (unsigned left = i < 3 ? 1 + below(50) : 0; left && !met.failed; left--) {
				fresh = noise(room, value.mv_size);
				see(db.put(txn, dbi, &key, &fresh, 0));
			}
		}
	}
}

static void through_cursor(MDB_txn *txn, MDB_dbi dbi, int is_main)
{
	struct pair some[SOME];
	unsigned char room[512];
	MDB_cursor *cursor;
	unsigned found = some_of(txn, dbi, is_main, some), flags = 0;
	if (see(db.dbi_flags(txn, dbi, &flags)) || see(db.cursor_open(txn, dbi, &cursor)))
		return;
	for (unsigned i = 0; i < found && !met.failed; i++) {
		MDB_val key = { some[i].key_length, some[i].key }, value;
		if (see(db.cursor_get(cursor, &key, &value, MDB_SET_RANGE)) || key.mv_size > sizeof some[i].key)
			continue;
		/* What was lent is not to be relied on while the database changes. */
		memcpy(some[i].key, key.mv_data, key.mv_size);
		key.mv_data = some[i].key;
		MDB_val fresh = noise(room, some[i].value_length);
		switch (below(4)) {
		case 0:
			see(db.cursor_del(cursor, flags & MDB_DUPSORT && chance(40) ? MDB_NODUPDATA : 0));
			break;
		case 1:
			/* Of another size than what is replaced would be misuse. */
			fresh = noise(room, value.mv_size <= sizeof room ? value.mv_size : 0);
			if (fresh.mv_size)
				see(db.cursor_put(cursor, &key, &fresh, MDB_CURRENT));
			break;
		case 2:
			see(db.cursor_put(cursor, &key, &fresh, 0));
			break;
		default:
			see(db.cursor_del(cursor, 0));
		}
		if (!met.failed) {
			see(db.cursor_get(cursor, &key, &value, MDB_NEXT));
			see(db.cursor_get(cursor, &key, &value, MDB_PREV));
		}
	}
	db.cursor_close(cursor);
}

static void reserve_and_append(MDB_txn *txn, MDB_dbi dbi)
{
	unsigned flags = 0;
	MDB_val key = { 8, "reserved" }, value = { chance(50) ? 40 : 4000, NULL };
	if (!see(db.dbi_flags(txn, dbi, &flags)) && !(flags & MDB_DUPSORT)
	    && !see(db.put(txn, dbi, &key, &value, MDB_RESERVE)))
		memset(value.mv_data, 7, value.mv_size);
	unsigned char last[8] = { 255, 255, 255, 255, 255, 255, 255, 0 };
	for (unsigned left = below(30); left && !met.failed; left--, last[7]++) {
		MDB_val next = { 8, last }, appended = { 8, "appended" };
		see(db.put(txn, dbi, &next, &appended, MDB_APPEND));
	}
}

static void make_another(MDB_txn *txn)
{
	static const unsigned kinds[] = { 0, MDB_DUPSORT, MDB_DUPSORT | MDB_DUPFIXED };
	MDB_dbi dbi;
	if (see(db.dbi_open(txn, "made", MDB_CREATE | kinds[below(3)], &dbi)))
		return;
	for (uint64_t i = 0, count = below(120); i < count; i++) {
		uint64_t group = i / 9;
		MDB_val key = { 8, &group }, value = { 8, &i };
		if (ends(db.put(txn, dbi, &key, &value, 0)))
			return;
	}
	if (chance(30))
		see(db.drop(txn, dbi, 1));
}

static void delete_in_order(MDB_txn *txn, MDB_dbi dbi)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	if (see(db.cursor_open(txn, dbi, &cursor)))
		return;
	for (unsigned left = below(400); left && !see(db.cursor_get(cursor, &key, &value, MDB_FIRST)); left--)
		if (see(db.cursor_del(cursor, 0)))
			break;
	db.cursor_close(cursor);
}

/* One change; 1 if the database's handle is gone with it. After an error that
 * ends the transaction nothing more is done in it, as in any sane program. */
static int one(MDB_txn *txn, MDB_dbi dbi, int is_main)
{
	unsigned way = below(11);
	switch (way) {
	case 0: case 1: case 2: case 3:
		with_some(txn, dbi, is_main, way);
		break;
	case 4:
		put_new(txn, dbi);
		break;
	case 5:
		through_cursor(txn, dbi, is_main);
		break;
	case 6:
		reserve_and_append(txn, dbi);
		break;
	case 7:
		see(db.drop(txn, dbi, 0));
		break;
	case 8:
		if (!is_main) {
			see(db.drop(txn, dbi, 1));
			return 1;
		}
		break;
	case 9:
		make_another(txn);
		break;
	default:
		delete_in_order(txn, dbi);
	}
	return 0;
}

void change(MDB_env *env)
{
	for (unsigned left = 2 + below(3); left; left--) {
		MDB_txn *txn, *nested;
		MDB_dbi dbis[DATABASES];
		if (see(db.txn_begin(env, NULL, 0, &txn)))
			return;
		met.failed = 0;
		unsigned count = databases(txn, dbis);
		for (unsigned changes = 1 + below(4); changes && count && !met.failed; changes--) {
			unsigned which = below(count);
			int gone = 0;
			if (chance(20) && !see(db.txn_begin(env, txn, 0, &nested))) {
				gone = one(nested, dbis[which], !which);
				if (!met.failed && chance(60))
					see(db.txn_commit(nested));
				else
					db.txn_abort(nested);
			} else {
				gone = one(txn, dbis[which], !which);
			}
			if (gone)
				dbis[which] = dbis[--count];
			else if (!met.failed && chance(15))
				read_database(txn, dbis[which]);
		}
		if (!met.failed && chance(85))
			see(db.txn_commit(txn));
		else
			db.txn_abort(txn);
	}
	see(db.env_sync(env, chance(10)));
}
