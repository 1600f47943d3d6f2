#!/usr/bin/env bash
# Runs all tests, other programs on our C library, and other clients against our server. Then counts
# instructions, and ends with one line of totals.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
log=build/test.log
cargo test --workspace --no-fail-fast 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
cargo test --workspace --no-fail-fast --manifest-path bench/Cargo.toml --target-dir target 2>&1 | tee -a "$log"
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
