#!/usr/bin/env bash
# Counts the cost of the checks of pages and nodes: instructions of reads, with and without them.
#
#   scripts/bench-checks.sh [--scale N]
#
# The library without checks is made from a copy of the source, where bench/lmdb/unchecked.rs
# replaces crates/format/src/checks.rs. It would crash on a damaged file, so it is never shipped.
set -euo pipefail
cd "$(dirname "$0")/.."
unchecked="$PWD/build/unchecked"
rm -rf "$unchecked/source"
mkdir -p "$unchecked/source"
git ls-files -z | tar --null --files-from=- --create | tar --extract --directory "$unchecked/source"
cp bench/lmdb/unchecked.rs "$unchecked/source/crates/format/src/checks.rs"
sed -i '/^#!\[forbid(unsafe_code)\]$/d' "$unchecked/source/crates/format/src/lib.rs"
"$unchecked/source/scripts/build-lmdb.sh" --target-dir "$unchecked"
scripts/build-lmdb.sh
for workload in get get-missing scan scan-back; do
    scripts/bench-lmdb.sh --count --ours target/lmdb/liblmdb.so --theirs "$unchecked/lmdb/liblmdb.so" \
        --scale 10 "$@" --only "$workload" | tail -1
done | sed '1i | workload | checked, instructions | unchecked | ratio |\n| --- | --- | --- | --- |'
