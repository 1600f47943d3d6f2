#!/usr/bin/env bash
# Counts the instructions of our C library's operations and compares them with the bounds in
# bench/compare/instructions.txt.
#
#   scripts/instructions.sh             fails where an operation got dearer by more than 3 %
#   scripts/instructions.sh --update    writes the bounds anew
#   scripts/instructions.sh --show      a table, the original beside ours
set -euo pipefail
cd "$(dirname "$0")/.."

bounds=bench/compare/instructions.txt
scripts/build-lmdb.sh
count() { RUST_BACKTRACE=0 cargo run --quiet --manifest-path bench/Cargo.toml --target-dir target --package fulgurite-bench-compare -- count "$@"; }
case "${1:-}" in
    "") count --check "$bounds" ;;
    --update) count --update "$bounds" ;;
    --show) count ;;
    *) echo "instructions: there are --update and --show" >&2; exit 2 ;;
esac
