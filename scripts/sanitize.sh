#!/usr/bin/env bash
# Tests under a sanitizer: the engine's, and those that call the C library, which is built with it
# too.
#
#   scripts/sanitize.sh [address|thread] [--quick]
#
#   address    reads and writes outside of allocations or after their end; memory that is lost at the end (default)
#   thread     accesses of two threads to the same place with nothing to order them
#
# --quick runs what several threads and C programs do, and leaves the long random runs out. It wants
# a nightly compiler; `thread` builds the standard library anew, for which it wants rust-src.
# scripts/sanitize.*.supp has the accepted reports, with reasons. Tests that start programs of
# others, or measure memory, are left out: those are not built so.
set -uo pipefail
cd "$(dirname "$0")/.."
kind=address quick=no
for word in "$@"; do
    case $word in
        address | thread) kind=$word ;;
        --quick) quick=yes ;;
        *) echo "usage: $0 [address|thread] [--quick]" >&2; exit 2 ;;
    esac
done
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "sanitize: no nightly compiler (rustup toolchain install nightly --component rust-src): nothing was run"
    exit 0
fi

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
# The C library is loaded by name; the sanitizer it asks for is the test program's. No other symbols
# are exported. Else the real LMDB would call the functions of ours that a test is linked with.
export RUSTFLAGS="-Zsanitizer=$kind -Clink-arg=-Wl,--export-dynamic-symbol=__*san_*" RUSTDOCFLAGS="-Zsanitizer=$kind" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/$kind}
# A mistake in a child process must end it too, and be told from an ordinary failure.
supp=$PWD/scripts/sanitize
export TSAN_OPTIONS="suppressions=$supp.thread.supp:die_after_fork=0:exitcode=66:second_deadlock_stack=1"
export ASAN_OPTIONS="detect_leaks=1:handle_sigbus=0:exitcode=66"
export LSAN_OPTIONS="suppressions=$supp.leak.supp:print_suppressions=0"
build=()
[ "$kind" = thread ] && build=(-Zbuild-std)
log=build/sanitize-$kind.log
mkdir -p build
: > "$log"
status=0
run() {
    cargo +nightly test "${build[@]}" --target "$host" --no-fail-fast "$@" >> "$log" 2>&1 || status=1
}

# The models have a scheduler that the sanitizers do not know. Tests that exhaust memory are
# refused. Children that lose pages below their map, or have little address space, meet the
# sanitizer's handlers.
skip=(--skip models --skip real_tools --skip killed --skip memory --skip limit
    --skip narrow --skip flips --skip full_disk --skip lost_pages)
run -p fulgurite --lib --test handles --test slots --test previous --test multimap -- "${skip[@]}"
run -p fulgurite --test suite -- "${skip[@]}" threads sharing nested spill
# The real LMDB has no frame pointers. The tests that call it tell which of its leaks are accepted.
ASAN_OPTIONS+=:fast_unwind_on_malloc=0 \
    run -p fulgurite-lmdb --lib --test conformance --test misuse -- "${skip[@]}"
if [ "$quick" = no ]; then
    run -p fulgurite --test suite --test duplicates --test range --test space --test model --test durability \
        --test map_size --test opening -- "${skip[@]}"
    run -p fulgurite-format -- "${skip[@]}"
    run -p fulgurite-lmdb --test differential -- "${skip[@]}"
fi

grep -aE "^(SUMMARY|ERROR|WARNING): .*Sanitizer" "$log" | sort | uniq -c
sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2/p' "$log" |
    awk -v kind="$kind" '{ passed += $1; failed += $2 }
         END { printf "sanitize %s: %d tests passed, %d failed\n", kind, passed, failed }'
[ "$status" = 0 ] || echo "sanitize: see $log"
exit "$status"
