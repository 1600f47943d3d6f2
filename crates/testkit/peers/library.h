/* An LMDB library opened by path, so that one program can be run on any of
 * several, or on two of them at once.
 *
 *     struct library db;
 *     library_open(&db, "/usr/lib/x86_64-linux-gnu/liblmdb.so.0");
 *     db.env_create(&env);
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <lmdb.h>

#define LIBRARY_FUNCTIONS(F) \
	F(version) F(strerror) \
	F(env_create) F(env_open) F(env_close) F(env_set_mapsize) F(env_set_maxdbs) F(env_set_maxreaders) \
	F(env_info) F(env_stat) F(env_sync) F(env_copyfd2) F(reader_check) F(reader_list) \
	F(txn_begin) F(txn_commit) F(txn_abort) F(txn_reset) F(txn_renew) F(txn_id) \
	F(dbi_open) F(dbi_close) F(dbi_flags) F(drop) F(stat) \
	F(get) F(put) F(del) \
	F(cursor_open) F(cursor_close) F(cursor_renew) F(cursor_get) F(cursor_put) F(cursor_del) F(cursor_count)

struct library {
	const char *path;
#define F(name) __typeof__(mdb_##name) *name;
	LIBRARY_FUNCTIONS(F)
#undef F
	/* Fulgurite's own: NULL in others. */
	int (*get_many)(MDB_txn *txn, MDB_dbi dbi, size_t count, const MDB_val *keys, MDB_val *values, int *codes);
};

/* Opens the library or ends the program. Each library answers its own calls
 * only: RTLD_LOCAL keeps the names of two of them apart. */
static inline void library_open(struct library *db, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "dlopen: %s\n", dlerror());
		exit(2);
	}
	db->path = path;
#define F(name) \
	if (!(db->name = (__typeof__(db->name))dlsym(handle, "mdb_" #name))) { \
		fprintf(stderr, "dlsym: %s\n", dlerror()); \
		exit(2); \
	}
	LIBRARY_FUNCTIONS(F)
#undef F
	db->get_many = (__typeof__(db->get_many))dlsym(handle, "fulgurite_get_many");
}

/* Ends the program with the place and the library's words unless `rc` is 0. */
#define MUST(db, call) do { \
	int must_rc_ = (call); \
	if (must_rc_) { \
		fprintf(stderr, "%s:%d: %s: %s = %d (%s)\n", __FILE__, __LINE__, (db)->path, #call, must_rc_, \
			(db)->strerror(must_rc_)); \
		exit(1); \
	} \
} while (0)

#endif
