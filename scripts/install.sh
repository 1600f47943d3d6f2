#!/usr/bin/env bash
# Installs the optimised program and the C library below PREFIX, written to DESTDIR before it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-lmdb.sh "${1:?usage: scripts/install.sh PREFIX}"
prefix=${DESTDIR:-}$1
cargo build --release --package fulgurite-cli
install -D -m 755 "${CARGO_TARGET_DIR:-target}/release/fulgurite" "$prefix/bin/fulgurite"
install -D -m 644 -t "$prefix/share/doc/fulgurite" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT
install -D -m 644 -t "$prefix/share/doc/fulgurite/examples" examples/fulgurite.toml examples/harbour.ldif
echo "installed $prefix/bin/fulgurite"
