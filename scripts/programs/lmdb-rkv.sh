#!/usr/bin/env bash
# The crate lmdb-rkv (Mozilla's LMDB wrapper): its tests, and those of lmdb-rkv-sys, on the library
# under test.
. "$(dirname "$0")/common.sh"

sources=$PWD/build/programs/rust/vendor
# lmdb-rkv-sys compiles its own C unless pkg-config knows a library called "liblmdb".
mkdir -p "$work/pkgconfig"
cat > "$work/pkgconfig/liblmdb.pc" <<PC
Name: liblmdb
Description: the library under test
Version: 0.9.36
Libs: -L$prefix/lib -llmdb
Cflags: -I$prefix/include
PC
export PKG_CONFIG_PATH=$work/pkgconfig CARGO_TARGET_DIR=$PWD/build/programs/rust/target
rust_tests lmdb-rkv test --manifest-path "$sources/lmdb-rkv/Cargo.toml" --lib \
    --config "patch.crates-io.lmdb-rkv-sys.path='$sources/lmdb-rkv-sys'"
rust_tests lmdb-rkv-sys test --manifest-path "$sources/lmdb-rkv-sys/Cargo.toml" --test simple
finish "0.14.0, lmdb-rkv-sys $(sed -n 's/^version = "\(.*\)"/\1/p' "$sources/lmdb-rkv-sys/Cargo.toml" | head -1)"
