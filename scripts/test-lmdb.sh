#!/usr/bin/env bash
# Tests the C library as programs get it: without the standard library, and optimised. Then compares
# its size with the bounds, and proves that no panic is reachable in it, nor in its extras.
set -euo pipefail
cd "$(dirname "$0")/.."
EXTRAS=1 scripts/build-lmdb.sh
library=$(realpath "${CARGO_TARGET_DIR:-target}/lmdb/liblmdb.so")
export FULGURITE_LMDB_LIBRARY=$library FULGURITE_INTEROP_LIBRARY=$library FULGURITE_DIFF_OURS=$library
cargo test --package fulgurite-lmdb --test conformance --test differential --test hardship --test interop
scripts/size.sh --check "$library"
scripts/no-panics.sh
scripts/no-panics.sh "${library%/*}/libfulgurite.a"
