#!/usr/bin/env bash
# Everything about a change that a machine can judge without running it.
set -euo pipefail
cd "$(dirname "$0")/.."
for workspace in . fuzz; do cargo fmt --all --check --manifest-path "$workspace/Cargo.toml"; done
cargo xtask tidy
# The lock files of all workspaces fit their crates.
for workspace in . fuzz bindings/python; do
    cargo metadata --quiet --locked --format-version 1 --manifest-path "$workspace/Cargo.toml" > /dev/null
done
for workspace in . fuzz; do
    cargo clippy --quiet --workspace --all-targets --manifest-path "$workspace/Cargo.toml" --target-dir target -- -D warnings
done
# The C library without the standard library: parts of it are in no other build.
for features in "" extras; do
    cargo clippy --quiet --profile lmdb --package fulgurite-lmdb --lib --no-default-features --features "$features" -- -D warnings
done
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
for script in scripts/*.sh scripts/programs/*.sh scripts/clients/*.sh .ci/run; do bash -n "$script"; done
