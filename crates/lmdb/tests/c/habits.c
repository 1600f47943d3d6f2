/* Habits of programs that the manual does not mention. Run with a folder. */
#include <lmdb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int line_of_failure;

#define IS(expression, want)                                                                                          \
    do {                                                                                                              \
        long have = (long) (expression);                                                                              \
        if (have != (long) (want) && !line_of_failure) {                                                              \
            line_of_failure = __LINE__;                                                                               \
            printf("line %d: %s is %ld, not %ld\n", __LINE__, #expression, have, (long) (want));                      \
        }                                                                                                             \
    } while (0)

static MDB_env *env;

static MDB_val text(const char *from) {
    MDB_val value;
    value.mv_size = strlen(from);
    value.mv_data = (void *) from;
    return value;
}

static int is(MDB_val value, const char *want) {
    return value.mv_size == strlen(want) && !memcmp(value.mv_data, want, value.mv_size);
}

/* slapd passes data as the first of an array, and its comparison function reads the others. */
static const char *word = "seen";
static int strangers;

static int with_company(const MDB_val *a, const MDB_val *b) {
    size_t shorter = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
    int order;
    if (a[1].mv_data != word)
        strangers++;
    order = memcmp(a->mv_data, b->mv_data, shorter);
    return order ? order : (int) a->mv_size - (int) b->mv_size;
}

static void an_order_sees_what_the_program_passed(void) {
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, data[2];
    char value[64];
    int n;
    IS(mdb_txn_begin(env, NULL, 0, &txn), 0);
    IS(mdb_dbi_open(txn, "company", MDB_CREATE | MDB_DUPSORT, &dbi), 0);
    IS(mdb_set_dupsort(txn, dbi, with_company), 0);
    IS(mdb_cursor_open(txn, dbi, &cursor), 0);
    data[1].mv_size = 0;
    data[1].mv_data = (void *) word;
    for (n = 0; n < 500; n++) {
        key = text("key");
        sprintf(value, "value %020d", n * 7 % 500);
        data[0] = text(value);
        if (n % 2)
            IS(mdb_put(txn, dbi, &key, data, MDB_NODUPDATA), 0);
        else
            IS(mdb_cursor_put(cursor, &key, data, MDB_NODUPDATA), 0);
    }
    for (n = 0; n < 300; n++) {
        key = text("key");
        sprintf(value, "value %020d", n);
        data[0] = text(value);
        if (n % 3 == 0) {
            IS(mdb_del(txn, dbi, &key, data), 0);
        } else {
            IS(mdb_cursor_get(cursor, &key, data, n % 3 == 1 ? MDB_GET_BOTH : MDB_GET_BOTH_RANGE), 0);
            IS(mdb_cursor_del(cursor, 0), 0);
            sprintf(value, "value %020d", n + 1);
            IS(mdb_cursor_get(cursor, &key, data, MDB_GET_CURRENT), 0);
            IS(is(data[0], value), 1);
        }
    }
    key = text("key");
    IS(mdb_cursor_get(cursor, &key, data, MDB_SET), 0);
    IS(is(data[0], "value 00000000000000000300"), 1);
    IS(strangers, 0);
    IS(mdb_txn_commit(txn), 0);
}

/* PHP scans a table with a cursor across reset and renewal, and does not renew the cursor. */
static void a_cursor_goes_on_after_a_renewal(void) {
    MDB_txn *txn, *reader;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, data;
    char name[16];
    int n;
    IS(mdb_txn_begin(env, NULL, 0, &txn), 0);
    IS(mdb_dbi_open(txn, "walk", MDB_CREATE | MDB_DUPSORT, &dbi), 0);
    for (n = 0; n < 400; n++) {
        sprintf(name, "key %03d", n / 2);
        key = text(name);
        data = text(n % 2 ? "b" : "a");
        IS(mdb_put(txn, dbi, &key, &data, 0), 0);
    }
    IS(mdb_txn_commit(txn), 0);
    IS(mdb_txn_begin(env, NULL, MDB_RDONLY, &reader), 0);
    IS(mdb_cursor_open(reader, dbi, &cursor), 0);
    for (n = 0; n < 400; n++) {
        IS(mdb_cursor_get(cursor, &key, &data, MDB_NEXT), 0);
        sprintf(name, "key %03d", n / 2);
        IS(is(key, name), 1);
        IS(is(data, n % 2 ? "b" : "a"), 1);
        mdb_txn_reset(reader);
        IS(mdb_txn_renew(reader), 0);
    }
    IS(mdb_cursor_get(cursor, &key, &data, MDB_NEXT), MDB_NOTFOUND);
    mdb_cursor_close(cursor);
    mdb_txn_abort(reader);
}

/* heed opens the main database as one of integers in a read transaction, and writes in another. */
static void keys_are_ordered_as_a_reader_said(const char *folder) {
    MDB_env *other;
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, data;
    unsigned int n, found;
    IS(mdb_env_create(&other), 0);
    IS(mdb_env_open(other, folder, MDB_NOSUBDIR, 0600), 0);
    IS(mdb_txn_begin(other, NULL, MDB_RDONLY, &txn), 0);
    IS(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi), 0);
    IS(mdb_txn_commit(txn), 0);
    IS(mdb_txn_begin(other, NULL, 0, &txn), 0);
    for (n = 1000; n < 2000; n++) {
        key.mv_size = data.mv_size = sizeof n;
        key.mv_data = data.mv_data = &n;
        IS(mdb_put(txn, dbi, &key, &data, 0), 0);
    }
    IS(mdb_cursor_open(txn, dbi, &cursor), 0);
    for (n = 1000; n < 2000; n++) {
        IS(mdb_cursor_get(cursor, &key, &data, MDB_NEXT), 0);
        memcpy(&found, key.mv_data, sizeof found);
        IS(found, n);
    }
    mdb_txn_abort(txn);
    mdb_env_close(other);
}

static void miss(MDB_cursor *cursor) {
    MDB_val key = text("key2"), data;
    IS(mdb_cursor_get(cursor, &key, &data, MDB_SET), MDB_NOTFOUND);
}

/* lmdb-rkv searches for a key and reads the current values even if the search failed. */
static void a_failed_search_ends_on_no_value(void) {
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, data;
    size_t count;
    int n;
    IS(mdb_txn_begin(env, NULL, 0, &txn), 0);
    IS(mdb_dbi_open(txn, "misses", MDB_CREATE | MDB_DUPSORT, &dbi), 0);
    for (n = 0; n < 6; n++) {
        key = text(n < 3 ? "key1" : "key3");
        data = text(n % 3 == 0 ? "a" : n % 3 == 1 ? "b" : "c");
        IS(mdb_put(txn, dbi, &key, &data, 0), 0);
    }
    IS(mdb_cursor_open(txn, dbi, &cursor), 0);
    miss(cursor);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_GET_CURRENT), 22);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_NEXT_DUP), 0);
    IS(is(key, "key3") && is(data, "a"), 1);
    miss(cursor);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_NEXT), 0);
    IS(is(key, "key3") && is(data, "a"), 1);
    miss(cursor);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_PREV), 0);
    IS(is(key, "key3") && is(data, "c"), 1);
    miss(cursor);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_FIRST_DUP), 22);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_LAST_DUP), 22);
    IS(mdb_cursor_count(cursor, &count), 22);
    IS(mdb_cursor_del(cursor, 0), 22);
    IS(mdb_cursor_get(cursor, &key, &data, MDB_NEXT_NODUP), MDB_NOTFOUND);
    mdb_txn_abort(txn);
}

int main(int argc, char **argv) {
    char file[4096];
    if (argc != 2)
        return 2;
    IS(mdb_env_create(&env), 0);
    IS(mdb_env_set_maxdbs(env, 4), 0);
    IS(mdb_env_open(env, argv[1], 0, 0600), 0);
    an_order_sees_what_the_program_passed();
    a_cursor_goes_on_after_a_renewal();
    a_failed_search_ends_on_no_value();
    mdb_env_close(env);
    snprintf(file, sizeof file, "%s/other", argv[1]);
    keys_are_ordered_as_a_reader_said(file);
    return line_of_failure ? 1 : 0;
}
