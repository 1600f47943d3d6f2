/* One process of several on one environment, on the library given by its path.
 *
 *     torture LIBRARY DIRECTORY init
 *     torture LIBRARY DIRECTORY write W SEED [OPTION]...
 *     torture LIBRARY DIRECTORY read SEED [OPTION]...
 *     torture LIBRARY DIRECTORY verify                  prints the counts of all writers
 *     torture LIBRARY DIRECTORY dump                    prints a line for each database: entries and a digest
 *
 * Options: sync nometasync notls writemap nested. Writers and readers go on
 * until DIRECTORY/stop exists. What was committed stands in DIRECTORY/board,
 * shared by all, so that a killed writer's successor and every reader can tell
 * a lost commit. Exit status: 0 well, 1 wrong, 3 stuck.
 *
 *     cc -O1 -o torture torture.c torture_steps.c torture_verify.c -ldl
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "torture.h"

#define STUCK_SECONDS 40
#define FIRST_MAP (1u << 20)
#define WHOLE_MAP (256u << 20)

struct library db;

/* Writers announce a count before they commit it, and report it after. */
struct board {
	_Atomic uint64_t attempted[WRITERS], committed[WRITERS];
};

static struct board *board;
static MDB_env *env;
static struct handles handles;
static const char *directory;
static char role[64], stop_file[4096];
static unsigned env_flags = MDB_NOSYNC;
static int nested;
static uint64_t luck;
static volatile sig_atomic_t doomed;

void wrong(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "WRONG %s (%s, pid %d): ", role, db.path, (int)getpid());
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t draw(uint64_t below)
{
	return mix(luck++, 77) % below;
}

/* The timer serves two ends: nothing may take long, and now and then a process
 * kills itself in the middle of what it does. */
static void on_alarm(int signal)
{
	(void)signal;
	if (doomed)
		kill(getpid(), SIGKILL);
	static const char said[] = "STUCK: no progress for 40 seconds\n";
	if (write(2, said, sizeof said - 1) < 0)
		_exit(4);
	_exit(3);
}

static void doom_soon(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, (suseconds_t)(1 + draw(3000)) } };
	doomed = 1;
	setitimer(ITIMER_REAL, &soon, NULL);
}

static void progress(void)
{
	if (!doomed)
		alarm(STUCK_SECONDS);
}

static int stopped(void)
{
	return access(stop_file, F_OK) == 0;
}

static void open_board(void)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/board", directory);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		wrong("board: %s", strerror(errno));
	board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		wrong("board: %s", strerror(errno));
	close(fd);
}

/* Small at first, so that growing the map is part of the game; files that are
 * written through the map are as large as the map, and stay as they are. */
static void open_env(unsigned more)
{
	MUST(&db, db.env_create(&env));
	MUST(&db, db.env_set_maxdbs(env, WRITERS + 8));
	MUST(&db, db.env_set_mapsize(env, env_flags & MDB_WRITEMAP ? WHOLE_MAP : FIRST_MAP));
	MUST(&db, db.env_open(env, directory, env_flags | more, 0600));
}

/* Begins; adopts the map that another process has made larger. */
static MDB_txn *begin(unsigned flags)
{
	for (;;) {
		MDB_txn *txn;
		progress();
		int rc = db.txn_begin(env, NULL, flags, &txn);
		progress();
		if (!rc)
			return txn;
		if (rc != MDB_MAP_RESIZED)
			wrong("begin: %d (%s)", rc, db.strerror(rc));
		MUST(&db, db.env_set_mapsize(env, 0));
	}
}

static void grow_map(void)
{
	MDB_envinfo info;
	MUST(&db, db.env_info(env, &info));
	if (info.me_mapsize >= WHOLE_MAP)
		wrong("the map is full with %zu bytes", info.me_mapsize);
	MUST(&db, db.env_set_mapsize(env, info.me_mapsize * 2));
}

static void open_all_handles(unsigned flags)
{
	MDB_txn *txn = begin(flags & MDB_CREATE ? 0 : MDB_RDONLY);
	MUST(&db, open_handles(txn, &handles, flags));
	MUST(&db, db.txn_commit(txn));
}

static void reopen(void)
{
	db.env_close(env);
	open_env(0);
	open_all_handles(0);
}

/* A snapshot shows what was reported before it began, nothing that was not yet
 * announced, and never less than an earlier one. */
static void look(MDB_txn *txn, uint64_t seen[WRITERS], const uint64_t reported[WRITERS])
{
	uint64_t counts[WRITERS];
	verify(txn, &handles, counts, (unsigned)draw(8));
	for (unsigned w = 0; w < WRITERS; w++) {
		if (counts[w] < reported[w])
			wrong("lost commit: writer %u had reported %llu, the snapshot has %llu", w,
				(unsigned long long)reported[w], (unsigned long long)counts[w]);
		if (counts[w] > atomic_load(&board->attempted[w]))
			wrong("writer %u has %llu without having tried", w, (unsigned long long)counts[w]);
		if (counts[w] < seen[w])
			wrong("backwards: writer %u had %llu, now %llu", w, (unsigned long long)seen[w],
				(unsigned long long)counts[w]);
		seen[w] = counts[w];
	}
}

static void read_board(uint64_t reported[WRITERS])
{
	for (unsigned w = 0; w < WRITERS; w++)
		reported[w] = atomic_load(&board->committed[w]);
}

static void pause_us(uint64_t microseconds)
{
	struct timespec span = { 0, (long)microseconds * 1000 };
	nanosleep(&span, NULL);
}

/* Holds snapshots for a while and judges them again: pages must not be reused
 * under a reader. */
static void read_forever(void)
{
	uint64_t seen[WRITERS] = { 0 }, reported[WRITERS], again[WRITERS];
	open_all_handles(0);
	MDB_txn *txn = NULL;
	while (!stopped()) {
		read_board(reported);
		if (txn && db.txn_renew(txn)) {
			db.txn_abort(txn);
			txn = NULL;
		}
		if (!txn)
			txn = begin(MDB_RDONLY);
		look(txn, seen, reported);
		MDB_txn *other = NULL;
		if (env_flags & MDB_NOTLS && draw(2)) {
			pause_us(draw(20000));
			read_board(reported);
			int rc = db.txn_begin(env, NULL, MDB_RDONLY, &other);
			if (rc && rc != MDB_MAP_RESIZED)
				wrong("second begin: %d", rc);
		}
		if (draw(3) == 0) {
			pause_us(draw(200000));
			progress();
			verify(txn, &handles, again, (unsigned)draw(8));
			if (memcmp(seen, again, sizeof seen))
				wrong("a snapshot changed while it was open");
		}
		if (other) {
			look(other, seen, reported);
			db.txn_abort(other);
		}
		if (draw(4)) {
			db.txn_reset(txn);
		} else {
			db.txn_abort(txn);
			txn = NULL;
			if (draw(8) == 0)
				reopen();
		}
		if (draw(300) == 0)
			doom_soon();
	}
	db.txn_abort(txn);
}

/* One step, in a transaction of its own within `txn` if it is so drawn. */
static int step_somehow(MDB_txn *txn, unsigned w, uint64_t n)
{
	MDB_txn *child = NULL;
	if (!nested || n % OWN_DROPPED == 0 || draw(3))
		return step(txn, &handles, w, n);
	if (draw(3) == 0) {
		MUST(&db, db.txn_begin(env, txn, 0, &child));
		int rc = vandalise(child, &handles, mix(luck++, n));
		db.txn_abort(child);
		if (rc == MDB_MAP_FULL)
			return rc;
		MUST(&db, rc);
	}
	MUST(&db, db.txn_begin(env, txn, 0, &child));
	int rc = step(child, &handles, w, n);
	if (rc) {
		db.txn_abort(child);
		return rc;
	}
	return db.txn_commit(child);
}

/* What the successor of a killed writer finds: all that was reported, and
 * either nothing or all of what was announced. */
static uint64_t recover(unsigned w)
{
	MDB_txn *txn = begin(0);
	uint64_t n = count_of(txn, &handles, w), done = atomic_load(&board->committed[w]);
	uint64_t tried = atomic_load(&board->attempted[w]);
	if (n != done && n != tried)
		wrong("lost or partial commit: %llu found, %llu reported, %llu announced", (unsigned long long)n,
			(unsigned long long)done, (unsigned long long)tried);
	atomic_store(&board->attempted[w], n);
	atomic_store(&board->committed[w], n);
	db.txn_abort(txn);
	return n;
}

static void write_forever(unsigned w)
{
	uint64_t seen[WRITERS] = { 0 }, reported[WRITERS];
	open_all_handles(0);
	uint64_t n = recover(w);
	while (!stopped()) {
		MDB_txn *txn = begin(0);
		uint64_t found = count_of(txn, &handles, w), batch = draw(10) ? 1 + draw(4) : 1 + draw(60);
		if (found != n)
			wrong("lost commit: wrote %llu, found %llu", (unsigned long long)n, (unsigned long long)found);
		if (draw(100) == 0)
			doom_soon();
		int rc = 0;
		for (uint64_t i = 1; !rc && i <= batch; i++)
			rc = step_somehow(txn, w, n + i);
		int give_up = draw(12) == 0;
		if (!rc && give_up)
			rc = vandalise(txn, &handles, mix(luck++, n));
		if (rc || give_up) {
			db.txn_abort(txn);
		} else {
			atomic_store(&board->attempted[w], n + batch);
			rc = db.txn_commit(txn);
			if (!rc)
				atomic_store(&board->committed[w], n += batch);
		}
		if (rc == MDB_MAP_FULL)
			grow_map();
		else
			MUST(&db, rc);
		if (rc || give_up) {
			/* A database dropped in a transaction that was aborted has lost its handle. */
			atomic_store(&board->attempted[w], n);
			open_all_handles(0);
		}
		if (draw(10) == 0)
			MUST(&db, db.reader_check(env, NULL));
		if (draw(20) == 0) {
			read_board(reported);
			txn = begin(MDB_RDONLY);
			look(txn, seen, reported);
			db.txn_abort(txn);
		}
		if (draw(100) == 0)
			reopen();
		if (draw(4) == 0)
			pause_us(draw(5000));
	}
}

static uint64_t digest(uint64_t so_far, const MDB_val *value)
{
	uint64_t word = 0;
	so_far = mix(so_far, value->mv_size);
	for (size_t at = 0; at < value->mv_size; at += 8) {
		memcpy(&word, (char *)value->mv_data + at, value->mv_size - at < 8 ? value->mv_size - at : 8);
		so_far = mix(so_far, word);
	}
	return so_far;
}

static void dump_database(MDB_txn *txn, MDB_dbi dbi, const char *name)
{
	MDB_cursor *cursor;
	MDB_val key, data;
	MDB_stat stat;
	unsigned flags;
	uint64_t sum = 0, seen = 0;
	MUST(&db, db.dbi_flags(txn, dbi, &flags));
	MUST(&db, db.stat(txn, dbi, &stat));
	MUST(&db, db.cursor_open(txn, dbi, &cursor));
	while (!db.cursor_get(cursor, &key, &data, MDB_NEXT)) {
		sum = digest(digest(sum, &key), &data);
		seen++;
	}
	db.cursor_close(cursor);
	printf("%s flags %#x entries %zu seen %llu depth %u pages %zu %zu %zu digest %016llx\n", name, flags,
		stat.ms_entries, (unsigned long long)seen, stat.ms_depth, stat.ms_branch_pages, stat.ms_leaf_pages,
		stat.ms_overflow_pages, (unsigned long long)sum);
}

static void dump_all(void)
{
	char name[8];
	open_all_handles(0);
	MDB_txn *txn = begin(MDB_RDONLY);
	dump_database(txn, handles.main, "main");
	dump_database(txn, handles.ledger, "ledger");
	dump_database(txn, handles.items, "items");
	dump_database(txn, handles.dups, "dups");
	dump_database(txn, handles.fixed, "fixed");
	for (unsigned w = 0; w < WRITERS; w++) {
		sprintf(name, "own%u", w);
		dump_database(txn, handles.own[w], name);
	}
	db.txn_abort(txn);
}

static void verify_end(void)
{
	uint64_t counts[WRITERS];
	open_all_handles(0);
	MDB_txn *txn = begin(MDB_RDONLY);
	for (unsigned how = 0; how < 8; how += 7)
		verify(txn, &handles, counts, how);
	for (unsigned w = 0; w < WRITERS; w++) {
		if (counts[w] != atomic_load(&board->committed[w]) && counts[w] != atomic_load(&board->attempted[w]))
			wrong("writer %u ends with %llu, had reported %llu", w, (unsigned long long)counts[w],
				(unsigned long long)atomic_load(&board->committed[w]));
		printf("%llu ", (unsigned long long)counts[w]);
	}
	printf("\n");
	db.txn_abort(txn);
}

static void take_option(const char *word)
{
	if (!strcmp(word, "sync"))
		env_flags &= ~(unsigned)MDB_NOSYNC;
	else if (!strcmp(word, "nometasync"))
		env_flags = (env_flags & ~(unsigned)MDB_NOSYNC) | MDB_NOMETASYNC;
	else if (!strcmp(word, "notls"))
		env_flags |= MDB_NOTLS;
	else if (!strcmp(word, "writemap"))
		env_flags |= MDB_WRITEMAP;
	else if (!strcmp(word, "nested"))
		nested = 1;
	else
		wrong("what is %s?", word);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	library_open(&db, argv[1]);
	directory = argv[2];
	const char *what = argv[3];
	int writer = !strcmp(what, "write"), reader = !strcmp(what, "read"), at = 4 + 2 * writer + reader;
	if (argc < at)
		return 2;
	snprintf(role, sizeof role, "%s %s", what, writer ? argv[4] : "");
	snprintf(stop_file, sizeof stop_file, "%s/stop", directory);
	luck = writer || reader ? strtoull(argv[at - 1], NULL, 10) : 0;
	for (; at < argc; at++)
		take_option(argv[at]);
	signal(SIGALRM, on_alarm);
	progress();
	open_board();
	open_env(0);
	if (writer)
		write_forever((unsigned)atoi(argv[4]) % WRITERS);
	else if (reader)
		read_forever();
	else if (!strcmp(what, "init"))
		open_all_handles(MDB_CREATE);
	else if (!strcmp(what, "verify"))
		verify_end();
	else if (!strcmp(what, "dump"))
		dump_all();
	else
		return 2;
	db.env_close(env);
	return 0;
}
