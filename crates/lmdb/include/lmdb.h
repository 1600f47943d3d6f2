/* lmdb.h - the C interface of Fulgurite, an embedded key/value store.
 *
 * Programs written for LMDB 0.9 are compiled and linked with it unchanged, and share files with programs that use the
 * original library.
 *
 * Generated from the Rust sources by "cargo xtask header": change those.
 *
 * Licensed under Apache-2.0 or MIT, as you prefer.
 *
 * A program creates an environment, opens it, and does everything else within transactions:
 *
 *     MDB_env *env; MDB_txn *txn; MDB_dbi dbi;
 *     MDB_val key = { 5, "stone" }, data = { 9, "fulgurite" };
 *
 *     mdb_env_create(&env);
 *     mdb_env_set_mapsize(env, 1 << 30);
 *     mdb_env_open(env, "directory", 0, 0644);
 *     mdb_txn_begin(env, NULL, 0, &txn);
 *     mdb_dbi_open(txn, NULL, 0, &dbi);
 *     mdb_put(txn, dbi, &key, &data, 0);
 *     mdb_txn_commit(txn);
 *     mdb_env_close(env);
 *
 * Functions that return int answer 0, one of the negative codes below, or a number of errno.
 *
 * Any number of transactions may read at a time, in any number of processes, each the state that one commit left; one
 * transaction writes. Nobody waits for a reader. Threads may share the environment; a transaction and its cursors are
 * used by one thread at a time, and a write transaction by the thread that began it.
 *
 * Misuse is answered, not punished. A pointer that is no handle of the kind that is asked for, NULL included, is EINVAL;
 * so is an environment or a cursor that was closed, and MDB_BAD_TXN a transaction that has ended, or that is used by the
 * wrong thread, beside its child, or from within the comparison function it is asking. In a forked child everything
 * inherited is MDB_PANIC: it may open the environment anew. Functions without a code do nothing then, or answer NULL or
 * 0. What cannot be noticed: one transaction or cursor used by two threads at the very same time, an environment closed
 * while another thread is inside a call on it, a handle that ended so many handles ago that its address has come round
 * (at least a thousand, mostly sixty times as many), a database handle of another environment (a number, which may mean
 * something there), and pointers to keys, data and results that are not what they should be.
 */
#ifndef _LMDB_H_
#define _LMDB_H_

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles ---- */

/* An environment. */
typedef struct MDB_env MDB_env;

/* A transaction. */
typedef struct MDB_txn MDB_txn;

/* A cursor. */
typedef struct MDB_cursor MDB_cursor;

/* ---- Types and flags ---- */

/* Permissions of new files. */
typedef mode_t mdb_mode_t;

/* A file descriptor. */
typedef int mdb_filehandle_t;

/* A handle of a database: a small number, valid in the environment it was opened in. */
typedef unsigned int MDB_dbi;

/* Octets: a key or a value.
 *
 * What the library hands out points into the map or into a changed page. It must not be modified, and is valid until
 * the transaction ends; in a write transaction only until the next change.
 */
typedef struct MDB_val {
    /* Length in octets. */
    size_t mv_size;
    /* Where they are. */
    void *mv_data;
} MDB_val;

/* Statistics of a database. */
typedef struct MDB_stat {
    /* Size of a page in octets. */
    unsigned int ms_psize;
    /* Levels of the tree; 0 if it is empty. */
    unsigned int ms_depth;
    /* Pages with keys and children. */
    size_t ms_branch_pages;
    /* Pages with keys and values. */
    size_t ms_leaf_pages;
    /* Pages of values too large for a leaf. */
    size_t ms_overflow_pages;
    /* Items. */
    size_t ms_entries;
} MDB_stat;

/* Facts about an environment. */
typedef struct MDB_envinfo {
    /* The address that the file asks to be mapped at (MDB_FIXEDMAP), or NULL. */
    void *me_mapaddr;
    /* Size of the map in octets. */
    size_t me_mapsize;
    /* The last page in use. */
    size_t me_last_pgno;
    /* The last committed transaction. */
    size_t me_last_txnid;
    /* Reader slots in the lock file. */
    unsigned int me_maxreaders;
    /* Reader slots that were ever in use; does not go down when readers end. */
    unsigned int me_numreaders;
} MDB_envinfo;

/* Orders two keys, or two values of one key: negative, zero or positive.
 *
 * It must always give the same answer for the same octets. While it is asked, the transaction that asks is busy: for it,
 * its parents, and its cursors every call is MDB_BAD_TXN or without effect.
 */
typedef int (MDB_cmp_func)(const MDB_val *a, const MDB_val *b);

/* Would move pointers inside of values; stored and never called. */
typedef void (MDB_rel_func)(MDB_val *item, void *oldptr, void *newptr, void *relctx);

/* Told of a broken invariant of the library, never of bad data. */
typedef void (MDB_assert_func)(MDB_env *env, const char *msg);

/* Receives a line of text. A negative result ends the listing. */
typedef int (MDB_msg_func)(const char *msg, void *ctx);

/* mdb_env_open: map the file at the address stored in it; for pointers inside of values. */
#define MDB_FIXEDMAP 0x01

/* mdb_env_open: the path is that of the data file; the lock file lies beside it with "-lock" appended. */
#define MDB_NOSUBDIR 0x4000

/* Environment: commits are not flushed; mdb_env_sync does it. May be changed while open. */
#define MDB_NOSYNC 0x10000

/* mdb_env_open: refuse changes. mdb_txn_begin: a read transaction. */
#define MDB_RDONLY 0x20000

/* Environment: the meta page is not flushed: a power loss may undo the last commit, but not damage the file. May be
 * changed while open.
 */
#define MDB_NOMETASYNC 0x40000

/* mdb_env_open: change pages in a writable map. The file takes its whole map size at once; no nested transactions. */
#define MDB_WRITEMAP 0x80000

/* Environment: with MDB_WRITEMAP, flushes are started and not waited for. May be changed while open. */
#define MDB_MAPASYNC 0x100000

/* mdb_env_open: reader slots belong to transactions instead of threads. */
#define MDB_NOTLS 0x200000

/* mdb_env_open: no lock file; the caller keeps writers apart, and from readers. */
#define MDB_NOLOCK 0x400000

/* mdb_env_open: tell the system not to read ahead. */
#define MDB_NORDAHEAD 0x800000

/* Environment: allowed, and without effect: new pages are always cleared. May be changed while open. */
#define MDB_NOMEMINIT 0x1000000

/* mdb_dbi_open: keys are compared from their last octet backwards. */
#define MDB_REVERSEKEY 0x02

/* mdb_dbi_open: a key may have several values, which are kept sorted. */
#define MDB_DUPSORT 0x04

/* mdb_dbi_open: keys are unsigned int or size_t in native order, all of one size. */
#define MDB_INTEGERKEY 0x08

/* mdb_dbi_open: with MDB_DUPSORT, all values have one size. */
#define MDB_DUPFIXED 0x10

/* mdb_dbi_open: with MDB_DUPSORT, values are integers, as keys are with MDB_INTEGERKEY. */
#define MDB_INTEGERDUP 0x20

/* mdb_dbi_open: with MDB_DUPSORT, values are compared from their last octet backwards. */
#define MDB_REVERSEDUP 0x40

/* mdb_dbi_open: create the database if there is none. */
#define MDB_CREATE 0x40000

/* Put: do not replace or add to what the key has; MDB_KEYEXIST instead, and the value it has. */
#define MDB_NOOVERWRITE 0x10

/* Put: MDB_KEYEXIST if this pair is there. mdb_cursor_del: delete all values of the key. */
#define MDB_NODUPDATA 0x20

/* mdb_cursor_put: replace the item the cursor is on. */
#define MDB_CURRENT 0x40

/* Put: make room for a value of the size given, to be filled by the caller before the next change. */
#define MDB_RESERVE 0x10000

/* Put: the key is greater than all others; fills pages to the brim. MDB_KEYEXIST if it is not. */
#define MDB_APPEND 0x20000

/* Put: as MDB_APPEND, for the values of a key. */
#define MDB_APPENDDUP 0x40000

/* mdb_cursor_put: store many values of one size, in a MDB_DUPFIXED database. */
#define MDB_MULTIPLE 0x80000

/* mdb_env_copy2: leave free pages out and put the others in order. */
#define MDB_CP_COMPACT 0x01

/* What mdb_cursor_get does. */
typedef enum MDB_cursor_op {
    /* The first item. */
    MDB_FIRST = 0,
    /* The first value of the current key. */
    MDB_FIRST_DUP = 1,
    /* This key with this value. */
    MDB_GET_BOTH = 2,
    /* This key with the first value that is not smaller. */
    MDB_GET_BOTH_RANGE = 3,
    /* The current item. */
    MDB_GET_CURRENT = 4,
    /* The values on the current page of a MDB_DUPFIXED database. */
    MDB_GET_MULTIPLE = 5,
    /* The last item. */
    MDB_LAST = 6,
    /* The last value of the current key. */
    MDB_LAST_DUP = 7,
    /* The next item. */
    MDB_NEXT = 8,
    /* The next value of the current key. */
    MDB_NEXT_DUP = 9,
    /* The values on the next page of a MDB_DUPFIXED database. */
    MDB_NEXT_MULTIPLE = 10,
    /* The first value of the next key. */
    MDB_NEXT_NODUP = 11,
    /* The previous item. */
    MDB_PREV = 12,
    /* The previous value of the current key. */
    MDB_PREV_DUP = 13,
    /* The last value of the previous key. */
    MDB_PREV_NODUP = 14,
    /* This key; the key argument is left alone. */
    MDB_SET = 15,
    /* This key; the key argument is pointed to the one in the database. */
    MDB_SET_KEY = 16,
    /* The first key that is not smaller. */
    MDB_SET_RANGE = 17,
    /* The values on the previous page of a MDB_DUPFIXED database. */
    MDB_PREV_MULTIPLE = 18
} MDB_cursor_op;

/* ---- Result codes ---- */

/* Success. */
#define MDB_SUCCESS 0

/* The key, or the pair, is there already. */
#define MDB_KEYEXIST (-30799)

/* There is no such item; the end was reached. */
#define MDB_NOTFOUND (-30798)

/* A page that should be there is missing: the file is damaged. */
#define MDB_PAGE_NOTFOUND (-30797)

/* A page is not what it should be: the file is damaged. */
#define MDB_CORRUPTED (-30796)

/* Writing a meta page failed, or the library found a fault in itself: close the environment. */
#define MDB_PANIC (-30795)

/* The file has another version of the format. */
#define MDB_VERSION_MISMATCH (-30794)

/* The file is of another kind. */
#define MDB_INVALID (-30793)

/* The map size is used up. */
#define MDB_MAP_FULL (-30792)

/* The number set with mdb_env_set_maxdbs is used up. */
#define MDB_DBS_FULL (-30791)

/* All reader slots are in use. */
#define MDB_READERS_FULL (-30790)

/* The original's: too many environments are open. Not used here. */
#define MDB_TLS_FULL (-30789)

/* The transaction has changed more than it can hold. */
#define MDB_TXN_FULL (-30788)

/* The tree is too deep: the file is damaged. */
#define MDB_CURSOR_FULL (-30787)

/* The original's: a page has no room. Not used here. */
#define MDB_PAGE_FULL (-30786)

/* Another process let the file grow beyond the map size here: see mdb_env_set_mapsize. */
#define MDB_MAP_RESIZED (-30785)

/* The operation and the kind of database do not go together. */
#define MDB_INCOMPATIBLE (-30784)

/* This thread has a read transaction, or its reader slot is in use. */
#define MDB_BAD_RSLOT (-30783)

/* The transaction has failed, ended, or has a child: only ending it helps. */
#define MDB_BAD_TXN (-30782)

/* A key, value or name of a length that the database cannot take. */
#define MDB_BAD_VALSIZE (-30781)

/* The database handle was closed and opened for another database. */
#define MDB_BAD_DBI (-30780)

/* The last code. */
#define MDB_LAST_ERRCODE MDB_BAD_DBI

/* The text of a result code: one of the MDB_ codes, or a number of errno.
 *
 * The text of the latter may be overwritten by the next call.
 */
char *mdb_strerror(int err);

/* ---- Version ---- */

/* The version of the interface: major. */
#define MDB_VERSION_MAJOR 0

/* The version of the interface: minor. */
#define MDB_VERSION_MINOR 9

/* The version of the interface: patch. */
#define MDB_VERSION_PATCH 36

/* Tells the version of the interface, as three numbers and as text. Each pointer may be NULL.
 *
 * Some programs refuse any other number than that of the header they were compiled with: when the environment variable
 * FULGURITE_LMDB_VERSION holds a version of the same series, such as 0.9.24, that is told instead.
 */
char *mdb_version(int *major, int *minor, int *patch);

/* Three numbers of a version as one that can be compared. */
#define MDB_VERINT(a, b, c) (((a) << 24) | ((b) << 16) | (c))
/* The version of this header as one number. */
#define MDB_VERSION_FULL MDB_VERINT(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)
/* What stands in the place of a date in the version's text. */
#define MDB_VERSION_DATE "Fulgurite 0.1.0"
/* Four parts of a version as text. */
#define MDB_VERSTR(a, b, c, d) "LMDB " #a "." #b "." #c ": (" d ")"
#define MDB_VERFOO(a, b, c, d) MDB_VERSTR(a, b, c, d)
/* The version of this header as text. */
#define MDB_VERSION_STRING \
    MDB_VERFOO(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH, MDB_VERSION_DATE)

/* ---- The environment: made, opened, closed ---- */

/* Makes a handle for an environment, to be configured and opened. mdb_env_close frees it.
 *
 * ENOMEM; EINVAL for NULL.
 */
int mdb_env_create(MDB_env **env);

/* Opens an environment, making its files if there are none.
 *
 * path is an existing directory, or with MDB_NOSUBDIR the data file; mode are the permissions of new files. flags come
 * on top of those set by mdb_env_set_flags. After a failure the handle may be used for another attempt, and has to
 * be closed in the end.
 *
 * The errors of the system (ENOENT, EACCES, ...); MDB_INVALID if the file is of another kind; MDB_VERSION_MISMATCH;
 * EINVAL for unknown flags, NULL, or an environment that is open; EBUSY if the address of a MDB_FIXEDMAP is taken.
 *
 * The first opening in a process handles SIGBUS from then on: a page of the data or lock file that is not there any more,
 * because the file was cut off or its disk failed, makes later calls answer MDB_PANIC in place of ending the process.
 * Signals that have nothing to do with an environment go to whoever handled them before. The environment variable
 * FULGURITE_BUS_GUARD=0 leaves the signal alone.
 */
int mdb_env_open(MDB_env *env, const char *path, unsigned int flags, mdb_mode_t mode);

/* Closes an environment and frees the handle. NULL is fine, and so is what is closed already.
 *
 * Its transactions and cursors should have ended; those that have not are ended here, and their handles with them. What
 * they lent is gone. One that cannot be ended keeps the files open until it is: the write transaction of another thread
 * that lives, or one whose call is under way, in whose comparison function the program is. It answers MDB_BAD_TXN from
 * here on, and mdb_txn_abort or mdb_txn_commit end it.
 *
 * In a forked child it lets go of what the child inherited, without effect on the parent.
 */
void mdb_env_close(MDB_env *env);

/* ---- The environment: settings ---- */

/* Sets or (onoff 0) clears flags: MDB_NOSYNC, MDB_NOMETASYNC, MDB_MAPASYNC and MDB_NOMEMINIT, at any time.
 *
 * EINVAL for any other flag; nothing is changed then.
 */
int mdb_env_set_flags(MDB_env *env, unsigned int flags, int onoff);

/* Tells the flags of the environment. */
int mdb_env_get_flags(MDB_env *env, unsigned int *flags);

/* Tells the path given to mdb_env_open, NULL before that. The text is the environment's, and lives as long. */
int mdb_env_get_path(MDB_env *env, const char **path);

/* Tells the descriptor of the data file, -1 before it is open. It stays the environment's. */
int mdb_env_get_fd(MDB_env *env, mdb_filehandle_t *fd);

/* Sets the size of the map in octets: how large the data file may get. 0 takes the size that the file says, 1 MiB for
 * a new one; what is too small for the pages in use is raised to them.
 *
 * While the environment is open it may be set as long as this process has no write transaction (else EINVAL). That
 * is how to go on after MDB_MAP_RESIZED: set it to 0. What read transactions of this process have been given stays
 * where it is.
 */
int mdb_env_set_mapsize(MDB_env *env, size_t size);

/* Sets how many reader slots a new lock file gets; 126 unless set. A lock file in use keeps its number.
 *
 * EINVAL for 0, or when the environment is open.
 */
int mdb_env_set_maxreaders(MDB_env *env, unsigned int readers);

/* Tells how many reader slots there are. */
int mdb_env_get_maxreaders(MDB_env *env, unsigned int *readers);

/* Sets how many named databases may be open at a time; none unless set.
 *
 * EINVAL when the environment is open.
 */
int mdb_env_set_maxdbs(MDB_env *env, MDB_dbi dbs);

/* The longest key in octets: 511. Names, and values of MDB_DUPSORT databases, have the same limit. */
int mdb_env_get_maxkeysize(MDB_env *env);

/* Keeps a pointer for the program. */
int mdb_env_set_userctx(MDB_env *env, void *ctx);

/* The pointer kept by mdb_env_set_userctx; NULL if none. */
void *mdb_env_get_userctx(MDB_env *env);

/* Sets a function to be told of faults of the library itself, in words, before they are answered with MDB_PANIC. NULL
 * unsets it.
 *
 * It is called in the thread that met the fault, after the call has let go of everything, and may do what it likes: end
 * the program too, which the library itself never does. Damaged files and misuse are no such faults, they have codes.
 */
int mdb_env_set_assert(MDB_env *env, MDB_assert_func *func);

/* ---- The environment: facts, flushing, copies ---- */

/* Tells the statistics of the main database, as last committed. */
int mdb_env_stat(MDB_env *env, MDB_stat *stat);

/* Tells facts about the environment. */
int mdb_env_info(MDB_env *env, MDB_envinfo *info);

/* Makes all commits so far durable, for environments with MDB_NOSYNC or the like. With force 0 nothing is done if
 * MDB_NOSYNC is set.
 *
 * EACCES if the environment is read-only; EBADF before it is open.
 */
int mdb_env_sync(MDB_env *env, int force);

/* Copies the environment to a new data file: path is a directory, or with MDB_NOSUBDIR the file, which must not exist.
 *
 * The copy is a snapshot; others may go on writing. EEXIST, ENOENT and the other errors of the system.
 */
int mdb_env_copy(MDB_env *env, const char *path);

/* As mdb_env_copy; with MDB_CP_COMPACT free pages are left out, and the others put in order. */
int mdb_env_copy2(MDB_env *env, const char *path, unsigned int flags);

/* As mdb_env_copy, to a descriptor, such as that of a pipe. */
int mdb_env_copyfd(MDB_env *env, mdb_filehandle_t fd);

/* As mdb_env_copy2, to a descriptor. */
int mdb_env_copyfd2(MDB_env *env, mdb_filehandle_t fd, unsigned int flags);

/* ---- The environment: its readers ---- */

/* Lists the reader slots in use, line by line, through a function. The result is what it answered last; a negative
 * answer ends the listing. -1 for NULL.
 */
int mdb_reader_list(MDB_env *env, MDB_msg_func *func, void *ctx);

/* Frees the reader slots of processes that died, and tells how many those were. dead may be NULL.
 *
 * Writers do so by themselves before they let the file grow on account of an old reader.
 */
int mdb_reader_check(MDB_env *env, int *dead);

/* ---- Transactions ---- */

/* Begins a transaction: to read with MDB_RDONLY among flags, else to write. Other flags are ignored.
 *
 * There is one write transaction at a time; this waits for it. With parent, a write transaction, one is begun within
 * it, whose changes become the parent's by its commit; the parent cannot be used meanwhile. Unless the environment has
 * MDB_NOTLS, a thread has one read transaction at a time.
 *
 * A write transaction belongs to the thread that began it, unless the environment has MDB_NOLOCK: for any other it is
 * MDB_BAD_TXN. A read transaction may be used by any thread, by one at a time.
 *
 * MDB_BAD_RSLOT: the thread has a read transaction. MDB_BAD_TXN: the parent has failed, has ended or has a child, or the
 * thread has a write transaction. MDB_READERS_FULL. MDB_MAP_RESIZED: see mdb_env_set_mapsize. EACCES: to write in a
 * read-only environment. MDB_PANIC: the environment must be closed, or was opened before a fork. EINVAL: NULL, not open,
 * or the parent only reads or is of another environment.
 */
int mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn);

/* The environment of a transaction; NULL for NULL, and for what has ended. */
MDB_env *mdb_txn_env(MDB_txn *txn);

/* The id of a transaction: of the commit that a reader sees, or that a writer will make. 0 for NULL, and for what has
 * ended.
 */
size_t mdb_txn_id(MDB_txn *txn);

/* Commits a transaction and ends the handle, whatever the result. A child that lives is committed first.
 *
 * The cursors of a write transaction are closed; those of a read transaction are to be closed or renewed by the
 * program. ENOSPC, EIO, MDB_MAP_FULL: nothing was committed. MDB_BAD_TXN: the transaction had failed, and was aborted; or
 * it has ended before. EINVAL: no transaction.
 *
 * MDB_BAD_TXN is also the answer to the wrong thread (see mdb_txn_begin), and to a comparison function that a call within
 * the transaction asks: it lives on then, with all its changes. MDB_PANIC in a forked child: it is the parent's.
 */
int mdb_txn_commit(MDB_txn *txn);

/* Ends a transaction without a trace; its children first. NULL is fine, and what has ended.
 *
 * Without effect where mdb_txn_commit would answer that the transaction lives on. But once the thread of a write
 * transaction has ended, any thread may abort it; the environment can then be written again, unless somebody tried
 * before: he was told MDB_PANIC, and so are all after him.
 */
void mdb_txn_abort(MDB_txn *txn);

/* Lets a read transaction go of its snapshot but keeps the handle, for mdb_txn_renew. Without effect on others. */
void mdb_txn_reset(MDB_txn *txn);

/* Begins a read transaction again that was reset, on the newest snapshot.
 *
 * EINVAL unless it was reset; else as mdb_txn_begin.
 */
int mdb_txn_renew(MDB_txn *txn);

/* ---- Databases ---- */

/* Opens a database by name, or with NULL the main one, and tells its handle.
 *
 * The handle belongs to the transaction until that is committed, and is then good for all that begin later, until
 * mdb_dbi_close, mdb_drop or the end of the environment. A name that is open keeps its handle, whatever the flags; an
 * existing database keeps its flags. With MDB_CREATE one that does not exist is created, in a write transaction.
 *
 * MDB_NOTFOUND: there is none. MDB_DBS_FULL: see mdb_env_set_maxdbs. MDB_INCOMPATIBLE: the name is a plain key of the
 * main database, or that has flags which named databases cannot live with. EACCES: to create one in a read transaction.
 * MDB_BAD_VALSIZE: names have 1 to 511 octets. EINVAL: NULL, unknown flags, or MDB_DUPFIXED, MDB_INTEGERDUP or
 * MDB_REVERSEDUP without MDB_DUPSORT for a new one. MDB_BAD_TXN.
 */
int mdb_dbi_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *dbi);

/* Closes a database handle, for transactions that begin later. It is not to be closed while a transaction changes it,
 * and need not be closed at all.
 */
void mdb_dbi_close(MDB_env *env, MDB_dbi dbi);

/* Tells the flags of a database. */
int mdb_dbi_flags(MDB_txn *txn, MDB_dbi dbi, unsigned int *flags);

/* Tells the statistics of a database; handle 0 is the list of free pages. */
int mdb_stat(MDB_txn *txn, MDB_dbi dbi, MDB_stat *stat);

/* Empties a database; with del 1, also deletes it and closes the handle. The main one is only ever emptied: the named
 * ones go with it, and their handles are closed.
 *
 * EACCES: in a read transaction. EINVAL: NULL, an unknown handle, or another del.
 */
int mdb_drop(MDB_txn *txn, MDB_dbi dbi, int del);

/* Older names of mdb_dbi_open and mdb_dbi_close. */
#define mdb_open(txn, name, flags, dbi) mdb_dbi_open(txn, name, flags, dbi)
#define mdb_close(env, dbi) mdb_dbi_close(env, dbi)

/* ---- Orders ---- */

/* Sets the order of a database's keys, in place of that which its flags say.
 *
 * The file does not record it: every program that opens the database has to set the same one, before anything else is
 * done with the handle. NULL sets the default again.
 */
int mdb_set_compare(MDB_txn *txn, MDB_dbi dbi, MDB_cmp_func *cmp);

/* Sets the order of the values of a key, as mdb_set_compare does for keys. Without effect in a database without
 * MDB_DUPSORT.
 */
int mdb_set_dupsort(MDB_txn *txn, MDB_dbi dbi, MDB_cmp_func *cmp);

/* Accepted for programs that call it, without effect: nothing is ever relocated. */
int mdb_set_relfunc(MDB_txn *txn, MDB_dbi dbi, MDB_rel_func *rel);

/* Accepted for programs that call it, without effect: see mdb_set_relfunc. */
int mdb_set_relctx(MDB_txn *txn, MDB_dbi dbi, void *ctx);

/* Compares two keys as the database does: negative, zero or positive. */
int mdb_cmp(MDB_txn *txn, MDB_dbi dbi, const MDB_val *a, const MDB_val *b);

/* Compares two values of a key as the database does: negative, zero or positive. */
int mdb_dcmp(MDB_txn *txn, MDB_dbi dbi, const MDB_val *a, const MDB_val *b);

/* ---- Items by key ---- */

/* Points data to the value of a key; the first, if it has several.
 *
 * MDB_NOTFOUND: there is none, and data is left alone. EINVAL: NULL or an unknown handle. MDB_BAD_VALSIZE: an empty
 * key. MDB_BAD_TXN.
 */
int mdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);

/* Stores an item: in place of the key's value, or in a MDB_DUPSORT database beside its others.
 *
 * flags: MDB_NOOVERWRITE, MDB_NODUPDATA, MDB_RESERVE, MDB_APPEND, MDB_APPENDDUP. With MDB_RESERVE data gives the size,
 * and is pointed to the room, which is to be filled before the next change; not in a MDB_DUPSORT database.
 *
 * MDB_KEYEXIST: the flags forbid it; with MDB_NOOVERWRITE data is pointed to what is there. MDB_MAP_FULL: see
 * mdb_env_set_mapsize; the transaction must be aborted. EACCES: in a read transaction. MDB_BAD_VALSIZE: keys have 1 to
 * 511 octets, as have the values of a MDB_DUPSORT database. MDB_INCOMPATIBLE: the key is that of a named database.
 * EINVAL: NULL, an unknown handle or flag. MDB_BAD_TXN.
 */
int mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data, unsigned int flags);

/* Deletes a key; in a MDB_DUPSORT database with data only that value of it, with NULL all. Elsewhere data is ignored.
 *
 * MDB_NOTFOUND: there is no such item. EACCES: in a read transaction. EINVAL: NULL or an unknown handle. MDB_BAD_VALSIZE:
 * an empty key. MDB_INCOMPATIBLE: the key is that of a named database, see mdb_drop; the transaction must be aborted.
 */
int mdb_del(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);

/* ---- Cursors ---- */

/* Makes a cursor over a database, standing nowhere yet.
 *
 * In a write transaction it is closed with the transaction, or before by mdb_cursor_close. In a read transaction it
 * must be closed by the program, and may be renewed for another one.
 *
 * EINVAL: NULL, an unknown handle, or the list of free pages (handle 0) in a write transaction. MDB_BAD_TXN.
 */
int mdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor);

/* Closes a cursor. NULL is fine, and so is what is closed already.
 *
 * Without effect in a comparison function that a call within its transaction asks, and, for a cursor of a write
 * transaction, in another thread than that of the transaction.
 */
void mdb_cursor_close(MDB_cursor *cursor);

/* Gives a cursor of a read transaction to another read transaction, standing nowhere yet.
 *
 * EINVAL: NULL, a write transaction, one of another environment, or a handle that is unknown there. MDB_BAD_TXN: the
 * transaction has ended, or a call within that of the cursor is under way, in whose comparison function the program is.
 */
int mdb_cursor_renew(MDB_txn *txn, MDB_cursor *cursor);

/* The transaction of a cursor; NULL for NULL, once a read transaction has ended, and for what is closed. */
MDB_txn *mdb_cursor_txn(MDB_cursor *cursor);

/* The database handle of a cursor; 0 for NULL, and for what is closed. */
MDB_dbi mdb_cursor_dbi(MDB_cursor *cursor);

/* ---- Cursors: moving ---- */

/* Moves a cursor, and points key and data to the item it comes to. Both may be NULL where they are not needed.
 *
 * MDB_NOTFOUND: there is no such item. EINVAL: NULL, an unknown operation, or one that needs an item to start from on
 * a cursor that stands nowhere. MDB_INCOMPATIBLE: an operation on the values of a key, where keys have one each.
 * MDB_BAD_VALSIZE: an empty key. MDB_BAD_TXN.
 *
 * MDB_SET and MDB_GET_BOTH leave the key argument alone, as MDB_FIRST_DUP, MDB_LAST_DUP and MDB_GET_MULTIPLE do where
 * the key has several values.
 */
int mdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *data, MDB_cursor_op op);

/* Counts the values of the current key.
 *
 * EINVAL: NULL, or the cursor stands nowhere. MDB_INCOMPATIBLE: the database is not MDB_DUPSORT. MDB_NOTFOUND: behind
 * the last item.
 */
int mdb_cursor_count(MDB_cursor *cursor, size_t *count);

/* ---- Cursors: changing ---- */

/* Stores an item and moves the cursor to it. After MDB_KEYEXIST it is on the item in the way.
 *
 * Beside the flags of mdb_put: MDB_CURRENT replaces the item the cursor is on, whose key must be given. With
 * MDB_MULTIPLE, in a MDB_DUPFIXED database, data is an array of two: the size of an item and where the first one is;
 * and the number of items, which becomes that of the stored ones.
 *
 * As mdb_put; EINVAL: MDB_CURRENT on a cursor that stands nowhere or on another key, or with MDB_NODUPDATA; no items.
 */
int mdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *data, unsigned int flags);

/* Deletes the item the cursor is on; with MDB_NODUPDATA its key with all values. The cursor then stands on the
 * successor, to which MDB_NEXT goes.
 *
 * EINVAL: NULL, or the cursor stands nowhere. MDB_NOTFOUND: behind the last item. EACCES: in a read transaction.
 */
int mdb_cursor_del(MDB_cursor *cursor, unsigned int flags);

/* ---- Beyond the original ---- */

/* Lets the map grow as it is needed, up to max_bytes: there is no MDB_MAP_FULL before, and no MDB_MAP_RESIZED where
 * this library alone writes. 0 goes back to a map of fixed size. mdb_env_set_mapsize is a hint then.
 *
 * Takes address space, neither memory nor disk. The environment variable FULGURITE_GROW=1 does the same for programs
 * that do not ask, up to 1 TiB. EINVAL when the environment is open.
 */
int fulgurite_env_set_growth(MDB_env *env, size_t max_bytes);

/* Gets the values of many keys at once, several searches being under way at a time: where the database is much larger
 * than the processor's caches, that is faster than as many calls of mdb_get.
 *
 * Each of values is pointed to the (first) value of the key at its place; where there is none, its mv_data becomes NULL.
 * Each of codes becomes 0 or MDB_NOTFOUND; codes may be NULL. EINVAL, MDB_BAD_TXN and errors of the file are answered for all, and then no
 * value is set; so is MDB_BAD_VALSIZE if any key is empty.
 */
int fulgurite_get_many(MDB_txn *txn, MDB_dbi dbi, size_t count, const MDB_val *keys, MDB_val *values, int *codes);

/* Counts the items whose keys are not below low and below high, exactly; a key counts with each of its values. NULL
 * stands for the beginning, or the end.
 *
 * Costs a look at each leaf page in the range, or outside it if those are fewer.
 */
int fulgurite_count_range(MDB_txn *txn, MDB_dbi dbi, const MDB_val *low, const MDB_val *high, size_t *count);

/* As fulgurite_count_range, but about: costs a few pages however large the range, and is mostly within a tenth of it.
 * For choosing between plans.
 */
int fulgurite_estimate_range(MDB_txn *txn, MDB_dbi dbi, const MDB_val *low, const MDB_val *high, size_t *count);

/* ---- Beyond the original: long readers ---- */

/* A reader, of any process. What is not known is SIZE_MAX: the age of readers that use the original library, the
 * snapshot of one between transactions.
 */
typedef struct fulgurite_reader {
    /* Its process. */
    size_t process;
    /* Its thread, as the process names it. */
    size_t thread;
    /* The snapshot that it reads: the id of a transaction. */
    size_t snapshot;
    /* How many transactions were committed since. */
    size_t lag;
    /* For how many milliseconds it has had the snapshot. */
    size_t age_ms;
    /* Free pages that cannot be used again as long as it has it. */
    size_t held_pages;
    /* Whether a writer has asked it to end: 1 or 0. */
    int asked_to_end;
} fulgurite_reader;

/* Is told of a reader, which is valid during the call. For lists, a negative answer ends the listing. */
typedef int (fulgurite_reader_func)(const fulgurite_reader *reader, void *ctx);

/* What a writer does when it would have to let the file grow because a reader keeps an old snapshot. Set everything to
 * 0 first.
 *
 * A reader counts as long beyond any of the limits; a limit of 0 is none; without limits every reader does that holds
 * pages back. What is done about it adds up, in this order: warn is called, the reader is asked to end, growth is
 * refused.
 */
typedef struct fulgurite_reader_policy {
    /* Transactions committed since the snapshot. */
    size_t lag_max;
    /* Milliseconds for which it has had the snapshot. */
    size_t age_ms_max;
    /* Pages that it holds back. */
    size_t held_pages_max;
    /* Called once for each snapshot that a long reader keeps, by the thread that writes; it must not write to the
     * environment. NULL for nothing.
     */
    fulgurite_reader_func *warn;
    /* Handed to warn. */
    void *ctx;
    /* 1: readers of the oldest snapshot are asked to end. The next call for such a transaction is MDB_BAD_TXN, in
     * whatever process (fulgurite_txn_ended tells it from other reasons); what it was given so far stays valid until it is aborted or
     * reset. Readers that use the original library cannot be asked.
     */
    int end_oldest;
    /* For how many milliseconds a writer waits for that, once for each snapshot, before it goes on as without it. */
    unsigned int grace_ms;
    /* 1: the call that writes is MDB_MAP_FULL instead, and the transaction must be aborted. */
    int refuse_growth;
} fulgurite_reader_policy;

/* Sets what writers of this environment do about long readers, from now on; NULL for nothing, as at first.
 *
 * EINVAL unless the environment is open.
 */
int fulgurite_env_set_reader_policy(MDB_env *env, const fulgurite_reader_policy *policy);

/* Lists the reader slots in use of all processes, through a function; the result is what it answered last, 0 without
 * readers. As mdb_reader_list, with all that is known of each.
 *
 * Reads the list of free pages, and takes a reader slot for that; where there is none left, what readers hold back is
 * unknown. Negative codes of errors as elsewhere; EINVAL for NULL.
 */
int fulgurite_reader_list(MDB_env *env, fulgurite_reader_func *func, void *ctx);

/* Whether a writer has asked a read transaction to end, so that every other call for it is MDB_BAD_TXN: 1 or 0. It is to
 * be aborted, or reset and renewed. 0 for NULL and for transactions that write.
 */
int fulgurite_txn_ended(MDB_txn *txn);

#ifdef __cplusplus
}
#endif

#endif
