#!/usr/bin/env bash
# Measures Fulgurite against its peers; tables, figures and plots go to build/bench.
#
#   scripts/bench.sh engine [OPTION OF compare engine]...         key/value stores
#   scripts/bench.sh directory [OPTION OF compare directory]...   LDAP servers
#   scripts/bench.sh replication [OPTION OF compare replication]...  copies of servers: refreshes, changes, lag, memory
#   scripts/bench.sh cluster [OPTION OF compare cluster]...       three nodes on etcd, a single server, slapd's providers
#   scripts/bench.sh founding [OPTION OF compare founding]...     the tables of the founding papers, in about half an hour
#   scripts/bench.sh sql [ROWS [ROUNDS [FOLDER]]]                 tables of the SQLite extension, next to SQLite's own
#   scripts/bench.sh machine                                      what memory, disk and sockets allow; what readers share
#   scripts/bench.sh all                                          all of it in short, in about half an hour
#   scripts/bench.sh full                                         everything there is
#   scripts/bench.sh summary                                      the table of what was asked and measured, once more
#
# `target/release/compare list` names workloads and engines. Everything in build/bench goes into
# report.md and report.html.
set -euo pipefail
cd "$(dirname "$0")/.."

engine() {
    scripts/build-lmdb.sh
    cargo build --quiet --release --package fulgurite-bench-compare
    target/release/compare engine "$@"
}

directory() {
    cargo build --quiet --release --package fulgurite-cli
    cargo build --quiet --release --package fulgurite-bench --package fulgurite-bench-compare
    target/release/compare directory "$@"
}

# Providers and their copies. --people 1000000 is the long run.
replication() {
    cargo build --quiet --release --package fulgurite-cli
    cargo build --quiet --release --package fulgurite-bench-compare
    target/release/compare replication "$@"
}

# Three nodes on an etcd of three members. --people 1000000 is the long run.
cluster() {
    cargo build --quiet --release --package fulgurite-cli
    cargo build --quiet --release --package fulgurite-bench --package fulgurite-bench-compare
    target/release/compare cluster "$@"
}

# The page of the founding tables: figures of the papers, and today's. `--size tiny` takes a minute.
founding() {
    scripts/build-lmdb.sh
    cargo build --quiet --release --package fulgurite-cli
    cargo build --quiet --release --package fulgurite-bench --package fulgurite-bench-compare
    target/release/compare founding "$@"
}

# Also in build/bench/sql.md.
sql() {
    cargo build --quiet --release --package fulgurite-sqlite
    mkdir -p build/bench
    /usr/bin/python3 scripts/bench_sql.py target/release/libfulgurite_sqlite.so "$@" | tee build/bench/sql.md
}

machine() {
    scripts/build-lmdb.sh
    cargo build --quiet --release --package fulgurite-bench-compare
    target/release/compare limits
    target/release/compare shared
}

# Ours, the reference, and OpenLDAP 2.4 with its backends; those that are missing are left out.
old=(--with fulgurite --with slapd --with mdb-2.4 --with hdb --with hdb-tenth --with hdb-uncached --with bdb)

# A part that finds faults, or fails, does not stop the others; the run fails in the end.
failed=
part() { # WORDS...
    echo "bench: $*" >&2
    "$@" >> build/bench/log || { failed=1; echo "bench: $* has failed; see the report" >&2; }
}

begin() {
    mkdir -p build/bench
    rm -f build/bench/*.json build/bench/*.md build/bench/*.html build/bench/log
    part machine
}

finish() {
    target/release/compare report
    [ -z "$failed" ] || exit 1
}

case "${1:-all}" in
    engine) shift; engine "$@" ;;
    directory) shift; directory "$@" ;;
    replication) shift; replication "$@" ;;
    cluster) shift; cluster "$@" ;;
    founding) shift; founding "$@" ;;
    sql) shift; sql "$@" ;;
    machine) machine ;;
    summary) target/release/compare report --summary ;;
    all)
        begin
        part engine --rounds 3
        part directory --rounds 2
        # The conjunction of two large sets has its size; the others show how cost grows, and what
        # wide entries change.
        part directory --rounds 1 --people 300000 --with fulgurite --with slapd --only both --only uid-16 --only substring-16
        part directory --rounds 1 --people 10000 --with fulgurite --with slapd --only uid-16 --only substring-16 --only scan
        part directory --rounds 1 --people 20000 --data wide --with fulgurite --with slapd --only uid-16 --only scan --only export
        # Other names and distributions, so that no plan is made for one data set.
        part directory --rounds 3 --data staff --with fulgurite --with slapd --only uid-16 --only mail-16 \
            --only substring-initial --only substring-any --only substring-final --only scan
        # memcached and Redis, and the tables of SQLite.
        part founding --only memcache
        part sql
        # The servers of the founding papers.
        part directory --rounds 1 --people 20000 "${old[@]}" --only uid-16 --only substring-any --only scan --only modify --only start
        finish
        ;;
    full)
        begin
        part engine --full --rounds 9
        part directory --full --rounds 5
        part directory --rounds 3 --people 10000
        part directory --rounds 3 --people 300000
        part directory --rounds 3 --people 1000000
        part directory --rounds 3 --data wide
        part directory --rounds 3 --data staff
        part directory --rounds 1 "${old[@]}"
        finish
        ;;
    *) echo "bench: there is no part \"$1\"; there are engine, directory, replication, cluster, founding, sql, machine, all, full and summary" >&2; exit 2 ;;
esac
