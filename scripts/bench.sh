#!/usr/bin/env bash
# Measures Fulgurite beside its peers; tables, figures and plots go to build/bench.
#
#   scripts/bench.sh engine [OPTION OF contest engine]...         key/value stores
#   scripts/bench.sh directory [OPTION OF contest directory]...   LDAP servers
#   scripts/bench.sh all                                          both, in about a quarter of an hour
#   scripts/bench.sh full                                         both, everything there is
#
# `target/release/contest list` names workloads and contenders.
set -euo pipefail
cd "$(dirname "$0")/.."

engine() {
    scripts/build-lmdb.sh
    cargo build --quiet --release --package fulgurite-contest
    target/release/contest engine "$@"
}

directory() {
    cargo build --quiet --release --package fulgurite-cli --package fulgurite-bench --package fulgurite-contest
    target/release/contest directory "$@"
}

case "${1:-all}" in
    engine) shift; engine "$@" ;;
    directory) shift; directory "$@" ;;
    all) engine --rounds 3; directory --rounds 2 ;;
    full)
        engine --full --rounds 9
        directory --rounds 5
        directory --rounds 3 --wide --out build/bench/wide
        directory --rounds 3 --people 1000000 --out build/bench/million
        ;;
    *) echo "bench: there is no part \"$1\"; there are engine, directory, all and full" >&2; exit 2 ;;
esac
