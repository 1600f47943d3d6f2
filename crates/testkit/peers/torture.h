/* What the processes of the torture test agree upon.
 *
 * Every writer has a number w and a count n of the steps it has committed. All
 * records of a writer are a function of w and n, so any snapshot can be judged
 * as a whole:
 *
 *   main    "total"          the sum of all counts
 *   ledger  w                n
 *   items   scattered keys   the last ITEMS_KEPT items, rewritten at half that age; some need overflow pages
 *   dups    "k0".."k4"       the last DUPS_KEPT duplicates, of all writers under the same keys
 *           "p<w>"           one duplicate more in each step; after PRIVATE_ROUND steps the key goes
 *   fixed   w (integer key)  the last FIXED_KEPT * FIXED_STEP integers, scattered
 *   own<w>  ascending keys   OWN_STEP more in each step; emptied every OWN_ROUND steps, dropped every tenth time
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdint.h>
#include "library.h"

#define WRITERS 8

#define ITEMS_KEPT 300
#define DUPS_KEPT 200
#define PRIVATE_ROUND 150
#define FIXED_KEPT 250
#define FIXED_STEP 8
#define OWN_ROUND 40
#define OWN_STEP 3
#define OWN_DROPPED (OWN_ROUND * 10)

/* The handles of one environment. */
struct handles {
	MDB_dbi main, ledger, items, dups, fixed, own[WRITERS];
};

extern struct library db;

/* Ends the process as failed: something the library must never do was seen. */
void wrong(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* torture_steps.c */
uint64_t mix(uint64_t a, uint64_t b);
void fill(void *to, size_t length, uint64_t seed);
size_t item_key(char to[40], unsigned w, uint64_t i);
size_t item_length(unsigned w, uint64_t i, int rewritten);
size_t dup_text(char to[80], unsigned w, uint64_t i);
size_t private_text(char to[80], uint64_t i);
uint64_t fixed_scatter(uint64_t i);
uint64_t fixed_gather(uint64_t value);
/* Opens (or creates) all databases; 0 or the library's error. */
int open_handles(MDB_txn *txn, struct handles *h, unsigned flags);
/* The count of a writer. */
uint64_t count_of(MDB_txn *txn, const struct handles *h, unsigned w);
/* Takes writer w from n-1 to n; 0 or the library's error. */
int step(MDB_txn *txn, struct handles *h, unsigned w, uint64_t n);
/* Changes anything, without order; the transaction must be aborted after. */
int vandalise(MDB_txn *txn, const struct handles *h, uint64_t seed);

/* torture_verify.c */
/* Judges a whole snapshot, and tells every writer's count. */
void verify(MDB_txn *txn, const struct handles *h, uint64_t counts[WRITERS], unsigned how);

#endif
