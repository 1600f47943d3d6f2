#!/usr/bin/env bash
# The crate heed (Meilisearch's LMDB wrapper): its unit and documentation tests, and those of
# lmdb-master-sys below it. The crate brings C of LMDB's development branch; heed calls functions of
# 0.9 only.
. "$(dirname "$0")/common.sh"

sources=$PWD/build/programs/rust/vendor
# lmdb-master-sys as it is, but for the build script: instead of compiling C it names the library.
rm -rf "$work/lmdb-master-sys"
cp -r "$sources/lmdb-master-sys" "$work/lmdb-master-sys"
rm -r "$work/lmdb-master-sys/lmdb"
cat > "$work/lmdb-master-sys/build.rs" <<'RUST'
fn main() {
    println!("cargo::rustc-link-search=native={}/lib", std::env::var("LMDB_PREFIX").unwrap());
    println!("cargo::rustc-link-lib=dylib=lmdb");
    println!("cargo::rerun-if-env-changed=LMDB_PREFIX");
}
RUST

export LMDB_PREFIX=$prefix CARGO_TARGET_DIR=$PWD/build/programs/rust/target
# Not in 0.9: read transactions inside a write transaction. One example wants the development
# branch's version number.
suite=(test --manifest-path "$sources/heed/Cargo.toml" ${QUICK:+--lib} --no-fail-fast
    --config "patch.crates-io.lmdb-master-sys.path='$work/lmdb-master-sys'")
rust_tests heed "${suite[@]}" -- --skip nested_read_txn --skip lmdb_version
rust_tests lmdb-master-sys test --manifest-path "$work/lmdb-master-sys/Cargo.toml" --test simple
finish "$(sed -n 's/^version = "\(.*\)"/\1/p' "$sources/heed/Cargo.toml" | head -1), lmdb-master-sys $(sed -n 's/^version = "\(.*\)"/\1/p' "$sources/lmdb-master-sys/Cargo.toml" | head -1)"
