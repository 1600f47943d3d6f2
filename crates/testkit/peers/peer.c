/* A process on the real liblmdb, driven line by line over standard input and
 * output. The protocol is described in `fulgurite_testkit::peer`.
 *
 *     cc -O1 -o peer peer.c -llmdb
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lmdb.h>

#define SLOTS 8
#define WORDS 8

static MDB_env *env;
static MDB_txn *writer;
static MDB_txn *readers[SLOTS];

static uint32_t crc_table[256];

static void crc_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
		crc_table[i] = c;
	}
}

static uint32_t crc(uint32_t c, const void *p, size_t n)
{
	const unsigned char *b = p;
	for (size_t i = 0; i < n; i++)
		c = crc_table[(c ^ b[i]) & 0xff] ^ (c >> 8);
	return c;
}

static uint32_t crc_field(uint32_t c, const MDB_val *v)
{
	uint32_t n = (uint32_t)v->mv_size;
	return crc(crc(c, &n, 4), v->mv_data, v->mv_size);
}

static void fail(int rc)
{
	const char *name = NULL;
	switch (rc) {
	case MDB_KEYEXIST: name = "KEYEXIST"; break;
	case MDB_NOTFOUND: name = "NOTFOUND"; break;
	case MDB_PAGE_NOTFOUND: name = "PAGE_NOTFOUND"; break;
	case MDB_CORRUPTED: name = "CORRUPTED"; break;
	case MDB_PANIC: name = "PANIC"; break;
	case MDB_VERSION_MISMATCH: name = "VERSION_MISMATCH"; break;
	case MDB_INVALID: name = "INVALID"; break;
	case MDB_MAP_FULL: name = "MAP_FULL"; break;
	case MDB_READERS_FULL: name = "READERS_FULL"; break;
	case MDB_MAP_RESIZED: name = "MAP_RESIZED"; break;
	case MDB_INCOMPATIBLE: name = "INCOMPATIBLE"; break;
	case MDB_BAD_RSLOT: name = "BAD_RSLOT"; break;
	case MDB_BAD_TXN: name = "BAD_TXN"; break;
	case MDB_BAD_VALSIZE: name = "BAD_VALSIZE"; break;
	}
	if (name)
		printf("= err %s\n", name);
	else
		printf("= err OS:%d %s\n", rc, strerror(rc));
}

static int hex_digit(int c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* Decodes in place; "." is the empty string. */
static MDB_val unhex(char *s)
{
	MDB_val v = { 0, s };
	if (!strcmp(s, "."))
		return v;
	size_t n = strlen(s) / 2;
	for (size_t i = 0; i < n; i++)
		s[i] = (char)(hex_digit(s[2 * i]) << 4 | hex_digit(s[2 * i + 1]));
	v.mv_size = n;
	return v;
}

static void print_hex(const MDB_val *v)
{
	printf("= ok ");
	if (!v->mv_size)
		putchar('.');
	for (size_t i = 0; i < v->mv_size; i++)
		printf("%02x", ((unsigned char *)v->mv_data)[i]);
	putchar('\n');
}

static MDB_txn *txn_named(const char *s)
{
	return *s == 'w' ? writer : readers[atoi(s) % SLOTS];
}

/* Handles by name. A transaction knows only the handles that were open when it
 * began, and two transactions of a process must not both open some. */
#define HANDLES 16
static struct handle {
	char name[64];
	MDB_dbi dbi;
	int uncommitted;
} handles[HANDLES];

static struct handle *handle_named(const char *name)
{
	for (int i = 0; i < HANDLES; i++)
		if (!strcmp(handles[i].name, name))
			return &handles[i];
	return NULL;
}

static int keep_handle(const char *name, MDB_dbi dbi, int uncommitted)
{
	struct handle *h = handle_named(name);
	if (!h && !(h = handle_named("")))
		return ENFILE;
	snprintf(h->name, sizeof h->name, "%s", name);
	h->dbi = dbi;
	h->uncommitted = uncommitted;
	return 0;
}

/* New handles stay after a commit and are gone after an abort. */
static void settle_handles(int committed)
{
	for (int i = 0; i < HANDLES; i++) {
		if (handles[i].uncommitted && !committed)
			handles[i].name[0] = 0;
		handles[i].uncommitted = 0;
	}
}

static int open_db(MDB_txn *txn, const char *name, MDB_dbi *dbi)
{
	struct handle *h = handle_named(name);
	if (!txn)
		return EINVAL;
	if (!strcmp(name, "-"))
		return mdb_dbi_open(txn, NULL, 0, dbi);
	if (!h)
		return MDB_NOTFOUND;
	*dbi = h->dbi;
	return 0;
}

static int do_use(const char *name)
{
	MDB_txn *txn;
	MDB_dbi dbi;
	int rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
	if (rc)
		return rc;
	rc = mdb_dbi_open(txn, name, 0, &dbi);
	if (!rc)
		rc = keep_handle(name, dbi, 0);
	mdb_txn_commit(txn);
	return rc;
}

static int do_open(char **w, int n)
{
	unsigned flags = MDB_NOTLS;
	size_t map = 1 << 20;
	unsigned max_readers = 0;
	for (int i = 2; i < n; i++) {
		if (!strcmp(w[i], "nosync")) flags |= MDB_NOSYNC;
		else if (!strcmp(w[i], "nometasync")) flags |= MDB_NOMETASYNC;
		else if (!strcmp(w[i], "writemap")) flags |= MDB_WRITEMAP;
		else if (!strcmp(w[i], "rdonly")) flags |= MDB_RDONLY;
		else if (!strcmp(w[i], "nosubdir")) flags |= MDB_NOSUBDIR;
		else if (!strncmp(w[i], "mapsize=", 8)) map = strtoull(w[i] + 8, NULL, 10);
		else if (!strncmp(w[i], "readers=", 8)) max_readers = (unsigned)atoi(w[i] + 8);
		else return EINVAL;
	}
	int rc = mdb_env_create(&env);
	if (!rc) rc = mdb_env_set_mapsize(env, map);
	if (!rc) rc = mdb_env_set_maxdbs(env, 64);
	if (!rc && max_readers) rc = mdb_env_set_maxreaders(env, max_readers);
	if (!rc) rc = mdb_env_open(env, w[1], flags, 0644);
	return rc;
}

static int do_fill(char **w)
{
	MDB_dbi dbi;
	long first = atol(w[2]), count = atol(w[3]), len = atol(w[4]), seed = atol(w[5]);
	int rc = open_db(writer, w[1], &dbi);
	for (long i = first; !rc && i < first + count; i++) {
		char k[32];
		MDB_val key = { (size_t)snprintf(k, sizeof k, "k%08ld", i), k };
		MDB_val val = { (size_t)len, NULL };
		rc = mdb_put(writer, dbi, &key, &val, MDB_RESERVE);
		for (long j = 0; !rc && j < len; j++)
			((unsigned char *)val.mv_data)[j] = (unsigned char)(seed + i + j);
	}
	return rc;
}

static int do_hash(char **w)
{
	MDB_txn *txn = txn_named(w[1]);
	MDB_dbi dbi;
	MDB_cursor *cur;
	MDB_val k, v;
	uint32_t c = 0xffffffffu;
	unsigned long long count = 0, bytes = 0;
	int rc = open_db(txn, w[2], &dbi);
	if (rc)
		return rc;
	if ((rc = mdb_cursor_open(txn, dbi, &cur)))
		return rc;
	while (!(rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT))) {
		c = crc_field(crc_field(c, &k), &v);
		count++;
		bytes += k.mv_size + v.mv_size;
	}
	mdb_cursor_close(cur);
	if (rc != MDB_NOTFOUND)
		return rc;
	printf("= ok %llu %llu %08x\n", count, bytes, ~c);
	return 0;
}

static int do_info(void)
{
	MDB_envinfo i;
	int rc = mdb_env_info(env, &i);
	if (!rc)
		printf("= ok %zu %zu %zu %u\n", i.me_mapsize, i.me_last_pgno, i.me_last_txnid, i.me_numreaders);
	return rc;
}

/* Runs one command. Returns an error code, 0 after its own answer, or -1 when a plain "ok" is due. */
static int command(char **w, int n)
{
	MDB_dbi dbi;
	MDB_val k, v;
	int rc, slot;
	const char *c = w[0];
	if (!strcmp(c, "open") && n >= 2)
		return (rc = do_open(w, n)) ? rc : -1;
	if (!strcmp(c, "write")) {
		if (!(rc = mdb_txn_begin(env, NULL, 0, &writer)))
			printf("= ok %zu\n", mdb_txn_id(writer));
		return rc;
	}
	if (!strcmp(c, "commit") || !strcmp(c, "abort")) {
		MDB_txn *t = writer;
		writer = NULL;
		if (!t)
			return EINVAL;
		rc = 0;
		if (*c == 'c')
			rc = mdb_txn_commit(t);
		else
			mdb_txn_abort(t);
		settle_handles(*c == 'c' && !rc);
		return rc ? rc : -1;
	}
	if (!strcmp(c, "read") && n == 2) {
		slot = atoi(w[1]) % SLOTS;
		if (!(rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &readers[slot])))
			printf("= ok %zu\n", mdb_txn_id(readers[slot]));
		return rc;
	}
	if (!strcmp(c, "renew") && n == 2) {
		slot = atoi(w[1]) % SLOTS;
		mdb_txn_reset(readers[slot]);
		if (!(rc = mdb_txn_renew(readers[slot])))
			printf("= ok %zu\n", mdb_txn_id(readers[slot]));
		return rc;
	}
	if (!strcmp(c, "end") && n == 2) {
		slot = atoi(w[1]) % SLOTS;
		mdb_txn_abort(readers[slot]);
		readers[slot] = NULL;
		return -1;
	}
	if (!strcmp(c, "create") && n == 3) {
		unsigned f = MDB_CREATE;
		if (!strcmp(w[2], "reverse")) f |= MDB_REVERSEKEY;
		if (!strcmp(w[2], "integer")) f |= MDB_INTEGERKEY;
		if (!writer)
			return EINVAL;
		if (!(rc = mdb_dbi_open(writer, w[1], f, &dbi)))
			rc = keep_handle(w[1], dbi, 1);
		return rc ? rc : -1;
	}
	if (!strcmp(c, "use") && n == 2)
		return (rc = do_use(w[1])) ? rc : -1;
	if (!strcmp(c, "put") && n == 4) {
		k = unhex(w[2]);
		v = unhex(w[3]);
		if (!(rc = open_db(writer, w[1], &dbi)))
			rc = mdb_put(writer, dbi, &k, &v, 0);
		return rc ? rc : -1;
	}
	if (!strcmp(c, "del") && n == 3) {
		k = unhex(w[2]);
		if (!(rc = open_db(writer, w[1], &dbi)))
			rc = mdb_del(writer, dbi, &k, NULL);
		return rc ? rc : -1;
	}
	if (!strcmp(c, "get") && n == 4) {
		MDB_txn *t = txn_named(w[1]);
		k = unhex(w[3]);
		if (!(rc = open_db(t, w[2], &dbi)))
			rc = mdb_get(t, dbi, &k, &v);
		if (!rc)
			print_hex(&v);
		return rc;
	}
	if (!strcmp(c, "fill") && n == 6)
		return (rc = do_fill(w)) ? rc : -1;
	if (!strcmp(c, "drop") && n == 2) {
		if (!(rc = open_db(writer, w[1], &dbi)))
			rc = mdb_drop(writer, dbi, 0);
		return rc ? rc : -1;
	}
	if (!strcmp(c, "hash") && n == 3)
		return do_hash(w);
	if (!strcmp(c, "info"))
		return do_info();
	if (!strcmp(c, "check")) {
		int dead = 0;
		if (!(rc = mdb_reader_check(env, &dead)))
			printf("= ok %d\n", dead);
		return rc;
	}
	if (!strcmp(c, "setmap") && n == 2)
		return (rc = mdb_env_set_mapsize(env, strtoull(w[1], NULL, 10))) ? rc : -1;
	if (!strcmp(c, "sync"))
		return (rc = mdb_env_sync(env, 1)) ? rc : -1;
	if (!strcmp(c, "close")) {
		mdb_env_close(env);
		env = NULL;
		return -1;
	}
	if (!strcmp(c, "die"))
		raise(SIGKILL);
	if (!strcmp(c, "quit"))
		exit(0);
	return EINVAL;
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	crc_init();
	while ((len = getline(&line, &cap, stdin)) > 0) {
		char *w[WORDS] = { 0 }, *save = NULL;
		int n = 0;
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		for (char *t = strtok_r(line, " ", &save); t && n < WORDS; t = strtok_r(NULL, " ", &save))
			w[n++] = t;
		int rc = n ? command(w, n) : EINVAL;
		if (rc == -1)
			printf("= ok\n");
		else if (rc)
			fail(rc);
		fflush(stdout);
	}
	return 0;
}
