#!/usr/bin/env bash
# Runs the drivers of bench/load/src/bin/fulgurite-driver turn and turn about; the numbers are for
# docs/driver-choice.md.
#
#   bench/load/driver-choice.sh [DATA SUFFIX LDIF]      serves that store; without it, one made-up entry per search
set -euo pipefail
cd "$(dirname "$0")/../.."

rounds=${ROUNDS:-3}
cargo build --release --quiet --package fulgurite-bench
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

options=()
base=dc=example,dc=org
ldif=$work/made-up.ldif
if [ $# -eq 3 ]; then
    options=(--data "$1" --suffix "$2")
    base=$2
    ldif=$3
else
    awk 'BEGIN { for (i = 1; i <= 10000; i++) printf "dn: uid=user.%d,ou=people,dc=example,dc=org\nuid: user.%d\n\n", i, i }' > "$ldif"
fi

measure() { # DRIVER CONNECTIONS DEPTH REQUESTS
    target/release/fulgurite-driver "$1" --listen 127.0.0.1:3891 "${options[@]}" 2> "$work/log" &
    server=$!
    until (exec 3<>/dev/tcp/127.0.0.1/3891) 2>/dev/null; do sleep 0.05; done
    target/release/fulgurite-bench uid --server 127.0.0.1:3891 --base "$base" --ldif "$ldif" \
        --connections "$2" --depth "$3" --requests "$4" \
        --server-pid "$server" --label "$(printf '%-15s' "$1")"
    kill -TERM "$server"
    wait "$server" 2>/dev/null || true
    server=
}

for load in "1 1 40000" "4 1 80000" "16 1 100000" "64 1 100000" "1 16 200000" "4 16 300000" "16 16 300000" "64 16 300000"; do
    for _ in $(seq "$rounds"); do
        for driver in mio tokio-threads tokio-per-core; do
            # shellcheck disable=SC2086 # three numbers
            measure "$driver" $load
        done
    done
done
