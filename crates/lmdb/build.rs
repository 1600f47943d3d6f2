//! Gives the shared library the name that programs linked to the original ask the loader for, and lets it stay where it
//! is once it was loaded: the system calls it when the process forks, and when a page of a map is not to be had.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblmdb.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
