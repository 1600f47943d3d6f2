#!/usr/bin/env bash
# Installs the optimised program and the C library below PREFIX, written to DESTDIR before it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-lmdb.sh "${1:?usage: scripts/install.sh PREFIX}"
cargo build --release --package fulgurite-cli
scripts/stage.sh "${CARGO_TARGET_DIR:-target}/release/fulgurite" "${DESTDIR:-}" "$1"
echo "installed ${DESTDIR:-}$1/bin/fulgurite; fulgurite setup makes a directory"
