#!/usr/bin/env bash
# Runs all tests, other programs on our C library, and other clients against our server. Then counts
# instructions. Ends with one line of totals, and names the steps that failed.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
log=build/test.log
: > "$log"
failed=()

# Runs a step, and notes its name if it fails.
step() { # NAME COMMAND...
    local name=$1 began=$SECONDS status
    shift
    "$@" 2>&1 | tee -a "$log"
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] || failed+=("$name ($status)")
    echo "$name: $((SECONDS - began)) s" | tee -a "$log"
}

began=$SECONDS
messages=build/test-programs.json
cargo test --workspace --no-run --message-format json-render-diagnostics > "$messages" || exit 1
cargo build --workspace --bin fulgurite --bin compare --bin fulgurite-bench || exit 1
echo "build: $((SECONDS - began)) s"
# The tests mostly wait for other programs. So the products of the later steps are built at the same
# time. A step whose build fails here builds it again, and reports why.
{
    EXTRAS=1 nice scripts/build-lmdb.sh
    nice cargo build --release --package fulgurite-cli
    nice cargo build --profile lmdb --package fulgurite-lmdb-tools
} > build/early.log 2>&1 &
early=$!
# These take longest, so they begin first.
long="scenarios program c_programs it backup"
# A cargo that a test starts needs it, as cargo itself would tell it.
if command -v rustup > /dev/null; then
    RUSTUP_TOOLCHAIN=$(rustup show active-toolchain | cut -d ' ' -f 1)
    export RUSTUP_TOOLCHAIN
fi
# shellcheck disable=SC2086 # one word per program
step tests scripts/side_by_side.py $long < "$messages"
step doc-tests cargo test --workspace --doc --no-fail-fast
wait "$early" || true
step test-lmdb scripts/test-lmdb.sh
QUICK=1 step programs scripts/programs.sh
step clients scripts/clients.sh
step instructions scripts/instructions.sh
# Adds up what cargo says of each test program, and the sums of programs, clients and counts.
sed -n -e 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2 \3/p' \
    -e 's/^[pc][a-z]*s: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" |
    awk '{ passed += $1; failed += $2; skipped += $3 }
         END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
[ ${#failed[@]} = 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
