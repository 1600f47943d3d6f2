#!/usr/bin/env bash
# Measures our liblmdb.so against a real one through one C program, in turns; prints a Markdown
# table.
#
#   scripts/bench-lmdb.sh [--count] [--theirs LIBRARY] [--ours LIBRARY] [OPTION OF bench.c]...
#
#   --count    counts instructions with callgrind instead of time: slow, so use it with --only and --scale
#
# THEIRS is the newest of the 0.9 line that scripts/setup.sh has built, else Debian's. bench.c says
# what the table means.
set -euo pipefail
cd "$(dirname "$0")/.."

ours= theirs= count=no options=()
while [ $# -gt 0 ]; do
    case $1 in
        --count) count=yes; shift ;;
        --theirs) theirs=$2; shift 2 ;;
        --ours) ours=$2; shift 2 ;;
        *) options+=("$1"); shift ;;
    esac
done

folder=build/bench-lmdb
mkdir -p "$folder"
if [ -z "$theirs" ]; then
    theirs=build/lmdb-0.9.36/liblmdb.so
    [ -e "$theirs" ] || theirs=$(ls /usr/lib/*-linux-gnu/liblmdb.so.0 | head -1)
fi
if [ -z "$ours" ]; then
    scripts/build-lmdb.sh
    ours=target/lmdb/liblmdb.so
fi
gcc -O2 -g -Wall -Wextra -I crates/testkit/peers -o "$folder/bench" \
    bench/lmdb/bench.c bench/lmdb/content.c bench/lmdb/reads.c bench/lmdb/writes.c -ldl

# Instructions of each operation, of the library and the loop around it.
instructions() { # LIBRARY WORKLOAD
    local out=$folder/callgrind.$2.${1//\//_}
    local operations
    operations=$(valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect=measured \
        "$folder/bench" "${options[@]}" --rounds 1 --only "$2" --lib "$1" 2>"$out.log" | awk '{ print $2 }')
    awk -v operations="$operations" '/^summary:|^totals:/ { total = $2 } END { printf "%.0f", total / operations }' "$out"
}

if [ "$count" = yes ]; then
    echo "| workload | ours, instructions | theirs | ratio |"
    echo "| --- | --- | --- | --- |"
    for workload in $("$folder/bench" "${options[@]}" --list | awk '{ print $1 }'); do
        a=$(instructions "$ours" "$workload")
        b=$(instructions "$theirs" "$workload")
        awk -v w="$workload" -v a="$a" -v b="$b" 'BEGIN { printf "| %s | %d | %d | **%.2f** |\n", w, a, b, b / a }'
    done
    exit
fi

version() { strings -n 12 "$1" | grep -m1 -o 'LMDB [0-9.]*' || echo unknown; }
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, Linux $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
echo "ours: $ours, commit $(git rev-parse --short HEAD); theirs: $theirs ($(version "$theirs"))"
echo "command: scripts/bench-lmdb.sh ${options[*]}"
echo
"$folder/bench" "${options[@]}" "$ours" "$theirs"
