#!/usr/bin/env bash
# Everything about a change that a machine can judge without running it.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo clippy --quiet --workspace --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
cargo xtask tidy
for script in scripts/*.sh scripts/programs/*.sh scripts/clients/*.sh .ci/run; do bash -n "$script"; done
