//! Gives the shared library LMDB's soname, which linked programs ask the loader for. It is never
//! unloaded: the system calls it at forks, and when a page of a map is missing.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblmdb.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
