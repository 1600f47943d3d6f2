#!/usr/bin/env bash
# Prints the size of our liblmdb.so, next to a real one, and its parts.
#
#   scripts/size.sh [OURS] [THEIRS]
#   scripts/size.sh --check [OURS]     fails where a bound of bench/compare/size.txt is exceeded
#   scripts/size.sh --program [PATH]   the same for the directory's program, stripped
#
# OURS is built as programs get it: stripped for the table, and with names for the list. THEIRS is
# Debian's unless told otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bounds=bench/compare/size.txt

# Compares a figure with its bound, which is a maximum for sizes.
hold() { # NAME FOUND BOUND
    local state=ok
    case $1 in
        text|program) [ "$2" -le "$3" ] ;;
        *) [ "$2" = "$3" ] ;;
    esac || state=FAILED
    printf 'size: %-8s %10s, bound %s: %s\n' "$1" "$2" "$3" "$state"
    [ "$state" = ok ]
}

if [ "${1:-}" = --program ]; then
    program=${2:-${CARGO_TARGET_DIR:-target}/release/fulgurite}
    strip -o "$work/stripped" "$program"
    hold program "$(stat -c %s "$work/stripped")" "$(awk '$1 == "program" { print $2 }' "$bounds")"
    exit
fi

check=
[ "${1:-}" != --check ] || { check=1; shift; }
ours=${1:-}
theirs=${2:-$(ls /usr/lib/*-linux-gnu/liblmdb.so.0 | head -1)}
if [ -z "$ours" ]; then
    if [ -n "$check" ]; then scripts/build-lmdb.sh; else CARGO_PROFILE_LMDB_STRIP=none scripts/build-lmdb.sh; fi
    ours=${CARGO_TARGET_DIR:-target}/lmdb/liblmdb.so
fi

# The libraries that the loader brings along; the loader itself is not among them.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | sort | paste -sd,; }
exported() { nm -D --defined-only "$1" | wc -l; }

if [ -n "$check" ]; then
    strip -o "$work/stripped" "$(readlink -f "$ours")"
    failed=0
    while read -r name bound; do
        case $name in
            text) found=$(size "$work/stripped" | awk 'NR == 2 { print $1 }') ;;
            exported) found=$(exported "$ours") ;;
            needed) found=$(needed "$ours") ;;
            *) continue ;;
        esac
        hold "$name" "$found" "$bound" || failed=1
    done < "$bounds"
    exit "$failed"
fi

echo "| library | stripped file | text | data | bss | exported | needed |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for library in "$ours" "$theirs"; do
    strip -o "$work/stripped" "$(readlink -f "$library")"
    size "$work/stripped" | awk -v path="$library" -v file="$(stat -c %s "$work/stripped")" \
        -v exported="$(exported "$library")" -v needed="$(needed "$library")" \
        'NR == 2 { printf "| %s | %d | %d | %d | %d | %d | %s |\n", path, file, $1, $2, $3, exported, needed }'
done

echo
echo "sections of $ours, in octets:"
readelf -SW "$ours" | sed 's/^ *\[ *[0-9]*\] *//' |
    awk '$1 ~ /^\.(text|rodata|eh_frame|eh_frame_hdr|gcc_except_table|data.rel.ro|rela.dyn|relr.dyn|data|dynsym|dynstr|got)$/ { print $1, $5 }' |
    while read -r name hex; do printf "%8d  %s\n" "$((16#$hex))" "$name"; done | sort -rn

echo
echo "code of $ours by crate, in octets:"
nm -S -C --defined-only "$ours" | python3 -c '
import collections, re, sys
sizes = collections.Counter()
for line in sys.stdin:
    parts = line.rstrip("\n").split(None, 3)
    if len(parts) < 4 or parts[2] not in "tTwW":
        continue
    name = re.sub(r"^[<&(\[]*(?:mut |dyn |impl )?", "", parts[3])
    crate = re.match(r"([A-Za-z_][A-Za-z_0-9]*)::", name)
    kind = crate.group(1) if crate else "lmdb (exported)" if name.startswith("mdb_") else "other"
    sizes[kind] += int(parts[1], 16)
for kind, size in sizes.most_common(20):
    print(f"{size:8}  {kind}")
'

echo
echo "the largest functions of $ours, in octets:"
nm -S -C --size-sort -r --defined-only "$ours" | grep -i ' t ' | head -40 | while read -r _ hex _ name; do
    printf "%8d  %.110s\n" "$((16#$hex))" "$name"
done
