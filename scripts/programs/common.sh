# Functions of the scripts of this folder; sourced, with the prefix of the library under test as
# first argument.
#
#   PREFIX/lib/liblmdb.so.0, PREFIX/lib/liblmdb.so, PREFIX/include/lmdb.h
#
# Every process started through `with_library` writes down which shared libraries it initialised
# (LD_DEBUG). `finish` fails unless that record names the library under test and no other liblmdb.
# It proves which library was tested. Nothing is installed, started for longer than the script, or
# reached from outside: files go to build/programs/run/NAME.

set -euo pipefail
program=$(basename "$0" .sh)
[ -e "${1:-}/lib/liblmdb.so.0" ] || { echo "usage: $0 PREFIX   (a folder with lib/liblmdb.so.0 and include/lmdb.h)" >&2; exit 2; }
prefix=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
library=$(realpath "$prefix/lib/liblmdb.so.0")
unpacked=$PWD/build/programs/root
unpacked_libraries=$unpacked/usr/lib/$(gcc -print-multiarch)
work=$PWD/build/programs/run/$program
log=$work/log

. scripts/checks.sh
rm -rf "$work"
mkdir -p "$work/loaded"

# Runs a command with the library under test before every other, and records what it loads.
with_library() {
    ${by:-} env LD_LIBRARY_PATH="$prefix/lib:$unpacked_libraries${more_libraries:+:$more_libraries}" \
        LD_DEBUG=libs LD_DEBUG_OUTPUT="$work/loaded/ld" "$@"
}

# Ends a quick run of a recipe that takes minutes.
not_in_a_quick_run() {
    [ -n "${QUICK:-}" ] || return 0
    printf '%-10s %-34s %4d passed, 0 failed, 1 skipped; make programs runs it\n' "$program" "" 0
    exit 0
}

# Configures and compiles the unmodified source of a package of Debian, with the header and the
# library under test. Sets `source`, and `built` for the folder it is built in; it is installed in
# $built/installed. Products of an earlier run in the same way stay.
build_source() { # PACKAGE [ARGUMENT OF configure]...
    local package=$1 way
    shift
    source=$PWD/build/programs/sources/$package
    built=$PWD/build/programs/built/$package
    need "the source of $package" test -e "$source/.complete"
    way="$* $prefix $(cksum < "$prefix/include/lmdb.h")"
    [ "$(cat "$built/.begun" 2>/dev/null)" = "$way" ] || rm -rf "$built"
    [ ! -e "$built/.complete" ] || return 0
    mkdir -p "$built"
    echo "$way" > "$built/.begun"
    (
        cd "$built"
        export CPPFLAGS=-I$prefix/include LDFLAGS=-L$prefix/lib CFLAGS="-O1 -w"
        [ -e "$source/configure" ] || (cd "$source" && autoreconf -f -i)
        [ -e Makefile ] || "$source/configure" --prefix="$built/installed" "$@"
        make -j"$(nproc)"
        make install
    ) >> "$log" 2>&1
    touch "$built/.complete"
}

# The real LMDB, for comparison.
reference=$PWD/build/lmdb-0.9.36
with_reference() { env LD_LIBRARY_PATH="$reference/lib${more_libraries:+:$more_libraries}" "$@"; }

# Counts one test: the running process has mapped the library under test and no other.
check_mapped() { # WHAT PID
    says "$1 has mapped the library under test" "$library" \
        sed -n 's/.*r-xp.* \(\/[^ ]*\/liblmdb[-.0-9]*so[^ ]*\)$/\1/p' "/proc/$2/maps"
}

# The liblmdb files that processes of this run initialised, one a line.
loaded_libraries() {
    find "$work/loaded" -type f -exec sed -n 's/.*calling init: \(.*\/liblmdb[-.0-9]*so.*\)$/\1/p' {} + |
        sort -u | while read -r file; do realpath "$file"; done | sort -u
}

# Runs `cargo ARGUMENTS...` with the library under test, and adds the figures of Rust's test runner.
rust_tests() { # NAME ARGUMENTS...
    local output=$work/$1.log figures
    shift
    with_library cargo "$@" > "$output" 2>> "$log" || true
    sed -n "s/^test \(.*\) \.\.\. FAILED$/$program: FAILED: \1/p" "$output" >&2
    read -r -a figures < <(awk '
        /^test result: / { p += $4; f += $6; s += $8 + $12; runs++ }
        END { print p + 0, f + (runs == 0), s + 0 }' "$output")
    passed=$((passed + figures[0])) failed=$((failed + figures[1])) skipped=$((skipped + figures[2]))
}

# Prints the program's line and ends.
finish() { # VERSION
    stop_servers
    local loaded
    loaded=$(loaded_libraries)
    if [ "$loaded" != "$library" ]; then
        failed=$((failed + 1))
        echo "$program: FAILED: loaded ${loaded:-no liblmdb at all} instead of $library" >&2
    fi
    printf '%-10s %-34s %4d passed, %d failed, %d skipped; loaded %s; %d s\n' \
        "$program" "$1" "$passed" "$failed" "$skipped" "${loaded//$'\n'/ and }" "$((SECONDS - begun))"
    [ "$failed" = 0 ] || { echo "$program: see $log" >&2; exit 1; }
    exit 0
}
