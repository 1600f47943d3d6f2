/* Berkeley DB as plain functions: its own are members of structures, which only its header describes. */
#include <db.h>
#include <stdlib.h>
#include <string.h>

struct store {
	DB_ENV *env;
	DB *db;
	int synchronous;
	int kind;
};

/* Parts of a kind: a hash table, an environment with a cache only, no transactions. */
enum { HASH = 1, BARE = 2, WITHOUT_TRANSACTIONS = 4 };

struct reader {
	struct store *store;
	DBC *cursor;
	DBT key, value; /* the library enlarges their memory as needed */
};

const char *berkeley_version(void)
{
	return db_version(NULL, NULL, NULL);
}

const char *berkeley_error(int code)
{
	return db_strerror(code);
}

static int open_env(struct store *store, const char *folder, u_int32_t cache_bytes)
{
	DB_ENV *env;
	int code = db_env_create(&env, 0);
	if (code)
		return code;
	store->env = env;
	u_int32_t flags = DB_CREATE | DB_PRIVATE | DB_THREAD | DB_INIT_MPOOL;
	if (store->kind & BARE)
		return (code = env->set_cachesize(env, 0, cache_bytes, 1)) ? code : env->open(env, folder, flags, 0600);
	flags |= DB_INIT_TXN | DB_INIT_LOCK | DB_INIT_LOG | DB_RECOVER;
	if ((code = env->set_cachesize(env, 0, cache_bytes, 1))
		|| (code = env->set_lk_max_locks(env, 1000000)) || (code = env->set_lk_max_objects(env, 1000000))
		|| (code = env->set_lg_bsize(env, 16 << 20)) || (code = env->set_lg_max(env, 256 << 20))
		|| (code = env->log_set_config(env, DB_LOG_AUTO_REMOVE, 1)))
		return code;
	if (!store->synchronous && (code = env->set_flags(env, DB_TXN_WRITE_NOSYNC, 1)))
		return code;
	return env->open(env, folder, flags, 0600);
}

int berkeley_open(const char *folder, int kind, int synchronous, int duplicates, u_int32_t cache_bytes,
	struct store **result)
{
	struct store *store = calloc(1, sizeof *store);
	if (!store)
		return DB_RUNRECOVERY;
	*result = store;
	store->synchronous = synchronous;
	store->kind = kind;
	int code = open_env(store, folder, cache_bytes);
	if (code || (code = db_create(&store->db, store->env, 0)))
		return code;
	if (duplicates && (code = store->db->set_flags(store->db, DB_DUPSORT)))
		return code;
	u_int32_t flags = DB_CREATE | DB_THREAD | (kind & WITHOUT_TRANSACTIONS ? 0 : DB_AUTO_COMMIT);
	return store->db->open(store->db, NULL, "records.db", NULL, kind & HASH ? DB_HASH : DB_BTREE, flags, 0600);
}

void berkeley_close(struct store *store)
{
	if (store->db)
		store->db->close(store->db, 0);
	if (!(store->kind & BARE))
		store->env->txn_checkpoint(store->env, 0, 0, DB_FORCE);
	store->env->close(store->env, 0);
	free(store);
}

int berkeley_begin(struct store *store, DB_TXN **txn)
{
	*txn = NULL;
	return store->kind & WITHOUT_TRANSACTIONS ? 0 : store->env->txn_begin(store->env, NULL, txn, 0);
}

int berkeley_commit(DB_TXN *txn)
{
	return txn ? txn->commit(txn, 0) : 0;
}

int berkeley_abort(DB_TXN *txn)
{
	return txn ? txn->abort(txn) : 0;
}

static DBT borrowed(const void *start, size_t len)
{
	DBT dbt;
	memset(&dbt, 0, sizeof dbt);
	dbt.data = (void *)start;
	dbt.size = (u_int32_t)len;
	return dbt;
}

int berkeley_put(struct store *store, DB_TXN *txn, const void *key, size_t key_len, const void *value, size_t value_len)
{
	DBT k = borrowed(key, key_len), v = borrowed(value, value_len);
	return store->db->put(store->db, txn, &k, &v, 0);
}

int berkeley_delete(struct store *store, DB_TXN *txn, const void *key, size_t key_len)
{
	DBT k = borrowed(key, key_len);
	return store->db->del(store->db, txn, &k, 0);
}

struct reader *berkeley_reader(struct store *store)
{
	struct reader *reader = calloc(1, sizeof *reader);
	if (reader) {
		reader->store = store;
		reader->key.flags = reader->value.flags = DB_DBT_REALLOC;
	}
	return reader;
}

void berkeley_reader_close(struct reader *reader)
{
	if (reader->cursor)
		reader->cursor->close(reader->cursor);
	free(reader->key.data);
	free(reader->value.data);
	free(reader);
}

/* 0: found, 1: not found, else an error. */
static int outcome(int code)
{
	return code == DB_NOTFOUND ? 1 : code;
}

int berkeley_get(struct reader *reader, const void *key, size_t key_len, const void **value, size_t *value_len)
{
	DBT k = borrowed(key, key_len);
	DB *db = reader->store->db;
	int code = db->get(db, NULL, &k, &reader->value, 0);
	*value = reader->value.data;
	*value_len = reader->value.size;
	return outcome(code);
}

/* Operations: 0 first, 1 next, 2 last, 3 previous, 4 the first not below *key. */
int berkeley_step(struct reader *reader, int operation, const void **key, size_t *key_len, const void **value,
	size_t *value_len)
{
	static const u_int32_t flags[] = { DB_FIRST, DB_NEXT, DB_LAST, DB_PREV, DB_SET_RANGE };
	int code;
	DB *db = reader->store->db;
	if (!reader->cursor && (code = db->cursor(db, NULL, &reader->cursor, 0)))
		return code;
	if (operation == 4) {
		void *memory = realloc(reader->key.data, *key_len);
		if (!memory)
			return DB_RUNRECOVERY;
		reader->key.data = memory;
		reader->key.size = (u_int32_t)*key_len;
		memcpy(memory, *key, *key_len);
	}
	code = reader->cursor->get(reader->cursor, &reader->key, &reader->value, flags[operation]);
	*key = reader->key.data;
	*key_len = reader->key.size;
	*value = reader->value.data;
	*value_len = reader->value.size;
	return outcome(code);
}
