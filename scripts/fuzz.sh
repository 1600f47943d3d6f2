#!/usr/bin/env bash
# The tests that invent their input, with fresh seeds and for longer. A failure prints the seed that replays it.
set -euo pipefail
cd "$(dirname "$0")/.."
export FULGURITE_TEST_LONG=1 PROPTEST_CASES="${PROPTEST_CASES:-20000}"
cargo test --release --workspace --no-fail-fast -- fuzz random mutated property model round_trip
