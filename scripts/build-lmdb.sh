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

# Calls that save no instruction stay calls.
link=(-C llvm-args=-inline-threshold=100)
# Equal functions become one, where the toolchain's linker is lld.
case "$(uname -m) $*" in
    *--target*) ;;
    x86_64*) link+=(-C link-arg=-Wl,--icf=all) ;;
esac
# Nothing unwinds through the library. Rust's compiled `alloc` has tables nevertheless.
[ -n "${TABLES:-}" ] || link+=(-C "link-arg=-Wl,-T,$PWD/crates/lmdb/no-tables.ld")
[ -z "${COMPACT:-}" ] || link+=(-C link-arg=-Wl,-z,pack-relative-relocs)

build() { # FEATURES [OPTION]...
    local features=$1
    shift
    cargo rustc --quiet --profile lmdb --package fulgurite-lmdb --lib --no-default-features \
        --features "$features" --crate-type cdylib,staticlib "$@" -- "${link[@]}"
}

if [ -n "${EXTRAS:-}" ]; then
    build extras "$@"
    folder=${CARGO_TARGET_DIR:-target}/lmdb
    for kind in so a; do
        cp "$folder/liblmdb.$kind" "$folder/libfulgurite.$kind.new"
        mv "$folder/libfulgurite.$kind.new" "$folder/libfulgurite.$kind"
    done
fi
build "" "$@"
