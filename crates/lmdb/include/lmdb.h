/* lmdb.h - the C interface of Fulgurite, an embedded key/value store.
 *
 * Programs written for LMDB 0.9 compile and link with it unchanged, and share files with programs
 * that use LMDB.
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
 * Functions that return int return 0, one of the negative codes below, or a number of errno.
 *
 * Any number of transactions may read at a time, in any number of processes; each sees the state
 * that one commit left. One transaction writes at a time, and does not wait for readers. Threads
 * may share the environment. A transaction and its cursors are used by one thread at a time, a
 * write transaction by the thread that began it.
 *
 * Misuse returns a code. EINVAL: a pointer that is no handle of the kind required, NULL included,
 * and a closed environment or cursor. MDB_BAD_TXN: a transaction that has ended, and one that is
 * used by the wrong thread, while it has a child, or in a comparison function that it runs.
 * MDB_PANIC: any inherited handle in a forked child; the child may open the environment again.
 * Functions without a code then do nothing, or return NULL or 0.
 *
 * Some misuse is not noticed. Two threads use one transaction or cursor at the very same time. An
 * environment is closed while another thread is inside a call on it. A handle ended so many handles
 * ago that its address is in use again: at least a thousand, mostly sixty times as many. A database
 * handle is that of another environment: it is a number, which may have a meaning there. Pointers
 * to keys, data and results do not point to what they should.
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

/* A key or a value.
 *
 * Values that the library returns point into the map or into a changed page. They must not be
 * modified. They are valid until the transaction ends; in a write transaction only until the next
 * change.
 */
typedef struct MDB_val {
    /* Length in bytes. */
    size_t mv_size;
    /* Address of the bytes. */
    void *mv_data;
} MDB_val;

/* Statistics of a database. */
typedef struct MDB_stat {
    /* Size of a page in bytes. */
    unsigned int ms_psize;
    /* Levels of the tree; 0 if it is empty. */
    unsigned int ms_depth;
    /* Branch pages: keys and children. */
    size_t ms_branch_pages;
    /* Leaf pages: keys and values. */
    size_t ms_leaf_pages;
    /* Overflow pages: values too large for a leaf. */
    size_t ms_overflow_pages;
    /* Items. */
    size_t ms_entries;
} MDB_stat;

/* Information about an environment. */
typedef struct MDB_envinfo {
    /* The address at which the file asks to be mapped (MDB_FIXEDMAP), or NULL. */
    void *me_mapaddr;
    /* Size of the map in bytes. */
    size_t me_mapsize;
    /* Number of the last page in use. */
    size_t me_last_pgno;
    /* Id of the last committed transaction. */
    size_t me_last_txnid;
    /* Reader slots in the lock file. */
    unsigned int me_maxreaders;
    /* Reader slots that were ever in use; the number does not fall when readers end. */
    unsigned int me_numreaders;
} MDB_envinfo;

/* Compares two keys, or two values of one key: negative, zero or positive.
 *
 * It must always return the same for the same bytes. While it runs, the transaction that called it
 * is busy. Every call for that transaction, its parents and its cursors is MDB_BAD_TXN or without
 * effect.
 */
typedef int (MDB_cmp_func)(const MDB_val *a, const MDB_val *b);

/* Would relocate pointers inside values; never called. */
typedef void (MDB_rel_func)(MDB_val *item, void *oldptr, void *newptr, void *relctx);

/* Receives the message of an internal error of the library, never of bad data. */
typedef void (MDB_assert_func)(MDB_env *env, const char *msg);

/* Receives a line of text. A negative result ends the listing. */
typedef int (MDB_msg_func)(const char *msg, void *ctx);

/* mdb_env_open: map the file at the address stored in it, for pointers inside values. */
#define MDB_FIXEDMAP 0x01

/* mdb_env_open: the path is that of the data file. The lock file has the same path with "-lock"
 * appended.
 */
#define MDB_NOSUBDIR 0x4000

/* Environment: commits are not flushed. mdb_env_sync flushes them. May be changed while open. */
#define MDB_NOSYNC 0x10000

/* mdb_env_open: refuse changes. mdb_txn_begin: a read transaction. */
#define MDB_RDONLY 0x20000

/* Environment: commits do not flush the meta page. A power loss may undo the last commit, but does
 * not damage the file. May be changed while open.
 */
#define MDB_NOMETASYNC 0x40000

/* mdb_env_open: change pages in a writable map. The file takes its whole map size at once; no
 * nested transactions.
 */
#define MDB_WRITEMAP 0x80000

/* Environment: with MDB_WRITEMAP, commits start flushes and do not wait for them. May be changed
 * while open.
 */
#define MDB_MAPASYNC 0x100000

/* mdb_env_open: reader slots belong to transactions instead of threads. */
#define MDB_NOTLS 0x200000

/* mdb_env_open: no lock file. The program itself keeps writers from each other and from readers. */
#define MDB_NOLOCK 0x400000

/* mdb_env_open: ask the system not to read ahead. */
#define MDB_NORDAHEAD 0x800000

/* Environment: without effect, since new pages are always cleared. May be changed while open. */
#define MDB_NOMEMINIT 0x1000000

/* mdb_dbi_open: keys are compared from their last byte backwards. */
#define MDB_REVERSEKEY 0x02

/* mdb_dbi_open: a key may have several values, in sorted order. */
#define MDB_DUPSORT 0x04

/* mdb_dbi_open: keys are unsigned int or size_t in native order, all of one size. */
#define MDB_INTEGERKEY 0x08

/* mdb_dbi_open: with MDB_DUPSORT, all values have one size. */
#define MDB_DUPFIXED 0x10

/* mdb_dbi_open: with MDB_DUPSORT, values are integers, as keys are with MDB_INTEGERKEY. */
#define MDB_INTEGERDUP 0x20

/* mdb_dbi_open: with MDB_DUPSORT, values are compared from their last byte backwards. */
#define MDB_REVERSEDUP 0x40

/* mdb_dbi_open: create the database if it does not exist. */
#define MDB_CREATE 0x40000

/* Put: if the key exists, change nothing, return MDB_KEYEXIST and point data to its value. */
#define MDB_NOOVERWRITE 0x10

/* Put: MDB_KEYEXIST if this pair exists. mdb_cursor_del: delete all values of the key. */
#define MDB_NODUPDATA 0x20

/* mdb_cursor_put: replace the current item. */
#define MDB_CURRENT 0x40

/* Put: make room for a value of the given size. The program fills it before the next change. */
#define MDB_RESERVE 0x10000

/* Put: the key is greater than all others, which fills pages completely. MDB_KEYEXIST if it is
 * not.
 */
#define MDB_APPEND 0x20000

/* Put: as MDB_APPEND, for the values of a key. */
#define MDB_APPENDDUP 0x40000

/* mdb_cursor_put: store many values of one size, in a MDB_DUPFIXED database. */
#define MDB_MULTIPLE 0x80000

/* mdb_env_copy2: omit free pages and sort the others. */
#define MDB_CP_COMPACT 0x01

/* The operations of mdb_cursor_get. */
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
    /* This key; the key argument is not set. */
    MDB_SET = 15,
    /* This key; the key argument is pointed to the key in the database. */
    MDB_SET_KEY = 16,
    /* The first key that is not smaller. */
    MDB_SET_RANGE = 17,
    /* The values on the previous page of a MDB_DUPFIXED database. */
    MDB_PREV_MULTIPLE = 18
} MDB_cursor_op;

/* ---- Result codes ---- */

/* Success. */
#define MDB_SUCCESS 0

/* The key, or the pair, exists already. */
#define MDB_KEYEXIST (-30799)

/* There is no such item, or the end was reached. */
#define MDB_NOTFOUND (-30798)

/* A page is missing: the file is damaged. */
#define MDB_PAGE_NOTFOUND (-30797)

/* A page has impossible contents: the file is damaged. */
#define MDB_CORRUPTED (-30796)

/* Writing a meta page failed, or the library has an internal error: close the environment. */
#define MDB_PANIC (-30795)

/* The file has another version of the format. */
#define MDB_VERSION_MISMATCH (-30794)

/* The file is not a data file. */
#define MDB_INVALID (-30793)

/* The map size is used up. */
#define MDB_MAP_FULL (-30792)

/* The number set with mdb_env_set_maxdbs is used up. */
#define MDB_DBS_FULL (-30791)

/* All reader slots are in use. */
#define MDB_READERS_FULL (-30790)

/* LMDB: too many environments are open. Not used here. */
#define MDB_TLS_FULL (-30789)

/* The transaction has changed more than it can hold. */
#define MDB_TXN_FULL (-30788)

/* The tree is too deep: the file is damaged. */
#define MDB_CURSOR_FULL (-30787)

/* LMDB: a page has no room. Not used here. */
#define MDB_PAGE_FULL (-30786)

/* Another process let the file grow beyond this process's map size: see mdb_env_set_mapsize. */
#define MDB_MAP_RESIZED (-30785)

/* The operation does not fit the kind of database. */
#define MDB_INCOMPATIBLE (-30784)

/* This thread has a read transaction, or its reader slot is in use. */
#define MDB_BAD_RSLOT (-30783)

/* The transaction has failed, has ended, or has a child. */
#define MDB_BAD_TXN (-30782)

/* A key, value or name of a length that the database cannot take. */
#define MDB_BAD_VALSIZE (-30781)

/* The database handle was closed and opened for another database. */
#define MDB_BAD_DBI (-30780)

/* The last code. */
#define MDB_LAST_ERRCODE MDB_BAD_DBI

/* Returns the text of a result code: one of the MDB_ codes, or a number of errno.
 *
 * The next call may overwrite the text of an errno.
 */
char *mdb_strerror(int err);

/* ---- Version ---- */

/* The version of the interface: major. */
#define MDB_VERSION_MAJOR 0

/* The version of the interface: minor. */
#define MDB_VERSION_MINOR 9

/* The version of the interface: patch. */
#define MDB_VERSION_PATCH 36

/* Returns the version of the interface as text, and stores it as three numbers. Each pointer
 * may be NULL.
 *
 * Some programs refuse any number other than that of the header they were compiled with. The
 * environment variable FULGURITE_LMDB_VERSION may hold another version of the same series,
 * such as 0.9.24, to be returned instead.
 */
char *mdb_version(int *major, int *minor, int *patch);

/* Three numbers of a version as one that can be compared. */
#define MDB_VERINT(a, b, c) (((a) << 24) | ((b) << 16) | (c))
/* The version of this header as one number. */
#define MDB_VERSION_FULL MDB_VERINT(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)
/* The text where LMDB has the date of its version. */
#define MDB_VERSION_DATE "Fulgurite 0.1.0"
/* Four parts of a version as text. */
#define MDB_VERSTR(a, b, c, d) "LMDB " #a "." #b "." #c ": (" d ")"
#define MDB_VERFOO(a, b, c, d) MDB_VERSTR(a, b, c, d)
/* The version of this header as text. */
#define MDB_VERSION_STRING \
    MDB_VERFOO(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH, MDB_VERSION_DATE)

/* ---- Environments: create, open, close ---- */

/* Creates a handle for an environment, to be configured and opened. mdb_env_close frees it.
 *
 * ENOMEM; EINVAL for NULL.
 */
int mdb_env_create(MDB_env **env);

/* Opens an environment, and creates its files if there are none.
 *
 * path is an existing directory, or with MDB_NOSUBDIR the data file. mode holds the
 * permissions of new files. flags are added to those set by mdb_env_set_flags. After a failure
 * the handle may be used for another attempt; it must be closed in the end.
 *
 * The errors of the system (ENOENT, EACCES, ...). MDB_INVALID: the file is not a data file.
 * MDB_VERSION_MISMATCH. EINVAL: unknown flags, NULL, or an open environment. EBUSY: the
 * address of a MDB_FIXEDMAP is taken.
 *
 * The first opening in a process installs a handler for SIGBUS. A page of a file may be
 * missing, because the file was cut off or its disk failed. Then later calls return MDB_PANIC;
 * the process lives on. Signals that do not concern an environment go to the previous handler.
 * The environment variable FULGURITE_BUS_GUARD=0 leaves the signal alone.
 */
int mdb_env_open(MDB_env *env, const char *path, unsigned int flags, mdb_mode_t mode);

/* Closes an environment and frees the handle. Without effect for NULL and for a closed
 * environment.
 *
 * Its transactions and cursors should have ended. Those that live are ended, with their
 * handles; the data that they returned is no longer valid. A transaction that cannot be ended
 * keeps the files open until its end. Such are the write transaction of another thread that
 * lives, and one that runs a comparison function. It returns MDB_BAD_TXN from here on, and
 * mdb_txn_abort or mdb_txn_commit end it.
 *
 * In a forked child this releases the inherited environment, without effect on the parent.
 */
void mdb_env_close(MDB_env *env);

/* ---- Environments: settings ---- */

/* Sets or (onoff 0) clears flags: MDB_NOSYNC, MDB_NOMETASYNC, MDB_MAPASYNC and MDB_NOMEMINIT,
 * at any time.
 *
 * EINVAL: any other flag. Nothing is changed then.
 */
int mdb_env_set_flags(MDB_env *env, unsigned int flags, int onoff);

/* Gets the flags of the environment. */
int mdb_env_get_flags(MDB_env *env, unsigned int *flags);

/* Gets the path given to mdb_env_open; NULL before that. The text belongs to the environment,
 * and lives as long.
 */
int mdb_env_get_path(MDB_env *env, const char **path);

/* Gets the descriptor of the data file; -1 before it is open. The environment closes it. */
int mdb_env_get_fd(MDB_env *env, mdb_filehandle_t *fd);

/* Sets the size of the map in bytes: the limit of the data file. 0 takes the size that the
 * file states, 1 MiB for a new one. A size too small for the pages in use is raised to them.
 *
 * While the environment is open, it may be set if this process has no write transaction (else
 * EINVAL). After MDB_MAP_RESIZED, set it to 0 and go on. Data that read transactions of this
 * process have returned stays where it is.
 */
int mdb_env_set_mapsize(MDB_env *env, size_t size);

/* Sets the number of reader slots of a new lock file; 126 unless set. A lock file in use keeps
 * its number.
 *
 * EINVAL for 0, or when the environment is open.
 */
int mdb_env_set_maxreaders(MDB_env *env, unsigned int readers);

/* Gets the number of reader slots. */
int mdb_env_get_maxreaders(MDB_env *env, unsigned int *readers);

/* Sets the number of named databases that may be open at a time; none unless set.
 *
 * EINVAL when the environment is open.
 */
int mdb_env_set_maxdbs(MDB_env *env, MDB_dbi dbs);

/* Returns the length of the longest key in bytes: 511. Names, and values of MDB_DUPSORT
 * databases, have the same limit.
 */
int mdb_env_get_maxkeysize(MDB_env *env);

/* Stores a pointer for the program. */
int mdb_env_set_userctx(MDB_env *env, void *ctx);

/* Returns the pointer stored by mdb_env_set_userctx; NULL if there is none. */
void *mdb_env_get_userctx(MDB_env *env);

/* Sets a function that receives the message of an internal error of the library. NULL unsets
 * it.
 *
 * The thread that met the error calls it; then the process ends by abort(). With several
 * environments, the function that was set last is called. It must not call this library.
 * Damaged files and misuse are no internal errors: they have codes. A build with Rust's
 * standard library returns MDB_PANIC instead of ending, and calls the environment's own
 * function.
 */
int mdb_env_set_assert(MDB_env *env, MDB_assert_func *func);

/* ---- Environments: statistics, flushing, copies ---- */

/* Gets the statistics of the main database, as last committed. */
int mdb_env_stat(MDB_env *env, MDB_stat *stat);

/* Gets information about the environment. */
int mdb_env_info(MDB_env *env, MDB_envinfo *info);

/* Makes all commits so far durable, for environments with MDB_NOSYNC or the like. With force 0
 * it does nothing if MDB_NOSYNC is set.
 *
 * EACCES: the environment is read-only. EBADF: it is not open.
 */
int mdb_env_sync(MDB_env *env, int force);

/* Copies the environment to a new data file. path is a directory, or with MDB_NOSUBDIR the
 * file, which must not exist.
 *
 * The copy is a snapshot; writers are not blocked. EEXIST, ENOENT and the other errors of the
 * system.
 */
int mdb_env_copy(MDB_env *env, const char *path);

/* As mdb_env_copy; with MDB_CP_COMPACT the copy omits free pages and sorts the others. */
int mdb_env_copy2(MDB_env *env, const char *path, unsigned int flags);

/* As mdb_env_copy, to a descriptor, such as that of a pipe. */
int mdb_env_copyfd(MDB_env *env, mdb_filehandle_t fd);

/* As mdb_env_copy2, to a descriptor. */
int mdb_env_copyfd2(MDB_env *env, mdb_filehandle_t fd, unsigned int flags);

/* ---- Environments: readers ---- */

/* Lists the reader slots in use, line by line, through a function. Returns the last result of
 * that function; a negative one ends the listing. -1 for NULL.
 */
int mdb_reader_list(MDB_env *env, MDB_msg_func *func, void *ctx);

/* Frees the reader slots of processes that died, and stores their number in dead, which may be
 * NULL.
 *
 * Writers do this themselves before an old reader makes them extend the file.
 */
int mdb_reader_check(MDB_env *env, int *dead);

/* ---- Transactions ---- */

/* Begins a transaction: to read with MDB_RDONLY among flags, else to write. Other flags are
 * ignored.
 *
 * There is one write transaction at a time; this call waits for it. With parent, a write
 * transaction, it begins a child of that. The child's changes become the parent's when it
 * commits; until then the parent cannot be used. Unless the environment has MDB_NOTLS, a
 * thread has one read transaction at a time.
 *
 * A write transaction belongs to the thread that began it, unless the environment has
 * MDB_NOLOCK. In another thread calls for it are MDB_BAD_TXN. Any thread may use a read
 * transaction, one at a time.
 *
 * MDB_BAD_RSLOT: the thread has a read transaction. MDB_BAD_TXN: the parent has failed, has
 * ended or has a child, or the thread has a write transaction. MDB_READERS_FULL.
 * MDB_MAP_RESIZED: see mdb_env_set_mapsize. EACCES: to write in a read-only environment.
 * MDB_PANIC: the environment must be closed, or was opened before a fork. EINVAL: NULL, not
 * open, or the parent only reads or is of another environment.
 */
int mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn);

/* Returns the environment of a transaction; NULL for NULL, and for an ended transaction. */
MDB_env *mdb_txn_env(MDB_txn *txn);

/* Returns the id of a transaction: of the commit that a reader sees, or that a writer will
 * make. 0 for NULL, and for an ended transaction.
 */
size_t mdb_txn_id(MDB_txn *txn);

/* Commits a transaction and ends the handle, even if it fails. A child that lives is committed
 * first.
 *
 * The cursors of a write transaction are closed. Those of a read transaction must be closed or
 * renewed by the program. ENOSPC, EIO, MDB_MAP_FULL: nothing was committed. MDB_BAD_TXN: the
 * transaction had failed and was aborted, or it has ended before. EINVAL: no transaction.
 *
 * MDB_BAD_TXN is also the result in the wrong thread (see mdb_txn_begin), and in a comparison
 * function called within the transaction. Then the transaction lives on with all its changes.
 * MDB_PANIC in a forked child: the transaction is the parent's.
 */
int mdb_txn_commit(MDB_txn *txn);

/* Ends a transaction without effect on the data; its children first. NULL and ended
 * transactions are ignored.
 *
 * Without effect where mdb_txn_commit returns a code and the transaction lives on. But once
 * the thread of a write transaction has ended, any thread may abort it. The environment can
 * then be written again, unless a begin failed with MDB_PANIC before: then all later ones fail
 * too.
 */
void mdb_txn_abort(MDB_txn *txn);

/* Releases the snapshot of a read transaction but keeps the handle, for mdb_txn_renew. Without
 * effect on others.
 */
void mdb_txn_reset(MDB_txn *txn);

/* Begins a reset read transaction again, on the newest snapshot.
 *
 * EINVAL: it was not reset. Otherwise as mdb_txn_begin.
 */
int mdb_txn_renew(MDB_txn *txn);

/* ---- Databases ---- */

/* Opens a database by name, or with NULL the main one, and stores its handle.
 *
 * The handle belongs to the transaction until that commits. Then it is valid in all
 * transactions that begin later, until mdb_dbi_close, mdb_drop or the end of the environment.
 * An open name keeps its handle, and an existing database keeps its flags. With MDB_CREATE a
 * write transaction creates a database that does not exist.
 *
 * MDB_NOTFOUND: there is none. MDB_DBS_FULL: see mdb_env_set_maxdbs. MDB_INCOMPATIBLE: the
 * name is a plain key of the main database, or its flags rule out named databases. EACCES: to
 * create one in a read transaction. MDB_BAD_VALSIZE: names have 1 to 511 bytes. EINVAL: NULL,
 * unknown flags, or MDB_DUPFIXED, MDB_INTEGERDUP or MDB_REVERSEDUP without MDB_DUPSORT for a
 * new one. MDB_BAD_TXN.
 */
int mdb_dbi_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *dbi);

/* Closes a database handle, for transactions that begin later. Do not close it while a
 * transaction changes the database; programs need not close handles at all.
 */
void mdb_dbi_close(MDB_env *env, MDB_dbi dbi);

/* Gets the flags of a database. */
int mdb_dbi_flags(MDB_txn *txn, MDB_dbi dbi, unsigned int *flags);

/* Gets the statistics of a database; handle 0 is the free list. */
int mdb_stat(MDB_txn *txn, MDB_dbi dbi, MDB_stat *stat);

/* Empties a database; with del 1, also deletes it and closes the handle. The main database is
 * only emptied. Its named databases go with it, and their handles are closed.
 *
 * EACCES: in a read transaction. EINVAL: NULL, an unknown handle, or another del.
 */
int mdb_drop(MDB_txn *txn, MDB_dbi dbi, int del);

/* Older names of mdb_dbi_open and mdb_dbi_close. */
#define mdb_open(txn, name, flags, dbi) mdb_dbi_open(txn, name, flags, dbi)
#define mdb_close(env, dbi) mdb_dbi_close(env, dbi)

/* ---- Comparison functions ---- */

/* Sets a comparison function for the keys of a database. It replaces the order that the flags
 * define.
 *
 * The file does not record it. Every program that opens the database must set the same one,
 * before it does anything else with the handle. NULL sets the default again.
 */
int mdb_set_compare(MDB_txn *txn, MDB_dbi dbi, MDB_cmp_func *cmp);

/* Sets a comparison function for the values of a key, as mdb_set_compare does for keys.
 * Without effect in a database without MDB_DUPSORT.
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

/* Points data to the value of a key; to the first if it has several.
 *
 * MDB_NOTFOUND: there is none, and data is not changed. EINVAL: NULL or an unknown handle.
 * MDB_BAD_VALSIZE: an empty key. MDB_BAD_TXN.
 */
int mdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);

/* Stores an item: it replaces the value of the key, or in a MDB_DUPSORT database is added to
 * its values.
 *
 * flags: MDB_NOOVERWRITE, MDB_NODUPDATA, MDB_RESERVE, MDB_APPEND, MDB_APPENDDUP. With
 * MDB_RESERVE data gives the size, and is pointed to room that the program fills before the
 * next change. A MDB_DUPSORT database has no MDB_RESERVE.
 *
 * MDB_KEYEXIST: the flags forbid it. With MDB_NOOVERWRITE data is pointed to the present
 * value. MDB_MAP_FULL: see mdb_env_set_mapsize. The transaction must then be aborted. EACCES:
 * in a read transaction. MDB_BAD_VALSIZE: keys have 1 to 511 bytes, as have the values of a
 * MDB_DUPSORT database. MDB_INCOMPATIBLE: the key is that of a named database. EINVAL: NULL,
 * an unknown handle or flag. MDB_BAD_TXN.
 */
int mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data, unsigned int flags);

/* Deletes a key. In a MDB_DUPSORT database it deletes only the value data, or all values if
 * data is NULL. Elsewhere data is ignored.
 *
 * MDB_NOTFOUND: there is no such item. EACCES: in a read transaction. EINVAL: NULL or an
 * unknown handle. MDB_BAD_VALSIZE: an empty key. MDB_INCOMPATIBLE: the key is that of a named
 * database, see mdb_drop. The transaction must then be aborted.
 */
int mdb_del(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);

/* ---- Cursors ---- */

/* Creates a cursor over a database, without a position.
 *
 * The end of a write transaction closes its cursors, unless mdb_cursor_close did it before. A
 * cursor of a read transaction must be closed by the program, and may be renewed for another
 * read transaction.
 *
 * EINVAL: NULL, an unknown handle, or the free list (handle 0) in a write transaction.
 * MDB_BAD_TXN.
 */
int mdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor);

/* Closes a cursor. NULL and closed cursors are ignored.
 *
 * Without effect in a comparison function called within its transaction. A cursor of a write
 * transaction is closed only in the thread of that transaction.
 */
void mdb_cursor_close(MDB_cursor *cursor);

/* Gives a cursor of a read transaction to another read transaction, without a position.
 *
 * EINVAL: NULL, a write transaction, one of another environment, or a handle that is unknown
 * there. MDB_BAD_TXN: the transaction has ended, or the call is made in a comparison function
 * called within the cursor's transaction.
 */
int mdb_cursor_renew(MDB_txn *txn, MDB_cursor *cursor);

/* Returns the transaction of a cursor; NULL for NULL, for a closed cursor, and once a read
 * transaction has ended.
 */
MDB_txn *mdb_cursor_txn(MDB_cursor *cursor);

/* Returns the database handle of a cursor; 0 for NULL, and for a closed cursor. */
MDB_dbi mdb_cursor_dbi(MDB_cursor *cursor);

/* ---- Cursors: moving ---- */

/* Moves a cursor, and points key and data to the item it reaches. Both may be NULL where they
 * are not needed.
 *
 * MDB_NOTFOUND: there is no such item. EINVAL: NULL, an unknown operation, or an unset cursor
 * where the operation needs a current item. MDB_INCOMPATIBLE: an operation on the values of a
 * key, where keys have one each. MDB_BAD_VALSIZE: an empty key. MDB_BAD_TXN.
 *
 * MDB_SET and MDB_GET_BOTH do not change the key argument. MDB_FIRST_DUP, MDB_LAST_DUP and
 * MDB_GET_MULTIPLE do not change it where the key has several values.
 */
int mdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *data, MDB_cursor_op op);

/* Counts the values of the current key.
 *
 * EINVAL: NULL, or the cursor is unset. MDB_INCOMPATIBLE: the database is not MDB_DUPSORT.
 * MDB_NOTFOUND: behind the last item.
 */
int mdb_cursor_count(MDB_cursor *cursor, size_t *count);

/* ---- Cursors: changing ---- */

/* Stores an item and moves the cursor to it. After MDB_KEYEXIST the cursor is on the present
 * item.
 *
 * In addition to the flags of mdb_put: MDB_CURRENT replaces the current item, whose key must
 * be given. With MDB_MULTIPLE, in a MDB_DUPFIXED database, data is an array of two. The first
 * holds the size of an item and the address of the items. The second holds their number, which
 * becomes the number of stored items.
 *
 * Results as those of mdb_put. EINVAL: MDB_CURRENT on an unset cursor or on another key, or
 * with MDB_NODUPDATA, or no items.
 */
int mdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *data, unsigned int flags);

/* Deletes the current item; with MDB_NODUPDATA its key with all values. The cursor is then on
 * the next item, to which MDB_NEXT moves.
 *
 * EINVAL: NULL, or the cursor is unset. MDB_NOTFOUND: behind the last item. EACCES: in a read
 * transaction.
 */
int mdb_cursor_del(MDB_cursor *cursor, unsigned int flags);

/* ---- Functions that LMDB does not have: in libfulgurite (-lfulgurite), with all above ---- */

/* Lets the map grow as needed, up to max_bytes. MDB_MAP_FULL occurs only at that size, and
 * MDB_MAP_RESIZED not where this library alone writes. 0 returns to a map of fixed size.
 * mdb_env_set_mapsize is a hint then.
 *
 * This takes address space, but neither memory nor disk. The environment variable
 * FULGURITE_GROW=1 does the same for programs that do not call this, up to 1 TiB. EINVAL when
 * the environment is open.
 */
int fulgurite_env_set_growth(MDB_env *env, size_t max_bytes);

/* Gets the values of many keys, with several searches in progress at a time. Where the
 * database is much larger than the processor's caches, this is faster than as many calls of
 * mdb_get.
 *
 * Each of values is pointed to the (first) value of the key at the same index. Where there is
 * none, its mv_data becomes NULL. Each of codes becomes 0 or MDB_NOTFOUND; codes may be NULL.
 * EINVAL, MDB_BAD_TXN and errors of the file apply to the whole call, and then no value is
 * set. So does MDB_BAD_VALSIZE if any key is empty.
 */
int fulgurite_get_many(MDB_txn *txn, MDB_dbi dbi, size_t count, const MDB_val *keys, MDB_val *values, int *codes);

/* Counts the items with low <= key < high, exactly; a key counts with each of its values. NULL
 * for low is the beginning, for high the end.
 *
 * The cost is a look at each leaf page in the range, or outside it if those are fewer.
 */
int fulgurite_count_range(MDB_txn *txn, MDB_dbi dbi, const MDB_val *low, const MDB_val *high, size_t *count);

/* Estimates the result of fulgurite_count_range, for choosing between plans. The cost is a few
 * pages for any range. The result is mostly within a tenth of the count.
 */
int fulgurite_estimate_range(MDB_txn *txn, MDB_dbi dbi, const MDB_val *low, const MDB_val *high, size_t *count);

/* ---- Functions that LMDB does not have, in libfulgurite: long readers ---- */

/* A reader of any process. Unknown numbers are SIZE_MAX: the age of readers that use LMDB, and the
 * snapshot of a reader between transactions.
 */
typedef struct fulgurite_reader {
    /* Id of its process. */
    size_t process;
    /* Number of its thread, as the process names it. */
    size_t thread;
    /* The snapshot that it reads: the id of a transaction. */
    size_t snapshot;
    /* Number of transactions committed since. */
    size_t lag;
    /* Milliseconds for which it has had the snapshot. */
    size_t age_ms;
    /* Free pages that cannot be used again while it has the snapshot. */
    size_t held_pages;
    /* 1 if a writer has asked it to end, else 0. */
    int asked_to_end;
} fulgurite_reader;

/* Receives a reader, which is valid during the call. In lists, a negative result ends the listing. */
typedef int (fulgurite_reader_func)(const fulgurite_reader *reader, void *ctx);

/* Tells writers what to do when a reader's old snapshot would make them extend the file. Set
 * everything to 0 first.
 *
 * A reader counts as long beyond any of the limits; a limit of 0 is none. Without limits every
 * reader is long that holds pages. The actions add up, in this order: warn is called, the reader
 * is asked to end, growth is refused.
 */
typedef struct fulgurite_reader_policy {
    /* Limit of transactions committed since the snapshot. */
    size_t lag_max;
    /* Limit of milliseconds for which it has had the snapshot. */
    size_t age_ms_max;
    /* Limit of pages that it holds. */
    size_t held_pages_max;
    /* Called once for each snapshot that a long reader holds, by the thread that writes. It must
     * not write to the environment. NULL for no call.
     */
    fulgurite_reader_func *warn;
    /* Passed to warn. */
    void *ctx;
    /* 1: readers of the oldest snapshot are asked to end. The next call for such a transaction is
     * MDB_BAD_TXN, in any process (fulgurite_txn_ended tells it from other reasons). Data it has
     * returned stays valid until it is aborted or reset. Readers that use LMDB cannot be asked.
     */
    int end_oldest;
    /* Milliseconds for which a writer waits for that, once for each snapshot, before it goes on. */
    unsigned int grace_ms;
    /* 1: the call that writes is MDB_MAP_FULL instead, and the transaction must be aborted. */
    int refuse_growth;
} fulgurite_reader_policy;

/* Sets the policy of this environment's writers about long readers, from now on; NULL for
 * none, as at first.
 *
 * Any thread that writes may call warn with ctx, until another policy is set or the
 * environment is closed. EINVAL unless the environment is open.
 */
int fulgurite_env_set_reader_policy(MDB_env *env, const fulgurite_reader_policy *policy);

/* Lists the reader slots in use of all processes, through a function. Returns the last result
 * of that function, 0 without readers. As mdb_reader_list, with everything that is known of
 * each reader.
 *
 * It reads the free list, and takes a reader slot for that. Where there is no slot left, the
 * held pages are unknown. Errors are negative codes as elsewhere; EINVAL for NULL.
 */
int fulgurite_reader_list(MDB_env *env, fulgurite_reader_func *func, void *ctx);

/* Returns 1 if a writer has asked a read transaction to end, else 0. Every other call for such
 * a transaction is MDB_BAD_TXN. It must be aborted, or reset and renewed. 0 for NULL and for
 * write transactions.
 */
int fulgurite_txn_ended(MDB_txn *txn);

#ifdef __cplusplus
}
#endif

#endif
