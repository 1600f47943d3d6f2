#!/usr/bin/env bash
# Builds the C library as it is meant to be used: target/lmdb/liblmdb.so and liblmdb.a.
#
#   scripts/build-lmdb.sh [OPTION OF cargo rustc]...
#   EXTRAS=1 scripts/build-lmdb.sh       also libfulgurite.so and .a, with the fulgurite_* functions
#   TABLES=1 scripts/build-lmdb.sh       keeps the unwind tables, for debuggers and profilers
#   COMPACT=1 scripts/build-lmdb.sh      packs relocations: needs lld, and glibc 2.36 where the library
#                                        is used
#
# Without the standard library, which would add a third to its size. Separately from everything
# else: cargo would unite its features with those of the directory. And as a C library alone: cargo
# leaves link-time optimisation out where the same crate also becomes a Rust library.
set -euo pipefail
cd "$(dirname "$0")/.."

# mold refuses the linker script below; the toolchain's own linker takes it.
[ -z "${RUSTFLAGS:-}" ] || export RUSTFLAGS=${RUSTFLAGS//-C link-arg=-fuse-ld=mold/}

link=()
# Equal functions become one, where the linker knows how: lld and mold do, and those of GNU do not.
# The linker that a compiler uses differs with its version and target, so a trial tells.
links_with() { # FLAG OF rustc...
    local trial
    trial=$(mktemp -d)
    echo '#![no_std] #[panic_handler] fn end(_: &core::panic::PanicInfo<'"'_"'>) -> ! { loop {} }' |
        rustc --edition 2024 --crate-type cdylib -C panic=abort ${RUSTFLAGS:-} "$@" -o "$trial/trial.so" - \
            2> "$trial/log"
    local outcome=$?
    # GNU's linkers warn of some flags that they ignore.
    ! grep -q icf "$trial/log" || outcome=1
    rm -rf "$trial"
    return "$outcome"
}
target=()
previous=
for argument; do
    case "$previous$argument" in
        --target=*) target=(--target "${argument#--target=}") ;;
        --target*) target=(--target "$argument") ;;
    esac
    previous=
    [ "$argument" != --target ] || previous=--target
done
linker=
if [ "${#target[@]}" -gt 0 ]; then
    name=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "${target[1]}")
    linker=${name}_LINKER
    linker=${!linker:-}
    # Flags for all targets would take the place of those for this one.
    flags=${name}_RUSTFLAGS
    RUSTFLAGS="${RUSTFLAGS:-} ${!flags:-}"
fi
icf=-Clink-arg=-Wl,--icf=all
if links_with "${target[@]}" ${linker:+-Clinker="$linker"} "$icf"; then
    link+=("$icf")
else
    echo "build-lmdb: the linker folds no equal functions; the library gets a little larger" >&2
fi
# Nothing unwinds through the library. Rust's compiled `alloc` has tables nevertheless.
[ -n "${TABLES:-}" ] || link+=(-C "link-arg=-Wl,-T,$PWD/crates/lmdb/no-tables.ld")
[ -z "${COMPACT:-}" ] || link+=(-C link-arg=-Wl,-z,pack-relative-relocs)

# Calls that save no instruction stay calls; hot functions are marked to be inlined always. All
# crates need the bound, because each of them inlines before the library is put together.
inlining="-C llvm-args=-inline-threshold=100"

build() { # FEATURES [OPTION]...
    local features=$1
    shift
    RUSTFLAGS="${RUSTFLAGS:-} $inlining" cargo rustc --quiet --profile lmdb --package fulgurite-lmdb \
        --lib --no-default-features --features "$features" --crate-type cdylib,staticlib "$@" -- "${link[@]}"
}

if [ -n "${EXTRAS:-}" ]; then
    build extras "$@"
    folder=${CARGO_TARGET_DIR:-target}${target[1]:+/${target[1]}}/lmdb
    for kind in so a; do
        cp "$folder/liblmdb.$kind" "$folder/libfulgurite.$kind.new"
        mv "$folder/libfulgurite.$kind.new" "$folder/libfulgurite.$kind"
    done
fi
build "" "$@"
