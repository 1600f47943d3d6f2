#!/usr/bin/env bash
# Fuzzes everything that takes bytes from outside, one target after the other, and prints a table.
#
#   scripts/fuzz.sh [SECONDS] [TARGET]...     so long each (60), these targets (all of fuzz/fuzz_targets)
#
# It wants a nightly compiler and cargo-fuzz; a missing cargo-fuzz is built in build/tools. Without
# a nightly compiler it runs the tests that invent their input instead, and says so. Findings are in
# fuzz/artifacts/TARGET. After the fix, the input belongs into crates/torture/inputs/TARGET, where
# `cargo test` runs it. The corpora grow in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-${SECONDS_EACH:-60}}
shift || true

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: no nightly compiler (rustup toolchain install nightly): the tests that invent their input, instead"
    export FULGURITE_TEST_LONG=1 PROPTEST_CASES="${PROPTEST_CASES:-20000}"
    exec cargo test --release --workspace --no-fail-fast -- fuzz random mutat property model round_trip
fi
PATH=$PATH:$PWD/build/tools/bin
scripts/setup.sh fuzz

corpora=$PWD/build/fuzz
mkdir -p "$corpora" fuzz/artifacts
cargo run --quiet -p fulgurite-torture --bin torture -- seeds "$corpora"
targets=("$@")
if [ ${#targets[@]} -gt 0 ]; then
    for target in "${targets[@]}"; do
        (cd fuzz && cargo +nightly fuzz build "$target")
    done
else
    mapfile -t targets < <(cd fuzz/fuzz_targets && ls -- *.rs | sed 's/\.rs$//')
    (cd fuzz && cargo +nightly fuzz build)
fi

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
status=0
table=$corpora/table.md
echo "| target | executions | per s | crashes | corpus | its size |" > "$table"
echo "| --- | --- | --- | --- | --- | --- |" >> "$table"
for target in "${targets[@]}"; do
    log=$corpora/$target.log
    artifacts=fuzz/artifacts/$target/
    kept=crates/torture/inputs/$target
    mkdir -p "$corpora/$target" "$artifacts"
    before=$(ls "$artifacts" | wc -l)
    # shellcheck disable=SC2046 # a folder that is not there is no argument
    "fuzz/target/$host/release/$target" "$corpora/$target" $([ -d "$kept" ] && echo "$kept") \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
        -close_fd_mask=3 -artifact_prefix="$artifacts" > "$log" 2>&1 || status=1
    crashes=$(($(ls "$artifacts" | wc -l) - before))
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    inputs=$(ls "$corpora/$target" | wc -l)
    size=$(du -sh --apparent-size "$corpora/$target" | cut -f1)
    echo "| $target | ${executions:-?} | ${rate:-?} | $crashes | $inputs | $size |" | tee -a "$table"
    [ "$crashes" = 0 ] || echo "fuzz: $target: see $artifacts and $log" >&2
done
echo
cat "$table"
exit "$status"
