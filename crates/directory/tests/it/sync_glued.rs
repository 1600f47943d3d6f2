//! The provider of a database with the overlay `glue`, and of the databases glued below it.

use fulgurite_directory::{OverlaySettings, Progress, Quantum, Subordinate};
use fulgurite_ldap::control::SyncMode;
use fulgurite_policy::Origin;
use tempfile::TempDir;

use crate::databases::database;
use crate::support::*;
use crate::sync::{BASE, random_contents, random_history};
use crate::sync_consumer::*;

const BELOW: &str = "cn=1,ou=a,dc=example,dc=com";

/// A provider with these overlays, and a database glued below it. Neither has an entry.
fn glued(overlays: &[&str]) -> (World, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::empty(|options| {
        options.server_id = 1;
        let overlays = overlays.iter();
        let overlays = overlays.map(|name| OverlaySettings::new(name, Origin::Default));
        options.databases[0].overlays = overlays.collect();
        let mut below = database(&folder, BASE, Subordinate::Glued);
        below.root.clone_from(&options.databases[0].root);
        options.databases.push(below);
    });
    (world, folder)
}

fn fill(world: &World) {
    let root = world.root();
    world.add(&root, TOP, &[("objectClass", "domain")]);
    world.add(&root, BASE, &[("objectClass", "organizationalUnit")]);
    world.add(&root, BELOW, &[("objectClass", "device")]);
}

#[test]
fn a_consumer_of_the_top_follows_glued_databases() {
    let (world, _folder) = glued(&["glue", "syncprov"]);
    fill(&world);
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_equal(&world, &EVERYTHING, &consumer, "first");
    assert_eq!(consumer.copies.len(), 3);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(consumer.seen, ["end true"], "nothing has changed");
    describe(&world, BELOW, "new");
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(consumer.seen, [&format!("Add {BELOW}"), "end true"]);
    let mut task = begin(
        &world,
        &EVERYTHING,
        &mut consumer,
        SyncMode::RefreshAndPersist,
    );
    let quantum = Quantum::default();
    assert_eq!(run(&mut task, &mut consumer, quantum), Progress::Waiting);
    consumer.seen.clear();
    describe(&world, TOP, "new");
    world.delete(&world.root(), BELOW);
    assert_eq!(run(&mut task, &mut consumer, quantum), Progress::Waiting);
    // One number for all databases, once each has sent its changes.
    let expected = [
        &format!("Modify {TOP}"),
        &format!("Delete {BELOW}"),
        "newcookie",
    ];
    assert_eq!(consumer.seen, expected);
    assert_equal(&world, &EVERYTHING, &consumer, "persist");
}

#[test]
fn the_place_of_glue_among_the_overlays_decides() {
    for overlays in [&["syncprov"][..], &["syncprov", "glue"]] {
        let (world, _folder) = glued(overlays);
        fill(&world);
        let mut consumer = Consumer::new(&EVERYTHING);
        refresh(&world, &EVERYTHING, &mut consumer);
        let names: Vec<&str> = consumer.copies.values().map(|copy| &*copy.dn).collect();
        assert_eq!(names, [TOP], "{overlays:?}");
    }
}

#[test]
fn a_database_that_has_become_empty_tells_its_deletions() {
    let (world, _folder) = glued(&["glue", "syncprov"]);
    fill(&world);
    let leaf = "cn=1,dc=example,dc=com";
    world.add(&world.root(), leaf, &[("objectClass", "device")]);
    let mut polling = Consumer::new(&EVERYTHING);
    let mut persisting = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut polling);
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(&world, &EVERYTHING, &mut persisting, mode);
    let quantum = Quantum::default();
    let progress = run(&mut task, &mut persisting, quantum);
    assert_eq!(progress, Progress::Waiting);
    persisting.seen.clear();
    // The name of a deleted entry comes anew, and that of a renamed one too.
    rename(&world, leaf, "cn=2", None);
    world.add(&world.root(), leaf, &[("objectClass", "device")]);
    world.delete(&world.root(), BELOW);
    world.delete(&world.root(), BASE);
    let progress = run(&mut task, &mut persisting, quantum);
    assert_eq!(progress, Progress::Waiting, "the search goes on");
    assert_equal(&world, &EVERYTHING, &persisting, "persist");
    refresh(&world, &EVERYTHING, &mut polling);
    let expected = [
        "Add cn=2,dc=example,dc=com",
        &format!("Add {leaf}"),
        &format!("Delete {BELOW}"),
        &format!("Delete {BASE}"),
        "end true",
    ];
    assert_eq!(polling.seen, expected);
    assert_equal(&world, &EVERYTHING, &polling, "refresh");
    // As long as it is empty, the refreshes are those of the other database.
    world.delete(&world.root(), leaf);
    world.add(&world.root(), leaf, &[("objectClass", "device")]);
    refresh(&world, &EVERYTHING, &mut polling);
    let expected = [
        &*format!("Delete {leaf}"),
        &format!("Add {leaf}"),
        "end true",
    ];
    assert_eq!(polling.seen, expected);
    world.add(
        &world.root(),
        BASE,
        &[("objectClass", "organizationalUnit")],
    );
    run(&mut task, &mut persisting, quantum);
    assert_equal(&world, &EVERYTHING, &persisting, "filled, persist");
    refresh(&world, &EVERYTHING, &mut polling);
    assert_equal(&world, &EVERYTHING, &polling, "filled, refresh");
}

#[test]
fn a_change_before_the_turn_of_another_part_is_not_missed() {
    let (world, _folder) = glued(&["glue", "syncprov"]);
    fill(&world);
    let mut consumer = Consumer::new(&EVERYTHING);
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(&world, &EVERYTHING, &mut consumer, mode);
    let progress = run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(progress, Progress::Waiting);
    describe(&world, BELOW, "new");
    let small = Quantum {
        candidates_max: 1,
        bytes_max: 1,
    };
    let mut out = Vec::new();
    // The part of the top has had its turn once the other one works.
    while !consumer.seen.contains(&format!("Modify {BELOW}")) {
        assert_eq!(task.advance(&mut out, small), Progress::More);
        consumer.take(&mut out);
    }
    describe(&world, TOP, "new");
    assert_eq!(run(&mut task, &mut consumer, small), Progress::Waiting);
    assert_equal(&world, &EVERYTHING, &consumer, "both");
}

#[test]
fn consumers_equal_a_glued_provider_after_random_changes() {
    let first = fulgurite_testkit::seed("sync_glued", 1);
    for seed in first..first + fulgurite_testkit::quick_or_long(6, 200) {
        for wanted in random_contents() {
            let (world, _folder) = glued(&["glue", "syncprov"]);
            random_history(&world, seed, &wanted);
        }
    }
}
