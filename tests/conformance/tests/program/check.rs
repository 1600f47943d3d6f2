//! `fulgurite check`: what it says, and the status it ends with.

use std::path::Path;
use std::process::Output;

use fulgurite_conformance::{LoadedStore, failure, path, run};
use fulgurite_testkit::{Scratch, base, c_peer, corrupt_cases, fixture};

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("an exit, not a signal")
}

#[test]
fn a_store_is_sound_beside_its_server_too() {
    let loaded = LoadedStore::generated(200);
    let at_rest = run(&["check", loaded.data_str()]);
    assert_eq!(status(&at_rest), 0, "{at_rest:?}");
    assert!(text(&at_rest).ends_with("sound\n"), "{at_rest:?}");
    let serving = loaded.serve(&[]);
    let live = run(&["check", loaded.data_str()]);
    assert_eq!(status(&live), 0, "{live:?}");
    assert!(text(&live).contains("held by a reader slot"), "{live:?}");
    serving.stop();
    // Its file by name is the same store.
    let file = run(&["check", "--quiet", path(&loaded.data().join("data.mdb"))]);
    assert_eq!((status(&file), text(&file).as_str()), (0, ""));
}

/// Deletes the first record of a database of a store.
fn delete_first(data: &Path, database: &str) {
    use fulgurite::Snapshot as _;
    let environment = fulgurite::Environment::options().open(data).expect("open");
    let mut txn = environment.write().expect("the writer");
    let database = txn.open_database(Some(database)).expect("a database");
    let key = {
        let mut cursor = txn.cursor(database).expect("a cursor");
        cursor
            .first()
            .expect("readable")
            .expect("a record")
            .0
            .to_vec()
    };
    txn.delete(database, &key).expect("delete");
    txn.commit().expect("commit");
}

#[test]
fn entries_are_compared_with_their_indexes_and_names() {
    for (database, finding) in [
        ("index", "the list of all entries"),
        ("names", "entry"),
        ("counts", "count"),
    ] {
        let loaded = LoadedStore::generated(20);
        let sound = run(&["check", loaded.data_str()]);
        assert_eq!(status(&sound), 0, "{sound:?}");
        assert!(text(&sound).contains("\nentries: "), "{sound:?}");
        delete_first(&loaded.data(), database);
        let damaged = run(&["check", "--quiet", loaded.data_str()]);
        assert_eq!(status(&damaged), 1, "{database}: {damaged:?}");
        assert!(text(&damaged).contains(finding), "{database}: {damaged:?}");
        let json = run(&["check", "--json", loaded.data_str()]);
        let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
        assert_eq!((status(&json), &value["sound"]), (1, &false.into()));
        let problems = value["content"]["problems"].as_array();
        assert!(problems.is_some_and(|all| !all.is_empty()), "{value}");
        let pages = run(&["check", "--pages-only", loaded.data_str()]);
        assert_eq!(status(&pages), 0, "{pages:?}");
        // A copy without a lock file gets none.
        let copy = loaded.root.path().join("copy");
        std::fs::create_dir(&copy).expect("a folder");
        let file = |folder: &Path| folder.join("data.mdb");
        std::fs::copy(file(&loaded.data()), file(&copy)).expect("a copy");
        assert_eq!(status(&run(&["check", path(&copy)])), 1);
        assert_eq!(std::fs::read_dir(&copy).expect("list").count(), 1);
    }
}

#[test]
fn a_schema_that_lacks_an_attribute_is_asked_for() {
    let scratch = Scratch::new("check-schema");
    let folder = |name: &str| scratch.join(name);
    std::fs::create_dir_all(folder("data")).expect("a folder");
    let schema = folder("own.schema");
    let own = "attributetype ( 1.3.6.1.4.1.99999.1 NAME 'own' EQUALITY caseIgnoreMatch SYNTAX \
         1.3.6.1.4.1.1466.115.121.1.15 )\nobjectclass ( 1.3.6.1.4.1.99999.2 NAME 'owner' AUXILIARY \
         MAY own )\n";
    std::fs::write(&schema, own).expect("a file");
    let ldif = folder("own.ldif");
    let entry = "dn: dc=x\nobjectClass: domain\nobjectClass: owner\ndc: x\nown: y\n";
    std::fs::write(&ldif, entry).expect("a file");
    let config = folder("own.toml");
    let text = format!(
        "schema = [\"{}\"]\n[[database]]\nsuffix = \"dc=x\"\ndata = \"{}\"\n",
        path(&schema),
        path(&folder("data"))
    );
    std::fs::write(&config, text).expect("a file");
    let loaded = run(&["load", "--config", path(&config), path(&ldif)]);
    assert!(loaded.status.success(), "{loaded:?}");
    let data = folder("data");
    let unknown = run(&["check", path(&data)]);
    assert_eq!(status(&unknown), 2, "{unknown:?}");
    let sentence = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        sentence.contains("--config FILE, -f FILE or -F DIR"),
        "{sentence}"
    );
    let known = run(&["check", "--config", path(&config), path(&data)]);
    assert_eq!(status(&known), 0, "{known:?}");
}

#[test]
fn an_environment_that_the_original_writes_to_is_checked() {
    let scratch = Scratch::new("check-live");
    let mut peer = c_peer();
    peer.must(&format!("open {} nosync", scratch.path().display()));
    peer.must("write");
    peer.must("create things lexical");
    peer.must("fill things 0 5000 40 1");
    peer.must("commit");
    for round in 0..10 {
        peer.must("write");
        peer.must(&format!("fill things 0 5000 40 {}", round + 2));
        peer.must("commit");
        // A transaction is under way while the file is looked at.
        peer.must("write");
        peer.must("fill things 0 2000 50 3");
        let output = run(&["check", path(scratch.path())]);
        assert_eq!(status(&output), 0, "{output:?}");
        assert!(
            text(&output).contains("could be gone back to"),
            "{output:?}"
        );
        peer.must("abort");
    }
}

#[test]
fn a_file_without_a_lock_file_is_only_read() {
    let scratch = Scratch::new("check-alone");
    let dir = fixture("named").copy_to(&scratch);
    let output = run(&["check", path(&dir)]);
    assert_eq!(status(&output), 0, "{output:?}");
    assert!(text(&output).contains("no lock file"), "{output:?}");
    let files: Vec<_> = std::fs::read_dir(&dir).expect("list").collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn damage_is_told_in_words_and_by_the_status() {
    let scratch = Scratch::new("check-damage");
    let (cases, _) = corrupt_cases();
    let case = cases
        .iter()
        .find(|case| case.name == "free-page-in-use")
        .expect("the case");
    let dir = case.copy_to(&scratch);
    let output = run(&["check", path(&dir)]);
    assert_eq!(status(&output), 1, "{output:?}");
    assert!(
        text(&output).contains("the page is used twice"),
        "{output:?}"
    );
    let json = run(&["check", "--json", path(&dir)]);
    assert_eq!(status(&json), 1);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(value["sound"], false);
    assert!(
        value["findings"]
            .as_array()
            .is_some_and(|list| !list.is_empty())
    );

    assert_eq!(failure(&run(&["check", "/no/such"])).0, 2);
    let junk = scratch.join("junk");
    std::fs::write(&junk, b"no data file").expect("write");
    let (code, sentence) = failure(&run(&["check", path(&junk)]));
    assert_eq!(code, 2);
    assert!(sentence.contains("is no usable data file"), "{sentence}");
}

#[test]
fn an_unknown_order_is_not_judged_on_request() {
    let scratch = Scratch::new("check-order");
    let dir = scratch.join("env");
    std::fs::create_dir_all(&dir).expect("make a directory");
    swap_two_keys(base("base-tree").data(), &dir.join("data.mdb"));
    let judged = run(&["check", path(&dir)]);
    assert_eq!(status(&judged), 1, "{judged:?}");
    assert!(
        text(&judged).contains("check it with any order allowed"),
        "{judged:?}"
    );
    for flags in [&["--any-order", "main"][..], &["--any-order-everywhere"]] {
        let output = run(&[&["check"], flags, &[path(&dir)]].concat());
        assert_eq!(status(&output), 0, "{output:?}");
        assert!(text(&output).contains("was not checked"), "{output:?}");
    }
    let other = run(&["check", "--any-order", "other", path(&dir)]);
    assert_eq!(status(&other), 1);
}

/// Exchanges the first two offsets of a leaf that is in use.
fn swap_two_keys(from: &Path, to: &Path) {
    let original = std::fs::read(from).expect("read");
    let swapped = (2..original.len() / 4096).find_map(|pgno| {
        let mut bytes = original.clone();
        let page = &mut bytes[pgno * 4096..][..4096];
        if page[10] != 2 || page[12] < 24 {
            return None;
        }
        page[16..20].rotate_left(2);
        std::fs::write(to, bytes).expect("write");
        // Pages that are free by now may be changed.
        (status(&run(&["check", "-q", path(to)])) == 1).then_some(())
    });
    assert!(swapped.is_some(), "no leaf is in use");
}

#[test]
fn repair_saves_what_is_left_and_says_what_is_not() {
    let scratch = Scratch::new("check-repair");
    let (cases, _) = corrupt_cases();
    let case = cases
        .iter()
        .find(|case| case.name.starts_with("leaf-"))
        .expect("a damaged leaf");
    let dir = case.copy_to(&scratch);
    let before = std::fs::read(dir.join("data.mdb")).expect("read");
    let out = scratch.join("out");
    let output = run(&["check", "--repair", path(&out), path(&dir)]);
    assert_eq!(status(&output), 1, "{output:?}");
    assert!(
        text(&output).contains("missing or replaced: "),
        "{output:?}"
    );
    assert!(text(&output).contains("which is sound"), "{output:?}");
    assert_eq!(std::fs::read(dir.join("data.mdb")).expect("read"), before);
    assert_eq!(status(&run(&["check", path(&out)])), 0);
    let (code, sentence) = failure(&run(&["check", "--repair", path(&out), path(&dir)]));
    assert_eq!(code, 2);
    assert!(sentence.contains("is not empty"), "{sentence}");

    let sound = fixture("named").copy_to(&scratch);
    let all = run(&[
        "check",
        "--repair",
        path(&scratch.join("all")),
        path(&sound),
    ]);
    assert_eq!(status(&all), 0, "{all:?}");
    assert!(text(&all).contains("all of it is in"), "{all:?}");
}
