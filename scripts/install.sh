#!/usr/bin/env bash
# Installs the optimised program and the C library below PREFIX, written to DESTDIR before it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-lmdb.sh "${1:?usage: scripts/install.sh PREFIX}"
cargo build --release --package fulgurite-cli --package fulgurite-sqlite
scripts/stage.sh "${CARGO_TARGET_DIR:-target}/release/fulgurite" "${DESTDIR:-}" "$1"
install -D -m 644 -t "${DESTDIR:-}$1/lib" "${CARGO_TARGET_DIR:-target}/release/libfulgurite_sqlite.so"
strip --strip-unneeded "${DESTDIR:-}$1/lib/libfulgurite_sqlite.so"
echo "installed ${DESTDIR:-}$1/bin/fulgurite; fulgurite setup makes a directory"
