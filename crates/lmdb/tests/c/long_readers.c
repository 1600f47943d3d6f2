/* Long readers: listed, reported, asked to end, and growth refused because of them. */
#include <lmdb.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) \
    do { \
        if (!(x)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #x); \
            exit(1); \
        } \
    } while (0)

enum { ITEMS = 200, LENGTH = 900 };

static MDB_env *env;
static MDB_dbi dbi;

/* Overwrites one item in a new transaction. */
static int overwrite(unsigned n)
{
    static char content[LENGTH];
    unsigned char name[2] = { (unsigned char) (n >> 8), (unsigned char) n };
    MDB_val key, data;
    MDB_txn *txn;
    int rc = mdb_txn_begin(env, NULL, 0, &txn);
    key.mv_size = 2;
    key.mv_data = name;
    data.mv_size = LENGTH;
    data.mv_data = content;
    content[0] = (char) n;
    if (rc != 0)
        return rc;
    rc = mdb_put(txn, dbi, &key, &data, 0);
    if (rc != 0) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

static int count(const fulgurite_reader *reader, void *ctx)
{
    fulgurite_reader *last = ctx;
    *last = *reader;
    return 7;
}

static int warned;

static int warn(const fulgurite_reader *reader, void *ctx)
{
    CHECK(ctx == &warned);
    CHECK(reader->held_pages > 0 && reader->lag > 3);
    warned++;
    return 0;
}

int main(int argc, char **argv)
{
    fulgurite_reader_policy policy;
    fulgurite_reader seen;
    MDB_txn *reader;
    MDB_cursor *cursor;
    MDB_val key, data;
    char *lent;
    unsigned n;
    int rc;

    CHECK(argc == 2);
    CHECK(mdb_env_create(&env) == 0);
    memset(&policy, 0, sizeof policy);
    CHECK(fulgurite_env_set_reader_policy(env, &policy) == EINVAL);
    CHECK(mdb_env_set_mapsize(env, 64 << 20) == 0);
    CHECK(mdb_env_open(env, argv[1], MDB_NOSYNC | MDB_NOTLS, 0644) == 0);
    CHECK(mdb_txn_begin(env, NULL, 0, &reader) == 0);
    CHECK(mdb_dbi_open(reader, NULL, 0, &dbi) == 0);
    CHECK(fulgurite_txn_ended(reader) == 0);
    CHECK(mdb_txn_commit(reader) == 0);
    for (n = 0; n < ITEMS; n++)
        CHECK(overwrite(n) == 0);
    CHECK(fulgurite_reader_list(env, NULL, NULL) == EINVAL);
    CHECK(fulgurite_txn_ended(NULL) == 0);

    /* Refused growth is MDB_MAP_FULL without a warning; the reader goes on. */
    CHECK(mdb_txn_begin(env, NULL, MDB_RDONLY, &reader) == 0);
    policy.lag_max = 3;
    policy.warn = warn;
    policy.ctx = &warned;
    policy.refuse_growth = 1;
    CHECK(fulgurite_env_set_reader_policy(env, &policy) == 0);
    for (n = 0, rc = 0; n < 1000 && rc == 0; n++)
        rc = overwrite(n % ITEMS);
    CHECK(rc == MDB_MAP_FULL);
    CHECK(warned == 1);
    memset(&seen, 0, sizeof seen);
    CHECK(fulgurite_reader_list(env, count, &seen) == 7);
    CHECK(seen.snapshot == mdb_txn_id(reader) && seen.lag > 3 && seen.held_pages > 0);
    CHECK(seen.age_ms < 600000 && seen.asked_to_end == 0);
    CHECK(fulgurite_txn_ended(reader) == 0);

    /* A reader asked to end can only be ended, but its data stays valid. */
    CHECK(mdb_cursor_open(reader, dbi, &cursor) == 0);
    CHECK(mdb_cursor_get(cursor, &key, &data, MDB_FIRST) == 0);
    lent = data.mv_data;
    CHECK(lent[0] == 0);
    policy.end_oldest = 1;
    policy.refuse_growth = 0;
    CHECK(fulgurite_env_set_reader_policy(env, &policy) == 0);
    for (n = 0; n < ITEMS; n++)
        CHECK(overwrite((n + 1) % ITEMS) == 0);
    CHECK(fulgurite_txn_ended(reader) == 1);
    CHECK(mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == MDB_BAD_TXN);
    CHECK(mdb_cursor_get(cursor, &key, &data, MDB_GET_CURRENT) == MDB_BAD_TXN);
    CHECK(mdb_get(reader, dbi, &key, &data) == MDB_BAD_TXN);
    CHECK(lent[0] == 0 && lent[LENGTH - 1] == 0);
    CHECK(fulgurite_reader_list(env, count, &seen) == 7);
    CHECK(seen.asked_to_end == 1);
    mdb_cursor_close(cursor);
    mdb_txn_reset(reader);
    CHECK(fulgurite_txn_ended(reader) == 0);
    CHECK(mdb_txn_renew(reader) == 0);
    CHECK(fulgurite_txn_ended(reader) == 0);
    CHECK(mdb_get(reader, dbi, &key, &data) == 0);
    mdb_txn_abort(reader);

    CHECK(fulgurite_env_set_reader_policy(env, NULL) == 0);
    CHECK(overwrite(1) == 0);
    mdb_env_close(env);
    return 0;
}
