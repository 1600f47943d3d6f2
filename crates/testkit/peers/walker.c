/* Walks through environments that may be damaged, on the library given by its
 * path: reads, changes and copies everything there is a call for.
 *
 *     walker LIBRARY DIRECTORY
 *
 * Says "ready LIBRARY-AS-MAPPED VERSION", then for each line "NUMBER SEED" of
 * its input opens DIRECTORY, walks, closes it, and answers
 * "NUMBER CALLS ERRORS REFUSED". What the walk does follows from the seed. When
 * the library crashes so does the process, and when it does not return neither
 * does the process: whoever asked must be prepared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "walker.h"

#define LOOKS 16
#define BLOCKS_MAX 10000

struct library db;
struct met met;

static uint64_t state;
static int nowhere;

uint64_t luck(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned below(unsigned bound)
{
	return bound ? luck() % bound : 0;
}

int chance(unsigned percent)
{
	return below(100) < percent;
}

MDB_val noise(void *room, size_t length)
{
	for (size_t i = 0; i < length; i++)
		((unsigned char *)room)[i] = luck();
	return (MDB_val){ length, room };
}

/* Results that speak of the question, as they would of a sound file. */
static int is_of_the_caller(int rc)
{
	switch (rc) {
	case MDB_SUCCESS: case MDB_NOTFOUND: case MDB_KEYEXIST: case MDB_BAD_VALSIZE: case MDB_INCOMPATIBLE:
	case MDB_MAP_FULL: case MDB_DBS_FULL: case EINVAL: case EACCES:
		return 1;
	}
	return 0;
}

int see(int rc)
{
	met.calls++;
	met.errors += !is_of_the_caller(rc);
	met.failed |= !is_of_the_caller(rc) || rc == MDB_MAP_FULL;
	return rc;
}

void touch(MDB_val value)
{
	const volatile unsigned char *octets = value.mv_data;
	unsigned sum = 0;
	for (size_t i = 0; i < value.mv_size; i += 256)
		sum += octets[i];
	if (value.mv_size)
		sum += octets[value.mv_size - 1];
	(void)sum;
}

unsigned databases(MDB_txn *txn, MDB_dbi *dbis)
{
	unsigned found = 0, names = 0;
	if (see(db.dbi_open(txn, NULL, 0, &dbis[0])))
		return 0;
	found = 1;
	MDB_cursor *cursor;
	if (see(db.cursor_open(txn, dbis[0], &cursor)))
		return found;
	MDB_val key, value;
	char name[DATABASES][512];
	for (MDB_cursor_op op = MDB_FIRST; !see(db.cursor_get(cursor, &key, &value, op)); op = MDB_NEXT_NODUP)
		if (value.mv_size == 48 && key.mv_size < 511 && names < DATABASES - 1 && !memchr(key.mv_data, 0, key.mv_size)) {
			memcpy(name[names], key.mv_data, key.mv_size);
			name[names++][key.mv_size] = 0;
		}
	db.cursor_close(cursor);
	for (unsigned i = 0; i < names; i++)
		if (!see(db.dbi_open(txn, name[i], 0, &dbis[found])))
			found++;
	return found;
}

static unsigned scans(MDB_txn *txn, MDB_dbi dbi, MDB_val *keys)
{
	unsigned kept = 0;
	uint64_t seen = 0;
	MDB_cursor *cursor;
	MDB_val key, value;
	if (see(db.cursor_open(txn, dbi, &cursor)))
		return 0;
	for (MDB_cursor_op op = MDB_FIRST; !see(db.cursor_get(cursor, &key, &value, op)); op = MDB_NEXT) {
		touch(value);
		if (kept < LOOKS && (kept < LOOKS / 2 || !(seen & (seen - 1))))
			keys[kept++] = key;
		seen++;
	}
	for (MDB_cursor_op op = MDB_LAST; !see(db.cursor_get(cursor, &key, &value, op)); op = MDB_PREV)
		touch(value);
	db.cursor_close(cursor);
	return kept;
}

static void moves(MDB_txn *txn, MDB_dbi dbi, MDB_val *keys, unsigned count)
{
	static const MDB_cursor_op steps[] = {
		MDB_SET_KEY, MDB_LAST_DUP, MDB_PREV_DUP, MDB_FIRST_DUP, MDB_NEXT_DUP, MDB_GET_MULTIPLE, MDB_NEXT_MULTIPLE,
		MDB_PREV_MULTIPLE, MDB_GET_BOTH, MDB_GET_BOTH_RANGE, MDB_NEXT_NODUP, MDB_PREV_NODUP, MDB_GET_CURRENT,
		MDB_SET_RANGE, MDB_NEXT, MDB_PREV, MDB_SET, MDB_LAST, MDB_PREV, MDB_FIRST,
	};
	unsigned char room[6];
	MDB_cursor *cursor;
	if (see(db.cursor_open(txn, dbi, &cursor)))
		return;
	unsigned flags = 0;
	int sorted = !see(db.dbi_flags(txn, dbi, &flags)) && flags & MDB_DUPSORT;
	for (unsigned i = below(count), taken = 0; i < count && taken < 3; i += 3, taken++)
		for (unsigned s = 0; s < sizeof steps / sizeof *steps; s++) {
			MDB_val key = keys[i], value = noise(room, sizeof room);
			if (!see(db.cursor_get(cursor, &key, &value, steps[s])) && steps[s] != MDB_SET)
				touch(value);
			size_t duplicates;
			if (sorted)
				see(db.cursor_count(cursor, &duplicates));
		}
	MDB_val key, value;
	unsigned left = BLOCKS_MAX;
	for (MDB_cursor_op op = MDB_FIRST; left && !see(db.cursor_get(cursor, &key, &value, op)); op = MDB_NEXT_NODUP, left--)
		while (flags & MDB_DUPFIXED && left && !see(db.cursor_get(cursor, &key, &value, MDB_NEXT_MULTIPLE)))
			touch(value), left--;
	for (MDB_cursor_op op = MDB_LAST; left && !see(db.cursor_get(cursor, &key, &value, op)); op = MDB_PREV_NODUP)
		left--;
	db.cursor_close(cursor);
}

void read_database(MDB_txn *txn, MDB_dbi dbi)
{
	MDB_stat stat;
	MDB_val keys[LOOKS], value, made_up;
	unsigned char room[16];
	see(db.stat(txn, dbi, &stat));
	unsigned count = scans(txn, dbi, keys);
	for (unsigned i = 0; i < count; i++) {
		made_up = keys[i];
		if (!see(db.get(txn, dbi, &made_up, &value)))
			touch(value);
	}
	made_up = noise(room, chance(50) ? 8 : 1 + below(12));
	see(db.get(txn, dbi, &made_up, &value));
	moves(txn, dbi, keys, count);
}

static int ignore_text(const char *text, void *context)
{
	(void)text, (void)context;
	return 0;
}

static void read_all(MDB_env *env)
{
	MDB_envinfo info;
	MDB_stat stat;
	MDB_txn *txn;
	int dead;
	see(db.env_info(env, &info));
	see(db.env_stat(env, &stat));
	see(db.reader_list(env, ignore_text, NULL));
	see(db.reader_check(env, &dead));
	if (see(db.txn_begin(env, NULL, MDB_RDONLY, &txn)))
		return;
	MDB_dbi dbis[DATABASES];
	unsigned count = databases(txn, dbis);
	for (unsigned i = 0; i < count; i++)
		read_database(txn, dbis[i]);
	if (chance(20)) {
		db.txn_reset(txn);
		if (!see(db.txn_renew(txn)) && count)
			see(db.stat(txn, dbis[0], &stat));
	}
	db.txn_abort(txn);
}

static MDB_env *open_environment(const char *directory, int plainly)
{
	MDB_env *env;
	unsigned flags = MDB_NOSYNC;
	if (db.env_create(&env))
		return NULL;
	db.env_set_maxdbs(env, 16);
	if (!plainly) {
		if (chance(20)) flags |= MDB_WRITEMAP;
		if (chance(6)) flags |= MDB_RDONLY;
		if (chance(10)) flags |= MDB_NOLOCK;
		if (chance(10)) flags |= MDB_NOTLS;
		if (chance(5)) flags |= MDB_NORDAHEAD;
		if (chance(3)) flags |= MDB_FIXEDMAP;
		if (chance(40))
			db.env_set_mapsize(env, (size_t)1 << (12 + below(17)));
	}
	if (see(db.env_open(env, directory, flags, 0644))) {
		db.env_close(env);
		return NULL;
	}
	return env;
}

/* Whether it could be opened. */
static int walk(const char *directory)
{
	MDB_env *env = open_environment(directory, 0);
	int opened = env != NULL;
	if (env) {
		read_all(env);
		change(env);
		for (unsigned flags = 0; flags < 2; flags++)
			if (chance(50))
				see(db.env_copyfd2(env, nowhere, flags ? MDB_CP_COMPACT : 0));
		db.env_close(env);
	}
	if ((env = open_environment(directory, 1))) {
		read_all(env);
		db.env_close(env);
	}
	return opened;
}

/* Where the library was mapped from, by the system's own account. */
static void say_ready(void)
{
	Dl_info info;
	char line[4096];
	if (!dladdr((void *)db.env_create, &info)) {
		fprintf(stderr, "the library is nowhere\n");
		exit(2);
	}
	FILE *maps = fopen("/proc/self/maps", "r");
	const char *mapped = "?";
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long low, high, at = (unsigned long)db.env_create;
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && low <= at && at < high) {
			line[strcspn(line, "\n")] = 0;
			mapped = strchr(line, '/');
			break;
		}
	}
	printf("ready %s %s\n", mapped ? mapped : "?", db.version(NULL, NULL, NULL));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	/* What runs away ends in an error, not in the machine's memory or disk. */
	struct rlimit memory = { 512u << 20, 512u << 20 }, space = { 1ul << 41, 1ul << 41 };
	struct rlimit file = { 1ul << 30, 1ul << 30 }, core = { 0, 0 };
	setrlimit(RLIMIT_DATA, &memory);
	setrlimit(RLIMIT_AS, &space);
	setrlimit(RLIMIT_FSIZE, &file);
	setrlimit(RLIMIT_CORE, &core);
	signal(SIGXFSZ, SIG_IGN);
	nowhere = open("/dev/null", O_WRONLY);
	library_open(&db, argv[1]);
	say_ready();
	unsigned long long number, seed;
	char line[128];
	while (fgets(line, sizeof line, stdin) && sscanf(line, "%llu %llu", &number, &seed) == 2) {
		met = (struct met){ 0, 0, 0 };
		state = seed;
		int opened = walk(argv[2]);
		printf("%llu %llu %llu %d\n", number, (unsigned long long)met.calls, (unsigned long long)met.errors, !opened);
		fflush(stdout);
	}
	return 0;
}
