//! Gives the shared library the name that programs linked to the original ask the loader for.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblmdb.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
