#!/usr/bin/env bash
# Runs all tests, other programs on our C library, and other clients against our server. Then counts
# instructions, and ends with one line of totals.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
log=build/test.log
cargo test --workspace --no-run || exit 1
# The tests mostly wait for other programs. So the products of the later steps are built at the same
# time. A step whose build fails here builds it again, and reports why.
{
    EXTRAS=1 nice scripts/build-lmdb.sh
    nice cargo build --profile lmdb --package fulgurite-lmdb-tools
    nice cargo build --release --package fulgurite-cli
    nice cargo build --workspace --manifest-path bench/Cargo.toml --target-dir target
    nice cargo test --workspace --no-run --manifest-path bench/Cargo.toml --target-dir target
} > build/early.log 2>&1 &
early=$!
cargo test --workspace --no-fail-fast 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
wait "$early" || true
cargo test --workspace --no-fail-fast --manifest-path bench/Cargo.toml --target-dir target 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
scripts/test-lmdb.sh 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
QUICK=1 scripts/programs.sh 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
scripts/clients.sh 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
scripts/instructions.sh 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
# "test result: ok. Reads lines such as "test result: ok. 21 passed" and "programs: 631 passed, 0
# failed, 8 skipped".
sed -n -e 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2 \3/p' \
    -e 's/^[pc][a-z]*s: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" |
    awk '{ passed += $1; failed += $2; skipped += $3 }
         END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
exit "$status"
