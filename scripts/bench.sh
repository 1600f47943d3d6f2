#!/usr/bin/env bash
# Measures Fulgurite beside its peers; tables, figures and plots go to build/bench.
#
#   scripts/bench.sh engine [OPTION OF contest engine]...    key/value stores
#   scripts/bench.sh directory [USERS [ROUNDS]]              LDAP servers
#   scripts/bench.sh all                                     both, in about a quarter of an hour
#   scripts/bench.sh full                                    both, everything there is
#
# `target/release/contest list` names workloads and contenders.
set -euo pipefail
cd "$(dirname "$0")/.."

engine() {
    scripts/build-lmdb.sh
    cargo build --quiet --release --package fulgurite-contest
    target/release/contest engine "$@"
}

case "${1:-all}" in
    engine) shift; engine "$@" ;;
    directory) shift; scripts/bench-directory.sh "$@" ;;
    all) engine --rounds 3; scripts/bench-directory.sh 100000 2 ;;
    full) engine --full --rounds 9; scripts/bench-directory.sh 1000000 3 ;;
    *) echo "bench: there is no part \"$1\"; there are engine, directory, all and full" >&2; exit 2 ;;
esac
