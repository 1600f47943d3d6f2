#!/usr/bin/env bash
# Builds the shared library as it is meant to be used: target/lmdb/liblmdb.so.
#
#   scripts/build-lmdb.sh [OPTION OF cargo rustc]...
#
# As a shared library alone: cargo leaves link-time optimisation out where the same crate also
# becomes a Rust library.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo rustc --quiet --profile lmdb --package fulgurite-lmdb --lib --crate-type cdylib "$@"
