//! A process with little address space: it opens the files it can, and gets an error for the
//! others.

use std::process::Command;

use fulgurite::{Database, Durability, Environment, OpenOptions, Snapshot};
use fulgurite_testkit::Scratch;

use crate::child;

const DIR: &str = "FULGURITE_TEST_NARROW_DIR";

fn options() -> OpenOptions {
    Environment::options().durability(Durability::NoSync)
}

/// Runs the role below with a limit of 1 GB of address space.
#[test]
fn address_space_may_be_scarce() {
    let scratch = Scratch::new("narrow");
    let role = child::role("narrow");
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 1000000 && exec \"$0\" \"$@\""])
        .arg(role.get_program())
        .args(role.get_args())
        .envs(
            role.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env(DIR, scratch.path())
        .output()
        .expect("run sh");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("all went well"),
        "{said}"
    );
}

/// The child's part.
pub(crate) fn child() {
    let scratch = std::path::PathBuf::from(child::parameter(DIR));
    let directory = |name: String| {
        let path = scratch.join(name);
        std::fs::create_dir(&path).expect("a directory");
        path
    };
    // Environments with small maps that are set take no more than these.
    let small: Vec<Environment> = (0..40)
        .map(|number| {
            let path = directory(number.to_string());
            options()
                .map_size(10 << 20)
                .open(path)
                .expect("one of many")
        })
        .collect();
    // Space is found when one of them is to be larger, and refused when there is none.
    small[0].set_map_size(200 << 20).expect("some room");
    let refused = small[1].set_map_size(900 << 20);
    assert!(refused.is_err(), "there cannot be room for that");
    assert_eq!(small[1].info().expect("info").map_size, 10 << 20);
    fill(&small[0], 100);
    fill(&small[1], 5);
    drop(small);
    // One whose map grows takes what there is, and one asked to be huge does as well.
    let growing = options()
        .open(directory("growing".into()))
        .expect("growing");
    fill(&growing, 30);
    drop(growing);
    let huge = options()
        .map_size(1 << 40)
        .open(directory("huge".into()))
        .expect("huge");
    fill(&huge, 30);
    println!("all went well");
}

/// Stores `count` values of 1 MB, and reads them.
fn fill(environment: &Environment, count: u8) {
    let mut txn = environment.write().expect("the writer");
    for number in 0..count {
        let value = vec![number; 1_000_000];
        txn.put(Database::MAIN, &[number], &value).expect("put");
    }
    txn.commit().expect("commit");
    let reader = environment.read().expect("a reader");
    for number in 0..count {
        let value = reader.get(Database::MAIN, &[number]).expect("get");
        assert_eq!(
            value.map(|value| (value.len(), value[999_999])),
            Some((1_000_000, number))
        );
    }
}
