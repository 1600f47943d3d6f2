#!/usr/bin/env bash
# Counts the cost of the checks of pages and nodes: instructions of reads, with and without them.
#
#   scripts/bench-checks.sh [--scale N]
#
# The library without checks is never shipped. bench/lmdb/unchecked.patch makes it from a copy of
# the last commit. It removes the checks of headers, offsets and lengths in crates/format, and of
# page numbers in the engine. It would die of a damaged file.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=build/unchecked
rm -rf "$copy/source"
mkdir -p "$copy/source"
git archive HEAD | tar -x -C "$copy/source"
(cd "$copy/source" && patch -s -p1 < bench/lmdb/unchecked.patch) ||
    { echo "bench-checks: the patch is behind the source: make it anew" >&2; exit 1; }
RUSTFLAGS="--cap-lints allow" cargo build --quiet --profile lmdb -p fulgurite-lmdb \
    --manifest-path "$copy/source/Cargo.toml" --target-dir "$copy/target"
scripts/build-lmdb.sh
for workload in get get-missing scan scan-back; do
    scripts/bench-lmdb.sh --count --ours target/lmdb/liblmdb.so --theirs "$copy/target/lmdb/liblmdb.so" \
        --scale 10 "$@" --only "$workload" | tail -1
done | sed '1i | workload | checked, instructions | unchecked | ratio |\n| --- | --- | --- | --- |'
