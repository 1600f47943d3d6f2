/* Measures two LMDB libraries in one process, turn and turn about.
 *
 *     bench [OPTION]... OURS THEIRS      both libraries, a Markdown table
 *     bench [OPTION]... --lib LIBRARY    one library: for profilers and counters of instructions
 *
 *     --dir DIR       where environments go (build/bench-lmdb)
 *     --only NAME     this workload; may be given several times
 *     --rounds N      how often each is run (9)
 *     --scale N       divides all sizes by N (1)
 *     --list          names of the workloads
 *
 * Both libraries get environments with the same bytes, made by THEIRS. Each
 * round runs both, in changing order. What is measured is the thread's CPU
 * time; the ratio is the median of the rounds' ratios, above 1 where OURS is
 * faster. What a workload reads, or leaves behind, must be the same for both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "workload.h"

#define MAP_BYTES (2ul << 30)
#define ROUNDS_MAX 101

static const char *folder = "build/bench-lmdb";
static const char *only[64];
static unsigned only_count, rounds = 9;
static struct sizes sizes = {
	.read_records = 1000000, .write_records = 200000, .number_records = 1000000,
	.dup_keys = 100, .dups_each = 3000, .few_keys = 40000, .fixed_each = 5000,
	.large_records = 2000, .large_bytes = 64 << 10,
	.operations = 400000,
};

static void path_of(char path[600], const struct side *side, const char *file)
{
	snprintf(path, 600, "%s/%s", side->folder, file);
}

static void remove_files(const struct side *side)
{
	char path[600];
	path_of(path, side, "data.mdb");
	unlink(path);
	path_of(path, side, "lock.mdb");
	unlink(path);
}

static void open_side(struct side *side, enum content content)
{
	side->size = &sizes;
	MUST_(side, side->db.env_create(&side->env));
	MUST_(side, side->db.env_set_mapsize(side->env, MAP_BYTES));
	MUST_(side, side->db.env_set_maxdbs(side->env, 4));
	MUST_(side, side->db.env_open(side->env, side->folder, MDB_NOSYNC, 0600));
	MDB_txn *txn = begin(side, 0);
	MUST_(side, side->db.dbi_open(txn, "bench", MDB_CREATE | database_flags(content), &side->dbi));
	commit(side, txn);
}

static void make_folder(char *path, const char *name)
{
	snprintf(path, 512, "%s/%s", folder, name);
	if (mkdir(path, 0700) && errno != EEXIST) {
		perror(path);
		exit(1);
	}
}

/* The environment that all begin with, made once. */
static const char *template_of(const struct library *library, enum content content)
{
	static struct side made[CONTENTS];
	struct side *side = &made[content];
	char name[20];
	if (side->folder[0])
		return side->folder;
	sprintf(name, "template-%d", content);
	make_folder(side->folder, name);
	side->db = *library;
	remove_files(side);
	open_side(side, content);
	fill_content(side, content);
	side->db.env_close(side->env);
	return side->folder;
}

static void copy_template(const char *template, const struct side *side)
{
	char from[600], to[600];
	struct stat stat;
	snprintf(from, sizeof from, "%s/data.mdb", template);
	path_of(to, side, "data.mdb");
	remove_files(side);
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || fstat(in, &stat)) {
		perror(to);
		exit(1);
	}
	for (off_t done = 0; done < stat.st_size;)
		if (sendfile(out, in, &done, (size_t)(stat.st_size - done)) <= 0) {
			perror(to);
			exit(1);
		}
	close(in);
	close(out);
}

static double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A name for profilers: callgrind --toggle-collect=measured counts only this.
 * It must return after the work, not jump to it. */
__attribute__((noinline)) uint64_t measured(const struct workload *workload, struct side *side)
{
	volatile uint64_t sum = workload->run(side);
	return sum;
}

/* All that is left in the database, to compare. */
static uint64_t content_digest(struct side *side)
{
	MDB_txn *txn = begin(side, MDB_RDONLY);
	MDB_cursor *cursor = open_cursor(side, txn);
	MDB_val key, data;
	uint64_t sum = 0;
	while (!side->db.cursor_get(cursor, &key, &data, MDB_NEXT))
		sum = digest(digest(sum, &key), &data);
	side->db.cursor_close(cursor);
	side->db.txn_abort(txn);
	return sum;
}

struct outcome {
	double nanoseconds;
	uint64_t sum;
};

static struct outcome run_once(const struct workload *workload, struct side *side, const char *template)
{
	struct outcome outcome;
	if (workload->writes) {
		copy_template(template, side);
		open_side(side, workload->content);
	}
	side->operations = 0;
	if (workload->prepare)
		workload->prepare(side);
	double begun = cpu_seconds();
	outcome.sum = measured(workload, side);
	outcome.nanoseconds = (cpu_seconds() - begun) * 1e9 / (double)side->operations;
	if (workload->writes) {
		outcome.sum += content_digest(side);
		side->db.env_close(side->env);
	}
	return outcome;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof *values, ascending);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void compare(const struct workload *workload, struct side sides[2])
{
	const char *template = template_of(&sides[1].db, workload->content);
	double times[2][ROUNDS_MAX], ratios[ROUNDS_MAX];
	for (int s = 0; s < 2 && !workload->writes; s++) {
		copy_template(template, &sides[s]);
		open_side(&sides[s], workload->content);
		run_once(workload, &sides[s], template); /* for the caches */
	}
	for (unsigned round = 0; round < rounds; round++) {
		struct outcome outcomes[2];
		for (unsigned turn = 0; turn < 2; turn++) {
			unsigned s = (round + turn) % 2;
			outcomes[s] = run_once(workload, &sides[s], template);
			times[s][round] = outcomes[s].nanoseconds;
		}
		if (outcomes[0].sum != outcomes[1].sum) {
			fprintf(stderr, "%s: the libraries disagree\n", workload->name);
			exit(1);
		}
		ratios[round] = outcomes[1].nanoseconds / outcomes[0].nanoseconds;
	}
	for (int s = 0; s < 2 && !workload->writes; s++)
		sides[s].db.env_close(sides[s].env);
	double middle = median(ratios, rounds);
	printf("| %s | %s | %.1f | %.1f | **%.2f** | %.2f-%.2f |\n", workload->name, workload->meaning,
		median(times[0], rounds), median(times[1], rounds), middle, ratios[rounds / 4],
		ratios[rounds - 1 - rounds / 4]);
	fflush(stdout);
}

/* One library alone; prints the number of operations, too. */
static void run_alone(const struct workload *workload, struct side *side)
{
	const char *template = template_of(&side->db, workload->content);
	if (!workload->writes) {
		copy_template(template, side);
		open_side(side, workload->content);
	}
	for (unsigned round = 0; round < rounds; round++) {
		struct outcome outcome = run_once(workload, side, template);
		printf("%s %llu operations, %.1f ns each\n", workload->name, (unsigned long long)side->operations,
			outcome.nanoseconds);
	}
	if (!workload->writes)
		side->db.env_close(side->env);
}

static int wanted(const struct workload *workload)
{
	for (unsigned i = 0; i < only_count; i++)
		if (!strcmp(only[i], workload->name))
			return 1;
	return only_count == 0;
}

static void for_each(void (*work)(const struct workload *, struct side *), struct side *sides)
{
	const struct workload *all[] = { read_workloads, write_workloads };
	for (int kind = 0; kind < 2; kind++)
		for (const struct workload *one = all[kind]; one->name; one++)
			if (wanted(one))
				work(one, sides);
}

static void print_name(const struct workload *workload, struct side *sides)
{
	(void)sides;
	printf("%-14s %s\n", workload->name, workload->meaning);
}

static void scale_down(uint64_t by)
{
	sizes.read_records /= by;
	sizes.write_records /= by;
	sizes.number_records /= by;
	sizes.dups_each /= by;
	sizes.few_keys /= by;
	sizes.fixed_each /= by;
	sizes.large_records /= by;
	sizes.operations /= by;
}

static int usage(void)
{
	fprintf(stderr, "usage: bench [--dir DIR] [--only NAME]... [--rounds N] [--scale N] "
		"(OURS THEIRS | --lib LIBRARY | --list)\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct side sides[2];
	const char *alone = NULL, *paths[2];
	int given = 0;
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
		if (!strcmp(word, "--list")) {
			for_each(print_name, NULL);
			return 0;
		} else if (word[0] != '-' && given < 2) {
			paths[given++] = word;
			continue;
		} else if (!value) {
			return usage();
		} else if (!strcmp(word, "--dir")) {
			folder = value;
		} else if (!strcmp(word, "--lib")) {
			alone = value;
		} else if (!strcmp(word, "--only") && only_count < 64) {
			only[only_count++] = value;
		} else if (!strcmp(word, "--rounds") && atoi(value) > 0 && atoi(value) <= ROUNDS_MAX) {
			rounds = (unsigned)atoi(value);
		} else if (!strcmp(word, "--scale") && atoi(value) > 0) {
			scale_down((uint64_t)atoi(value));
		} else {
			return usage();
		}
		i++;
	}
	if (alone ? given != 0 : given != 2)
		return usage();
	mkdir(folder, 0700);
	library_open(&sides[0].db, alone ? alone : paths[0]);
	make_folder(sides[0].folder, "ours");
	if (alone) {
		for_each(run_alone, sides);
		return 0;
	}
	library_open(&sides[1].db, paths[1]);
	make_folder(sides[1].folder, "theirs");
	printf("| workload | what | ours, ns | theirs, ns | ratio | middle half |\n| --- | --- | --- | --- | --- | --- |\n");
	for_each(compare, sides);
	return 0;
}
