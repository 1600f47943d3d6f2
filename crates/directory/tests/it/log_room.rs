//! The log of changes and the store's own troubles: a full file, and damaged records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ResultCode::{Other, Success, UnwillingToPerform};
use fulgurite::seam::{self, Call, FileRole, Injector, Site, Verdict};
use fulgurite_ldap::{Control, ModifyOperation, ResultCode, oid};
use fulgurite_store::{Durability, EntryId, Snapshot as _};

use crate::controls::tree_delete;
use crate::extended::in_transaction;
use crate::support::{
    JANE, PEOPLE, World, add_pdu, code, decode, delete_pdu, modify_pdu, pdu, write_request,
};

/// A world whose file can grow to two MiB.
fn small() -> World {
    let world = World::empty_with_store(
        |_| {},
        |options| {
            options.map_bytes_max = Some(2 << 20);
            options.durability = Some(Durability::NoSync);
        },
    );
    world.load_example();
    world
}

fn describe(world: &World, text: &str) -> ResultCode {
    let change: (ModifyOperation, &str, &[&str]) =
        (ModifyOperation::Replace, "description", &[text]);
    code(&world.write(&world.root(), &modify_pdu(JANE, &[change])))
}

fn log_bytes(world: &World) -> u64 {
    world.store.snapshot().unwrap().changes().unwrap().bytes
}

#[test]
fn modifies_never_fill_a_small_store() {
    let world = small();
    for number in 0..3000 {
        let text = format!("{number} {}", "x".repeat(1000));
        assert_eq!(describe(&world, &text), Success, "{number}");
    }
    let bytes = log_bytes(&world);
    assert!((100_000..=(2 << 20) / 4).contains(&bytes), "{bytes}");
}

#[test]
fn entries_take_the_room_of_the_log() {
    let world = small();
    for number in 0..500 {
        let text = format!("{number} {}", "x".repeat(1000));
        assert_eq!(describe(&world, &text), Success, "{number}");
    }
    let before = log_bytes(&world);
    let text = "x".repeat(3000);
    let text = text.as_str();
    let root = world.root();
    let mut added = 0;
    loop {
        let name = format!("ou={added},dc=example,dc=com");
        let unit = [("objectClass", "organizationalUnit"), ("description", text)];
        let result = world.write(&root, &add_pdu(&name, &unit));
        if code(&result) != Success {
            break;
        }
        added += 1;
        assert!(added < 1000, "the store is small");
    }
    let after = log_bytes(&world);
    assert!(after < 8 << 10, "of {before} bytes, {after} are left");
}

/// Adds units with a value of `len` bytes until the store is full. Returns their names.
fn fill(world: &World, prefix: &str, len: usize) -> Vec<String> {
    let text = "x".repeat(len);
    let mut names = Vec::new();
    loop {
        let name = format!("ou={prefix}{},dc=example,dc=com", names.len());
        let unit = [
            ("objectClass", "organizationalUnit"),
            ("description", &*text),
        ];
        let result = world.write(&world.root(), &add_pdu(&name, &unit));
        if code(&result) != Success {
            let is_full = matches!(code(&result), UnwillingToPerform | Other);
            assert!(is_full, "{result:?}");
            return names;
        }
        names.push(name);
        assert!(names.len() < 10_000, "the store is small");
    }
}

#[test]
fn an_update_that_never_fits_leaves_the_log_alone() {
    let world = small();
    for number in 0..200 {
        assert_eq!(
            describe(&world, &format!("{number} {}", "x".repeat(1000))),
            Success
        );
    }
    let before = world.store.snapshot().unwrap().changes().unwrap();
    assert!(before.bytes > 100_000, "{before:?}");
    assert_eq!(describe(&world, &"x".repeat(1_500_000)), UnwillingToPerform);
    let after = world.store.snapshot().unwrap().changes().unwrap();
    assert_eq!((after.oldest, after.bytes), (before.oldest, before.bytes));
}

#[test]
fn entries_can_be_deleted_from_a_full_store() {
    let world = small();
    let mut names = fill(&world, "large", 3000);
    names.extend(fill(&world, "small", 1));
    let root = world.root();
    let bytes = log_bytes(&world);
    assert!(bytes < 8 << 10, "the log has no more to give: {bytes}");
    for name in names {
        let deleted = world.write(&root, &delete_pdu(&name));
        assert_eq!(code(&deleted), Success, "{name} {deleted:?}");
    }
    assert!(!fill(&world, "again", 3000).is_empty());
}

/// A disk that is full once the mark is set. Room taken before can be written.
#[derive(Default)]
struct FullDisk(AtomicBool);

impl Injector for FullDisk {
    fn verdict(&self, site: Site, _: usize) -> Verdict {
        let takes_room = site.role == FileRole::Data && site.call == Call::Allocate;
        if takes_room && self.0.load(Ordering::Relaxed) {
            return Verdict::Fail(28);
        }
        Verdict::Go
    }
}

/// Fills the disk of a world. Returns the names of its new units.
fn with_full_disk(disk: &FullDisk) -> (World, Vec<String>) {
    let world = World::empty_with_store(
        |_| {},
        |options| options.durability = Some(Durability::NoSync),
    );
    world.load_example();
    let unit = [("objectClass", "organizationalUnit")];
    let mut names: Vec<String> = (0..50)
        .map(|number| format!("ou=before{number},dc=example,dc=com"))
        .collect();
    for name in &names {
        let added = world.write(&world.root(), &add_pdu(name, &unit));
        assert_eq!(code(&added), Success, "{name}");
    }
    disk.0.store(true, Ordering::Relaxed);
    names.extend(fill(&world, "large", 3000));
    names.extend(fill(&world, "small", 1));
    let refused = world.store.commit_counts().refused_disk;
    assert_eq!(refused, 2, "each filling ends with a refused add");
    (world, names)
}

#[test]
fn entries_can_be_deleted_from_a_full_disk() {
    let disk = Arc::new(FullDisk::default());
    let _installed = seam::install(disk.clone());
    let (world, names) = with_full_disk(&disk);
    let root = world.root();
    for name in &names {
        let deleted = world.write(&root, &delete_pdu(name));
        assert_eq!(code(&deleted), Success, "{name} {deleted:?}");
    }
    assert!(!fill(&world, "again", 3000).is_empty());
    assert_eq!(world.store.commit_counts().refused_disk, 3);
}

#[test]
fn a_transaction_deletes_from_a_full_disk() {
    let disk = Arc::new(FullDisk::default());
    let _installed = seam::install(disk.clone());
    let (world, names) = with_full_disk(&disk);
    let root = world.root();
    let within = |updates: &[Vec<u8>]| in_transaction(&world, &root, updates);
    let text = "x".repeat(50_000);
    let unit = [
        ("objectClass", "organizationalUnit"),
        ("description", &*text),
    ];
    let added = within(&[
        delete_pdu(&names[0]),
        add_pdu("ou=more,dc=example,dc=com", &unit),
    ]);
    assert_eq!(code(&added), Other, "{added:?}");
    assert_eq!(world.store.commit_counts().refused_disk, 3);
    let deletions: Vec<_> = names.iter().map(|name| delete_pdu(name)).collect();
    for deletions in deletions.chunks(3) {
        let deleted = within(deletions);
        assert_eq!(code(&deleted), Success, "{deleted:?}");
    }
    assert_eq!(world.store.commit_counts().refused_disk, 3);
}

/// Cuts the record of an entry behind its names.
fn damage_entry(world: &World, dn: &str) {
    let id = {
        let view = world.store.snapshot().unwrap();
        let dn = fulgurite_schema::Dn::parse(view.schema(), dn).unwrap();
        view.find(&dn).unwrap().entry().unwrap()
    };
    let EntryId(number) = id;
    let mut txn = world.store.environment().write().unwrap();
    let entries = txn.open_database(Some("entries")).unwrap();
    let record = txn.get(entries, &number.to_be_bytes()).unwrap().unwrap();
    let record = record[..record.len() - 1].to_vec();
    txn.put(entries, &number.to_be_bytes(), &record).unwrap();
    txn.commit().unwrap();
}

#[test]
fn a_damaged_top_of_a_subtree_keeps_the_whole_subtree() {
    let world = World::new();
    let root = world.root();
    let names = world.names("(uid=*)");
    assert!(names.len() > 1, "there are entries below it");
    let before = world.store.snapshot().unwrap().entry_count().unwrap();
    damage_entry(&world, PEOPLE);
    let delete = tree_delete(PEOPLE);
    let controls = [
        Control::new(oid::TREE_DELETE, true),
        Control::new(oid::MANAGE_DSA_IT, true),
    ];
    let delete = pdu(&decode(&delete).request, &controls);
    let other = add_pdu(
        "ou=other,dc=example,dc=com",
        &[("objectClass", "organizationalUnit")],
    );
    let requests = [write_request(&root, &delete), write_request(&root, &other)];
    let replies = world.directory.apply(&requests);
    assert_ne!(replies[0].result.code, Success);
    assert_ne!(replies[0].result.code, UnwillingToPerform);
    assert_eq!(replies[1].result.code, Success, "{:?}", replies[1].result);
    let kept = world.store.snapshot().unwrap().entry_count().unwrap();
    assert_eq!(kept, before + 1, "nothing is deleted");
}
