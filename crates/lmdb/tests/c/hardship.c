/* A program that uses the library while the system fails it, and prints how far it came.
 *
 *   hardship run DIR FLAGS     six transactions, each read back, then sync, copies and a close
 *   hardship fill DIR FLAGS    stores until the library refuses, reads, deletes all, stores again
 *   hardship count DIR FLAGS   prints the number of records
 *
 * Output: "committed N" after each commit, "records N", and "FUNCTION: CODE" for the first thing that failed.
 * Exit: 0 after success, 10 after an error code, 20 if a result was false.
 */
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRANSACTIONS = 6, RECORDS = 20, LEN = 700 };

static MDB_env *env;
static int failed;

static int check(const char *function, int code)
{
    if (code != MDB_SUCCESS && !failed) {
        failed = 1;
        printf("%s: %d\n", function, code);
        fflush(stdout);
    }
    return code;
}

static void lie(const char *what)
{
    printf("lie: %s\n", what);
    fflush(stdout);
    _exit(20);
}

static int open_env(const char *directory, unsigned flags, size_t map)
{
    if (check("mdb_env_create", mdb_env_create(&env)))
        return 1;
    mdb_env_set_maxdbs(env, 4);
    mdb_env_set_mapsize(env, map);
    return check("mdb_env_open", mdb_env_open(env, directory, flags, 0644));
}

/* Stores a transaction's records, or deletes as many from the first one on. */
static int change(int from, int count, int deletes)
{
    MDB_txn *txn;
    MDB_dbi dbi;
    char name[32], bytes[LEN];
    int code, i;
    if (check("mdb_txn_begin", code = mdb_txn_begin(env, NULL, 0, &txn)))
        return code;
    code = check("mdb_dbi_open", mdb_dbi_open(txn, "things", MDB_CREATE, &dbi));
    memset(bytes, 'x', sizeof bytes);
    for (i = from; !code && i < from + count; i++) {
        MDB_val key, data = { sizeof bytes, bytes };
        key.mv_size = (size_t)snprintf(name, sizeof name, "key%08d", i);
        key.mv_data = name;
        if (deletes)
            code = check("mdb_del", mdb_del(txn, dbi, &key, NULL));
        else
            code = check("mdb_put", mdb_put(txn, dbi, &key, &data, 0));
    }
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    return check("mdb_txn_commit", mdb_txn_commit(txn));
}

/* Returns the number of records; -1 if they cannot be read. */
static long count_records(void)
{
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, data;
    long found = 0;
    int code;
    if (check("mdb_txn_begin", mdb_txn_begin(env, NULL, MDB_RDONLY, &txn)))
        return -1;
    code = mdb_dbi_open(txn, "things", 0, &dbi);
    if (code == MDB_NOTFOUND) {
        mdb_txn_abort(txn);
        return 0;
    }
    if (check("mdb_dbi_open", code) || check("mdb_cursor_open", mdb_cursor_open(txn, dbi, &cursor))) {
        mdb_txn_abort(txn);
        return -1;
    }
    while ((code = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) == MDB_SUCCESS) {
        if (data.mv_size != LEN || ((char *)data.mv_data)[LEN - 1] != 'x')
            lie("a record of other bytes");
        found++;
    }
    if (code != MDB_NOTFOUND) {
        check("mdb_cursor_get", code);
        found = -1;
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return found;
}

static void run(const char *directory)
{
    char path[4096];
    int number, dead, fd;
    for (number = 1; number <= TRANSACTIONS; number++) {
        if (change((number - 1) * RECORDS, RECORDS, 0))
            return;
        printf("committed %d\n", number);
        fflush(stdout);
        long found = count_records();
        if (found < 0)
            return;
        if (found != number * RECORDS)
            lie("records are missing");
    }
    if (check("mdb_env_sync", mdb_env_sync(env, 1)) || check("mdb_reader_check", mdb_reader_check(env, &dead)))
        return;
    snprintf(path, sizeof path, "%s/copy", directory);
    mkdir(path, 0755);
    if (check("mdb_env_copy2", mdb_env_copy2(env, path, MDB_CP_COMPACT)))
        return;
    snprintf(path, sizeof path, "%s/copied", directory);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0) {
        check("mdb_env_copyfd2", mdb_env_copyfd2(env, fd, 0));
        close(fd);
    }
}

static void fill(void)
{
    int stored = 0, deleted;
    long before, after;
    while (!change(stored, RECORDS, 0))
        stored += RECORDS;
    printf("committed %d\n", stored / RECORDS);
    before = count_records();
    if (before != stored)
        lie("what was refused is there, or what was stored is not");
    for (deleted = 0; deleted < stored; deleted += RECORDS) {
        int code = change(deleted, RECORDS, 1);
        if (code) {
            printf("deleting: %d\n", code);
            lie("no room to delete");
        }
    }
    after = count_records();
    if (after != 0)
        lie("what was deleted is there");
    for (deleted = 0; deleted < stored / 2; deleted += RECORDS)
        if (change(deleted, RECORDS, 0))
            lie("what was deleted has left no room");
    printf("records %ld\n", count_records());
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    if (getenv("IGNORE_XFSZ"))
        signal(SIGXFSZ, SIG_IGN);
    unsigned flags = (unsigned)strtoul(argv[3], NULL, 0);
    size_t map = getenv("MAP_SIZE") ? strtoul(getenv("MAP_SIZE"), NULL, 0) : (size_t)8 << 20;
    if (open_env(argv[2], flags, map) == MDB_SUCCESS) {
        if (!strcmp(argv[1], "run"))
            run(argv[2]);
        else if (!strcmp(argv[1], "fill"))
            fill();
        else
            printf("records %ld\n", count_records());
    }
    mdb_env_close(env);
    fflush(stdout);
    return failed && strcmp(argv[1], "fill") ? 10 : 0;
}
