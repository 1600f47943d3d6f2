/* Uses every name of lmdb.h, with the numbers and types that compiled programs have. Also C++. */
#include <lmdb.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct number {
    const char *name;
    long have, want;
};

#define IS(name, want) { #name, (long) (name), (long) (want) }

static const struct number numbers[] = {
    IS(MDB_FIXEDMAP, 0x01), IS(MDB_NOSUBDIR, 0x4000), IS(MDB_NOSYNC, 0x10000), IS(MDB_RDONLY, 0x20000),
    IS(MDB_NOMETASYNC, 0x40000), IS(MDB_WRITEMAP, 0x80000), IS(MDB_MAPASYNC, 0x100000), IS(MDB_NOTLS, 0x200000),
    IS(MDB_NOLOCK, 0x400000), IS(MDB_NORDAHEAD, 0x800000), IS(MDB_NOMEMINIT, 0x1000000),
    IS(MDB_REVERSEKEY, 0x02), IS(MDB_DUPSORT, 0x04), IS(MDB_INTEGERKEY, 0x08), IS(MDB_DUPFIXED, 0x10),
    IS(MDB_INTEGERDUP, 0x20), IS(MDB_REVERSEDUP, 0x40), IS(MDB_CREATE, 0x40000),
    IS(MDB_NOOVERWRITE, 0x10), IS(MDB_NODUPDATA, 0x20), IS(MDB_CURRENT, 0x40), IS(MDB_RESERVE, 0x10000),
    IS(MDB_APPEND, 0x20000), IS(MDB_APPENDDUP, 0x40000), IS(MDB_MULTIPLE, 0x80000), IS(MDB_CP_COMPACT, 0x01),
    IS(MDB_FIRST, 0), IS(MDB_FIRST_DUP, 1), IS(MDB_GET_BOTH, 2), IS(MDB_GET_BOTH_RANGE, 3), IS(MDB_GET_CURRENT, 4),
    IS(MDB_GET_MULTIPLE, 5), IS(MDB_LAST, 6), IS(MDB_LAST_DUP, 7), IS(MDB_NEXT, 8), IS(MDB_NEXT_DUP, 9),
    IS(MDB_NEXT_MULTIPLE, 10), IS(MDB_NEXT_NODUP, 11), IS(MDB_PREV, 12), IS(MDB_PREV_DUP, 13), IS(MDB_PREV_NODUP, 14),
    IS(MDB_SET, 15), IS(MDB_SET_KEY, 16), IS(MDB_SET_RANGE, 17), IS(MDB_PREV_MULTIPLE, 18),
    IS(MDB_SUCCESS, 0), IS(MDB_KEYEXIST, -30799), IS(MDB_NOTFOUND, -30798), IS(MDB_PAGE_NOTFOUND, -30797),
    IS(MDB_CORRUPTED, -30796), IS(MDB_PANIC, -30795), IS(MDB_VERSION_MISMATCH, -30794), IS(MDB_INVALID, -30793),
    IS(MDB_MAP_FULL, -30792), IS(MDB_DBS_FULL, -30791), IS(MDB_READERS_FULL, -30790), IS(MDB_TLS_FULL, -30789),
    IS(MDB_TXN_FULL, -30788), IS(MDB_CURSOR_FULL, -30787), IS(MDB_PAGE_FULL, -30786), IS(MDB_MAP_RESIZED, -30785),
    IS(MDB_INCOMPATIBLE, -30784), IS(MDB_BAD_RSLOT, -30783), IS(MDB_BAD_TXN, -30782), IS(MDB_BAD_VALSIZE, -30781),
    IS(MDB_BAD_DBI, -30780), IS(MDB_LAST_ERRCODE, -30780),
    IS(MDB_VERSION_MAJOR, 0), IS(MDB_VERSION_MINOR, 9), IS(MDB_VERSION_PATCH, 36),
    IS(MDB_VERINT(1, 2, 3), 0x01020003), IS(MDB_VERSION_FULL, 0x00090024),
    IS(sizeof(MDB_val), 16), IS(offsetof(MDB_val, mv_size), 0), IS(offsetof(MDB_val, mv_data), 8),
    IS(sizeof(MDB_stat), 40), IS(offsetof(MDB_stat, ms_psize), 0), IS(offsetof(MDB_stat, ms_depth), 4),
    IS(offsetof(MDB_stat, ms_branch_pages), 8), IS(offsetof(MDB_stat, ms_leaf_pages), 16),
    IS(offsetof(MDB_stat, ms_overflow_pages), 24), IS(offsetof(MDB_stat, ms_entries), 32),
    IS(sizeof(MDB_envinfo), 40), IS(offsetof(MDB_envinfo, me_mapaddr), 0), IS(offsetof(MDB_envinfo, me_mapsize), 8),
    IS(offsetof(MDB_envinfo, me_last_pgno), 16), IS(offsetof(MDB_envinfo, me_last_txnid), 24),
    IS(offsetof(MDB_envinfo, me_maxreaders), 32), IS(offsetof(MDB_envinfo, me_numreaders), 36),
    IS(sizeof(MDB_dbi), sizeof(unsigned int)), IS(sizeof(mdb_mode_t), sizeof(mode_t)),
    IS(sizeof(mdb_filehandle_t), sizeof(int)), IS(sizeof(MDB_cursor_op), sizeof(int))
};

/* Each function once, with the types of its caller. */
struct functions {
    char *(*version)(int *, int *, int *);
    char *(*strerror)(int);
    int (*env_create)(MDB_env **);
    int (*env_open)(MDB_env *, const char *, unsigned int, mdb_mode_t);
    int (*env_copy)(MDB_env *, const char *);
    int (*env_copyfd)(MDB_env *, mdb_filehandle_t);
    int (*env_copy2)(MDB_env *, const char *, unsigned int);
    int (*env_copyfd2)(MDB_env *, mdb_filehandle_t, unsigned int);
    int (*env_stat)(MDB_env *, MDB_stat *);
    int (*env_info)(MDB_env *, MDB_envinfo *);
    int (*env_sync)(MDB_env *, int);
    void (*env_close)(MDB_env *);
    int (*env_set_flags)(MDB_env *, unsigned int, int);
    int (*env_get_flags)(MDB_env *, unsigned int *);
    int (*env_get_path)(MDB_env *, const char **);
    int (*env_get_fd)(MDB_env *, mdb_filehandle_t *);
    int (*env_set_mapsize)(MDB_env *, size_t);
    int (*env_set_maxreaders)(MDB_env *, unsigned int);
    int (*env_get_maxreaders)(MDB_env *, unsigned int *);
    int (*env_set_maxdbs)(MDB_env *, MDB_dbi);
    int (*env_get_maxkeysize)(MDB_env *);
    int (*env_set_userctx)(MDB_env *, void *);
    void *(*env_get_userctx)(MDB_env *);
    int (*env_set_assert)(MDB_env *, MDB_assert_func *);
    int (*txn_begin)(MDB_env *, MDB_txn *, unsigned int, MDB_txn **);
    MDB_env *(*txn_env)(MDB_txn *);
    size_t (*txn_id)(MDB_txn *);
    int (*txn_commit)(MDB_txn *);
    void (*txn_abort)(MDB_txn *);
    void (*txn_reset)(MDB_txn *);
    int (*txn_renew)(MDB_txn *);
    int (*dbi_open)(MDB_txn *, const char *, unsigned int, MDB_dbi *);
    int (*stat)(MDB_txn *, MDB_dbi, MDB_stat *);
    int (*dbi_flags)(MDB_txn *, MDB_dbi, unsigned int *);
    void (*dbi_close)(MDB_env *, MDB_dbi);
    int (*drop)(MDB_txn *, MDB_dbi, int);
    int (*set_compare)(MDB_txn *, MDB_dbi, MDB_cmp_func *);
    int (*set_dupsort)(MDB_txn *, MDB_dbi, MDB_cmp_func *);
    int (*set_relfunc)(MDB_txn *, MDB_dbi, MDB_rel_func *);
    int (*set_relctx)(MDB_txn *, MDB_dbi, void *);
    int (*get)(MDB_txn *, MDB_dbi, MDB_val *, MDB_val *);
    int (*put)(MDB_txn *, MDB_dbi, MDB_val *, MDB_val *, unsigned int);
    int (*del)(MDB_txn *, MDB_dbi, MDB_val *, MDB_val *);
    int (*cursor_open)(MDB_txn *, MDB_dbi, MDB_cursor **);
    void (*cursor_close)(MDB_cursor *);
    int (*cursor_renew)(MDB_txn *, MDB_cursor *);
    MDB_txn *(*cursor_txn)(MDB_cursor *);
    MDB_dbi (*cursor_dbi)(MDB_cursor *);
    int (*cursor_get)(MDB_cursor *, MDB_val *, MDB_val *, MDB_cursor_op);
    int (*cursor_put)(MDB_cursor *, MDB_val *, MDB_val *, unsigned int);
    int (*cursor_del)(MDB_cursor *, unsigned int);
    int (*cursor_count)(MDB_cursor *, size_t *);
    int (*cmp)(MDB_txn *, MDB_dbi, const MDB_val *, const MDB_val *);
    int (*dcmp)(MDB_txn *, MDB_dbi, const MDB_val *, const MDB_val *);
    int (*reader_list)(MDB_env *, MDB_msg_func *, void *);
    int (*reader_check)(MDB_env *, int *);
};

static const struct functions functions = {
    mdb_version, mdb_strerror, mdb_env_create, mdb_env_open, mdb_env_copy, mdb_env_copyfd, mdb_env_copy2,
    mdb_env_copyfd2, mdb_env_stat, mdb_env_info, mdb_env_sync, mdb_env_close, mdb_env_set_flags, mdb_env_get_flags,
    mdb_env_get_path, mdb_env_get_fd, mdb_env_set_mapsize, mdb_env_set_maxreaders, mdb_env_get_maxreaders,
    mdb_env_set_maxdbs, mdb_env_get_maxkeysize, mdb_env_set_userctx, mdb_env_get_userctx, mdb_env_set_assert,
    mdb_txn_begin, mdb_txn_env, mdb_txn_id, mdb_txn_commit, mdb_txn_abort, mdb_txn_reset, mdb_txn_renew, mdb_dbi_open,
    mdb_stat, mdb_dbi_flags, mdb_dbi_close, mdb_drop, mdb_set_compare, mdb_set_dupsort, mdb_set_relfunc,
    mdb_set_relctx, mdb_get, mdb_put, mdb_del, mdb_cursor_open, mdb_cursor_close, mdb_cursor_renew, mdb_cursor_txn,
    mdb_cursor_dbi, mdb_cursor_get, mdb_cursor_put, mdb_cursor_del, mdb_cursor_count, mdb_cmp, mdb_dcmp,
    mdb_reader_list, mdb_reader_check
};

static int reversed(const MDB_val *a, const MDB_val *b)
{
    return memcmp(b->mv_data, a->mv_data, a->mv_size < b->mv_size ? a->mv_size : b->mv_size);
}

static void moved(MDB_val *item, void *oldptr, void *newptr, void *relctx)
{
    (void) item, (void) oldptr, (void) newptr, (void) relctx;
}

static void failed(MDB_env *env, const char *msg)
{
    (void) env;
    fprintf(stderr, "%s\n", msg);
}

static int line(const char *msg, void *ctx)
{
    *(size_t *) ctx += strlen(msg);
    return 0;
}

/* Uses the store in the directory given. Returns 0 after success, else the line that failed. */
static int round_trip(const char *path)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val key, data;
    size_t told = 0;
    char one[] = "one", two[] = "two";

    if (functions.env_create(&env)) return __LINE__;
    if (functions.env_set_assert(env, failed)) return __LINE__;
    if (mdb_env_open(env, path, 0, 0644)) return __LINE__;
    if (mdb_txn_begin(env, NULL, 0, &txn)) return __LINE__;
    if (mdb_open(txn, NULL, 0, &dbi)) return __LINE__;
    if (mdb_set_compare(txn, dbi, reversed)) return __LINE__;
    if (mdb_set_relfunc(txn, dbi, moved)) return __LINE__;
    key.mv_size = data.mv_size = 3;
    key.mv_data = data.mv_data = one;
    if (mdb_put(txn, dbi, &key, &data, 0)) return __LINE__;
    key.mv_data = two;
    if (mdb_put(txn, dbi, &key, &data, 0)) return __LINE__;
    if (mdb_cursor_open(txn, dbi, &cursor)) return __LINE__;
    if (mdb_cursor_get(cursor, &key, &data, MDB_FIRST)) return __LINE__;
    if (memcmp(key.mv_data, two, 3) != 0) return __LINE__;
    if (mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) return __LINE__;
    if (mdb_cursor_get(cursor, &key, &data, MDB_NEXT) != MDB_NOTFOUND) return __LINE__;
    mdb_cursor_close(cursor);
    if (mdb_txn_commit(txn)) return __LINE__;
    if (mdb_txn_commit(NULL) != EINVAL) return __LINE__;
    if (mdb_reader_list(env, line, &told) || told == 0) return __LINE__;
    mdb_close(env, dbi);
    mdb_env_close(env);
    return 0;
}

int main(int argc, char **argv)
{
    size_t i;
    int wrong = 0;

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i].have != numbers[i].want) {
            printf("%s is %ld, not %ld\n", numbers[i].name, numbers[i].have, numbers[i].want);
            wrong = 1;
        }
    }
    if (strcmp(functions.version(NULL, NULL, NULL), MDB_VERSION_STRING) != 0) {
        printf("\"%s\" is not \"%s\" of %s\n", mdb_version(NULL, NULL, NULL), MDB_VERSION_STRING, MDB_VERSION_DATE);
        wrong = 1;
    }
    if (argc > 1 && (i = (size_t) round_trip(argv[1])) != 0) {
        printf("line %d failed\n", (int) i);
        wrong = 1;
    }
    return wrong;
}
