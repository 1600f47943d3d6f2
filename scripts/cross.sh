#!/usr/bin/env bash
# Builds the C library for other machines and C libraries, and tests it there.
#
#   scripts/cross.sh [TARGET]...     both targets below unless told otherwise
#
# For each target the C programs of crates/lmdb/tests/c are compiled without a warning. They are
# linked to the shared and to the static library, and run; for another processor, under qemu. Their
# files must be equal to those that the same programs write here.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

all_targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-gnu)
[ "$#" -gt 0 ] || set -- "${all_targets[@]}"
products=${CARGO_TARGET_DIR:-target}
tests=$PWD/crates/lmdb/tests/c
failed=0 passed=0

# The compiler of a target, what runs its programs, and what its static programs need.
describe() { # TARGET
    runner=() flags=() private=()
    case $1 in
        native) cc=cc ;;
        x86_64-unknown-linux-musl)
            cc=musl-gcc
            # Else the library would bring a C library along, and be static only.
            flags=(-C target-feature=-crt-static)
            ;;
        aarch64-unknown-linux-gnu)
            cc=aarch64-linux-gnu-gcc
            runner=(qemu-aarch64-static -L /usr/aarch64-linux-gnu)
            ;;
        *) echo "cross: there are the targets ${all_targets[*]}" >&2; exit 2 ;;
    esac
}

judge() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "cross: $name FAILED:" >&2
        tail -20 "$work/log" >&2
    fi
}

# Compiles a program, and runs it with the arguments behind "--".
run_with() { # FOLDER LINKS SOURCE [FLAG]... -- [ARGUMENT]...
    local folder=$1 links=$2 source=$3 options=()
    shift 3
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    # shellcheck disable=SC2086 # one word for each file or flag
    "$cc" -Wall -Wextra -Werror "${options[@]}" -I crates/lmdb/include "$tests/$source" -o "$work/program" $links &&
        "${runner[@]}" "$work/program" "$@"
}

for target in native "$@"; do
    describe "$target"
    folder=$products/lmdb arguments=()
    if [ "$target" != native ]; then
        folder=$products/$target/lmdb arguments=(--target "$target")
        name=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$target")
        export "${name}_LINKER=$cc" "${name}_RUSTFLAGS=${flags[*]}"
    fi
    EXTRAS=1 scripts/build-lmdb.sh "${arguments[@]}"
    folder=$(realpath "$folder")
    # Programs look for the names that are in the libraries.
    mkdir -p "$work/$target/lib"
    cp "$folder/liblmdb.so" "$work/$target/lib/liblmdb.so.0"
    cp "$folder/libfulgurite.so" "$work/$target/lib/libfulgurite.so.0"
    export LD_LIBRARY_PATH=
    shared="$work/$target/lib/liblmdb.so.0 -Wl,-rpath,$work/$target/lib"
    extras="$work/$target/lib/libfulgurite.so.0 -Wl,-rpath,$work/$target/lib"
    for kind in shared static; do
        links=$shared with_extras=$extras
        if [ "$kind" = static ]; then
            links="$folder/liblmdb.a -pthread" with_extras="$folder/libfulgurite.a -pthread"
        fi
        data=$work/$target/$kind
        mkdir -p "$data"/{names,habits,extra,variable,readers,fill}
        judge "$target, $kind, names" run_with "$folder" "$links" names.c -std=c99 -- "$data/names"
        judge "$target, $kind, habits" run_with "$folder" "$links" habits.c -std=gnu11 -- "$data/habits"
        judge "$target, $kind, extra" run_with "$folder" "$with_extras" extra.c -std=c99 -- "$data/extra"
        judge "$target, $kind, readers" run_with "$folder" "$with_extras" long_readers.c -std=c99 -- "$data/readers"
        judge "$target, $kind, fill" run_with "$folder" "$links" hardship.c -- run "$data/fill" 0
        # One format, whatever the processor: the file is the same, and LMDB's tool reads it.
        for name in names fill; do
            judge "$target, $kind, file of $name" cmp "$work/native/shared/$name/data.mdb" "$data/$name/data.mdb"
            judge "$target, $kind, dump of $name" mdb_dump -a "$data/$name"
        done
    done
    size=("$folder/liblmdb.so")
    printf 'cross: %s: text %s, %s\n' "$target" "$(size "${size[0]}" | awk 'NR == 2 { print $1 }')" \
        "$(readelf -d "${size[0]}" | sed -n 's/.*NEEDED.*\[\(.*\)\]/needs \1/p' | paste -sd,)"
done
echo "cross: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
