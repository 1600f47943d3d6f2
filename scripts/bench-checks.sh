#!/usr/bin/env bash
# Counts the cost of the checks of pages and nodes: instructions of reads, with and without them.
#
#   scripts/bench-checks.sh [--scale N]
#
# The library without checks is never shipped. `--cfg fulgurite_unchecked` makes it: see
# crates/format/src/checks.rs. It would crash on a damaged file.
set -euo pipefail
cd "$(dirname "$0")/.."
unchecked=build/unchecked
RUSTFLAGS="--cfg fulgurite_unchecked" scripts/build-lmdb.sh --target-dir "$unchecked"
scripts/build-lmdb.sh
for workload in get get-missing scan scan-back; do
    scripts/bench-lmdb.sh --count --ours target/lmdb/liblmdb.so --theirs "$unchecked/lmdb/liblmdb.so" \
        --scale 10 "$@" --only "$workload" | tail -1
done | sed '1i | workload | checked, instructions | unchecked | ratio |\n| --- | --- | --- | --- |'
