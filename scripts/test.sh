#!/usr/bin/env bash
# Runs all tests and ends with one line that counts them.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
log=build/test.log
cargo test --workspace --no-fail-fast 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
# "test result: ok. 21 passed; 0 failed; 0 ignored; ..."
sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2 \3/p' "$log" |
    awk '{ passed += $1; failed += $2; skipped += $3 }
         END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
exit "$status"
