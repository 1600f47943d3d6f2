//! Gives the shared library LMDB's soname, which linked programs ask the loader for. It is never
//! unloaded: the system calls it at forks, and when a page of a map is missing.

fn main() {
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let name = match has("EXTRAS") && !has("STD") {
        true => "libfulgurite.so.0",
        false => "liblmdb.so.0",
    };
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{name}");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
