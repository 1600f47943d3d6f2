#!/usr/bin/env bash
# Runs under miri what it can run: code that does not call the kernel. It finds reads outside of
# borrows, broken aliasing, uninitialised bytes and data races, which no test would notice.
#
#   scripts/miri.sh [--quick]
#
# Runs:
#   format              all tests: views of pages, nodes, records, sub-pages
#   engine, tree        searches, insertions, splits, deletions, on a vector of pages
#   engine, order       comparisons, bounds of ranges
#   engine, space       the pool of free pages
#   engine, databases   the table of names, which is read without a lock while it grows
#   lmdb, midl          the lists of ids that C programs use, through pointers
#   lmdb, slab          handles, which are found by exposed addresses
#   ber, ldap           codecs
# Cannot run, with the reason:
#   engine, the rest; os        mmap of files, record locks, process-shared mutexes: calls that miri does not know
#   lmdb, the rest              the same, below the C interface
#   models of the reader table  loom switches stacks by itself; it has an interpreter of the memory model of its own
# For these there are scripts/sanitize.sh and the models.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo +nightly miri --version >/dev/null 2>&1 || {
    echo "miri: not there (rustup toolchain install nightly --component miri): nothing was run"
    exit 0
}
quick=no
[ "${1:-}" = --quick ] && quick=yes
# Files of property tests' failures, and the clock, are outside of what is tested.
export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
export PROPTEST_CASES=${PROPTEST_CASES:-4} PROPTEST_DISABLE_FAILURE_PERSISTENCE=true
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/miri}
run() { cargo +nightly miri test --quiet "$@"; }
run -p fulgurite-format --lib
run -p fulgurite --lib -- tree:: order:: space:: page_set bounds databases::
run -p fulgurite-lmdb --lib -- midl
# Handles are addresses, so their provenance is exposed on purpose.
MIRIFLAGS="$MIRIFLAGS -Zmiri-permissive-provenance" run -p fulgurite-lmdb --lib -- slab::
[ "$quick" = yes ] && exit
run -p fulgurite-ber --lib
run -p fulgurite-ldap --lib
