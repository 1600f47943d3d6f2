#!/usr/bin/env bash
# Runs the tests that need no other program: unit tests of all crates, and the directory's tests.
set -euo pipefail
cd "$(dirname "$0")/.."
# `real` compares with LMDB's files and tools; `models` runs all interleavings for a minute.
cargo test --quiet --workspace --lib --bins -- --skip real --skip models
cargo test --quiet -p fulgurite-schema -p fulgurite-ldap -p fulgurite-ldif -p fulgurite-access \
    -p fulgurite-directory --tests
