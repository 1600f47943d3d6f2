//! The contract, section by section. The same calls go to this library and to LMDB, and every
//! result must be the same. Calls that crash LMDB, or corrupt its data, go to this library alone.

mod api;
mod cursors;
mod databases;
mod environments;
mod items;
mod lists;
mod misuse;
mod threads;
mod transactions;
mod world;

use std::path::Path;

use api::Api;
use world::World;

/// Where Debian installs the original, 0.9.24.
const ORIGINAL: &str = "/usr/lib/x86_64-linux-gnu/liblmdb.so.0";
/// Where the original 0.9.36 is, if it was built.
const NEWEST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../build/lmdb-0.9.36/liblmdb.so"
);

/// This package's library, in the directory of the test, or another build of it.
fn ours() -> Api {
    if let Some(path) = std::env::var_os("FULGURITE_LMDB_LIBRARY") {
        return Api::load(Path::new(&path));
    }
    let test = std::env::current_exe().unwrap();
    Api::load(&test.with_file_name("liblmdb.so"))
}

/// Runs a section with our library and each original, and compares what they answered.
fn compare(section: fn(&mut World<'_>)) {
    let originals = [ORIGINAL, NEWEST].map(Path::new);
    assert!(
        originals[0].exists(),
        "install Debian's liblmdb0: scripts/setup.sh does"
    );
    let ours = transcript(&ours(), section);
    for original in originals.into_iter().filter(|path| path.exists()) {
        let theirs = transcript(&Api::load(original), section);
        for (number, (a, b)) in ours.lines().zip(theirs.lines()).enumerate() {
            let before: Vec<&str> = ours.lines().take(number).collect();
            let before = before[before.len().saturating_sub(12)..].join("\n");
            assert_eq!(
                a,
                b,
                "after\n{before}\n(ours left, {} right)",
                original.display()
            );
        }
        assert_eq!(ours.lines().count(), theirs.lines().count());
    }
}

/// Runs a section with our library only; it judges the answers by itself.
fn alone(section: fn(&mut World<'_>)) -> String {
    transcript(&ours(), section)
}

fn transcript(api: &Api, section: fn(&mut World<'_>)) -> String {
    let mut world = World::new(api);
    section(&mut world);
    world.into_log()
}
