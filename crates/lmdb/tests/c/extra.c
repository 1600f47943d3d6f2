/* The functions that LMDB does not have: a growing map, many keys at once, counts of ranges. */
#include <lmdb.h>

#include <stdio.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

enum { ITEMS = 2000, LENGTH = 2000 };

static MDB_val number(unsigned char *bytes, unsigned int n)
{
    MDB_val val;
    bytes[0] = (unsigned char) (n >> 8);
    bytes[1] = (unsigned char) n;
    val.mv_size = 2;
    val.mv_data = bytes;
    return val;
}

int main(int argc, char **argv)
{
    static char content[LENGTH];
    unsigned char bytes[3][2];
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_envinfo info;
    MDB_val keys[3], values[3], key, data;
    int codes[3];
    size_t count;
    unsigned int n;

    CHECK(argc == 2);
    CHECK(mdb_env_create(&env) == 0);
#ifndef BY_VARIABLE
    CHECK(fulgurite_env_set_growth(env, (size_t) 1 << 32) == 0);
#endif
    CHECK(mdb_env_open(env, argv[1], MDB_NOSYNC, 0644) == 0);
    CHECK(fulgurite_env_set_growth(env, 0) != 0);

    /* Four times the map size of a new file. */
    CHECK(mdb_txn_begin(env, NULL, 0, &txn) == 0);
    CHECK(mdb_dbi_open(txn, NULL, 0, &dbi) == 0);
    for (n = 0; n < ITEMS; n++) {
        key = number(bytes[0], n);
        data.mv_size = LENGTH;
        data.mv_data = content;
        content[0] = (char) n;
        CHECK(mdb_put(txn, dbi, &key, &data, 0) == 0);
    }
    CHECK(mdb_txn_commit(txn) == 0);
    CHECK(mdb_env_info(env, &info) == 0);
    CHECK(info.me_mapsize >= (size_t) ITEMS * LENGTH);

    CHECK(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0);
    keys[0] = number(bytes[0], 7);
    keys[1] = number(bytes[1], ITEMS);
    keys[2] = number(bytes[2], 3);
    CHECK(fulgurite_get_many(txn, dbi, 3, keys, values, codes) == 0);
    CHECK(codes[0] == 0 && codes[1] == MDB_NOTFOUND && codes[2] == 0);
    CHECK(values[0].mv_size == LENGTH && *(char *) values[0].mv_data == 7);
    CHECK(values[1].mv_data == NULL);
    CHECK(values[2].mv_size == LENGTH && *(char *) values[2].mv_data == 3);
    CHECK(fulgurite_get_many(txn, dbi, 3, keys, values, NULL) == 0);
    CHECK(fulgurite_get_many(txn, dbi, 0, keys, values, NULL) == 0);
    keys[1].mv_size = 0;
    CHECK(fulgurite_get_many(txn, dbi, 3, keys, values, codes) == MDB_BAD_VALSIZE);
    CHECK(fulgurite_get_many(txn, 99, 3, keys, values, codes) != 0);

    CHECK(fulgurite_count_range(txn, dbi, NULL, NULL, &count) == 0 && count == ITEMS);
    CHECK(fulgurite_count_range(txn, dbi, &keys[2], &keys[0], &count) == 0 && count == 4);
    CHECK(fulgurite_count_range(txn, dbi, &keys[0], NULL, &count) == 0 && count == ITEMS - 7);
    CHECK(fulgurite_count_range(txn, dbi, NULL, &keys[0], &count) == 0 && count == 7);
    CHECK(fulgurite_estimate_range(txn, dbi, NULL, NULL, &count) == 0 && count == ITEMS);
    CHECK(fulgurite_estimate_range(txn, dbi, &keys[2], &keys[0], &count) == 0 && count == 4);
    CHECK(fulgurite_count_range(txn, dbi, NULL, NULL, NULL) != 0);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return 0;
}
