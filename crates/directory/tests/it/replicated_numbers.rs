//! Numbers of the changes of a copied content: the state, the log, and which change is later.

use fulgurite_directory::{ContentOptions, CopiedContent};
use fulgurite_ldap::ContentChange;
use fulgurite_policy::Syncrepl;
use fulgurite_store::ChangeKind;

use crate::replicated::{Copy, attribute, csn, delete, reached, records, unit};
use crate::support::TOP;

#[test]
fn the_later_change_wins_where_clients_update_the_copy() {
    let mut copy = Copy::new(|_| {}, true);
    let a = format!("ou=a,{TOP}");
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 9), reached(9)]);
    copy.apply(&[unit(2, &format!("ou=older,{TOP}"), 5)]);
    assert_eq!(
        copy.names(),
        [TOP, &a],
        "an older change does not undo a later one"
    );
    let csn_of = |number| ContentChange::Delete {
        uuid: [2; 16],
        csn: Some(csn(number)),
        ends: None,
    };
    copy.apply(&[csn_of(5)]);
    assert_eq!(copy.names(), [TOP, &a], "nor does an older deletion");
    copy.apply(&[csn_of(10), reached(10)]);
    copy.apply(&[unit(2, &a, 9)]);
    assert_eq!(copy.names(), [TOP], "a deleted entry does not come back");
    copy.apply(&[unit(2, &a, 11)]);
    assert_eq!(copy.names(), [TOP, &a], "unless it was changed after that");
    // An entry that the provider cannot know yet stays.
    let state = vec![csn(10)];
    copy.apply(&[
        ContentChange::BeginRefresh,
        ContentChange::DropUnnamed { state },
    ]);
    assert!(copy.names().contains(&a));
    let added = copy.world.add(
        &copy.world.root(),
        &format!("ou=new,{TOP}"),
        &[("objectClass", "organizationalUnit"), ("ou", "new")],
    );
    assert!(added.is_success(), "{added:?}");
}

#[test]
fn each_change_is_logged_with_its_own_number() {
    use ChangeKind::{Add, Delete, Modify, Rename};
    let mut copy = Copy::plain();
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    let below = format!("ou=c,ou=glue,{TOP}");
    // The order of a refresh says nothing about numbers before its end.
    copy.apply(&[
        ContentChange::BeginRefresh,
        unit(2, &a, 4),
        unit(1, TOP, 2),
        unit(3, &below, 3),
        ContentChange::EndRefresh,
        reached(4),
    ]);
    copy.apply(&[unit(2, &b, 5), reached(5)]);
    let mut changed = unit(2, &b, 6);
    if let ContentChange::Entry(entry) = &mut changed {
        entry.attributes.push(attribute("description", &["x"]));
    }
    copy.apply(&[changed.clone(), reached(6)]);
    copy.apply(&[changed, reached(6)]);
    let deletion = ContentChange::Delete {
        uuid: [2; 16],
        csn: Some(csn(7)),
        ends: None,
    };
    copy.apply(&[deletion, reached(7)]);
    // Nobody tells the number of this deletion. Consumers have to find it all the same.
    copy.apply(&[delete(3)]);
    let late = csn(7).replace("#000000#001#000000", "#000000#001#000001");
    assert_eq!(
        records(&copy),
        [
            (Add, csn(4), 2, true),
            (Add, csn(2), 1, true),
            (Add, csn(3), 3, true),
            (Rename, csn(5), 2, false),
            (Modify, csn(6), 2, false),
            (Delete, csn(7), 2, false),
            (Delete, late, 3, true),
        ],
        "neither glue nor unchanged entries have records"
    );
    let view = copy.world.store.snapshot().unwrap();
    let tombstone = view.tombstone([2; 16]).unwrap().expect("a memory");
    assert_eq!((tombstone.csn.text(), tombstone.dn), (csn(7), &*b));
    let record = view.change(5).unwrap().unwrap();
    let operations = record.operations().unwrap();
    let names: Vec<&str> = operations.iter().map(|one| one.attribute).collect();
    assert_eq!(names, ["entryCSN", "description"]);
    let report = fulgurite_store::verify(&copy.world.store.snapshot().unwrap()).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

#[test]
fn the_state_is_the_vector_and_is_shown() {
    let mut copy = Copy::plain();
    copy.apply(&[unit(1, TOP, 1), reached(3)]);
    let entry = copy.world.read(TOP, &["contextCSN"]);
    assert_eq!(entry.get("contextCSN"), [csn(3)]);
    let view = copy.world.store.snapshot().unwrap();
    let vector = view.changes().unwrap().vector;
    assert_eq!(
        vector.iter().map(|csn| csn.text()).collect::<Vec<_>>(),
        [csn(3)]
    );
    let top = view.children(fulgurite_store::EntryId::ROOT).unwrap()[0];
    let stored = view.entry(top).unwrap().unwrap().to_entry().unwrap();
    let context = copy
        .world
        .directory
        .schema()
        .describe(b"contextCSN")
        .unwrap();
    assert_eq!(stored.attribute(&context), None, "no entry has it");
}

#[test]
fn a_state_from_before_a_deletion_is_dropped() {
    let mut copy = Copy::new(|_| {}, true);
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    let deletion = |uuid, number| ContentChange::Delete {
        uuid: [uuid; 16],
        csn: Some(csn(number)),
        ends: None,
    };
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), reached(2)]);
    // The first has been here, the second has not.
    copy.apply(&[deletion(2, 8), deletion(3, 9)]);
    copy.apply(&[unit(2, &a, 7), unit(3, &b, 9)]);
    assert_eq!(copy.names(), [TOP], "the deletions are later");
    copy.apply(&[unit(2, &a, 10), unit(3, &b, 10), reached(10)]);
    assert_eq!(copy.names(), [TOP, &a, &b], "the changes are later");
    // A deletion by a client here is one, too.
    assert!(copy.world.delete(&copy.world.root(), &a).is_success());
    copy.apply(&[unit(2, &a, 11)]);
    assert_eq!(copy.names(), [TOP, &b]);
}

#[test]
fn an_entry_that_left_a_content_may_come_again() {
    let mut copy = Copy::new(|_| {}, true);
    let other = Syncrepl::new(2, "ldap://i", TOP);
    let options = ContentOptions {
        settings: &other,
        multi_provider: true,
    };
    let other = CopiedContent::new(copy.world.directory.schema(), options).expect("settings");
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), unit(3, &b, 9), reached(9)]);
    // A rearrangement takes entries away without a number, and sends them again.
    copy.apply(&[delete(2), delete(3), unit(3, &b, 9)]);
    assert_eq!(copy.names(), [TOP, &b], "in one batch");
    // Another provider may not know yet that the entry is gone.
    let own = std::mem::replace(&mut copy.content, other);
    copy.apply(&[unit(2, &a, 2)]);
    assert_eq!(copy.names(), [TOP, &b], "of another provider");
    copy.content = own;
    copy.apply(&[unit(2, &format!("ou=c,{TOP}"), 2)]);
    assert_eq!(copy.names(), [TOP, &b, &format!("ou=c,{TOP}")]);
    // A deletion with a number is one, whatever came before.
    let deletion = ContentChange::Delete {
        uuid: [2; 16],
        csn: Some(csn(10)),
        ends: None,
    };
    copy.apply(&[deletion, reached(10), delete(2), unit(2, &a, 2)]);
    assert_eq!(copy.names(), [TOP, &b]);
}

#[test]
fn changes_of_clients_move_the_number_of_this_server_alone() {
    let mut copy = Copy::new(|_| {}, true);
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    let new = format!("ou=new,{TOP}");
    let attributes = [("objectClass", "organizationalUnit"), ("ou", "new")];
    let added = copy.world.add(&copy.world.root(), &new, &attributes);
    assert!(added.is_success(), "{added:?}");
    let own = copy.world.read(&new, &["entryCSN"]).get("entryCSN")[0].to_owned();
    assert!(own.contains("#002#"), "{own}");
    assert_eq!(copy.state(), [csn(1), own]);
    // A number of ours that another server still knows is not given again.
    let ahead = "20260103000000.000000Z#000000#002#000000".to_owned();
    let told = |csn: &str| ContentChange::Reached {
        csns: vec![csn.to_owned()],
        replaces: false,
    };
    copy.apply(&[told(&ahead)]);
    assert_eq!(copy.state(), [csn(1), ahead.clone()]);
    // One that it cannot have given is passed over.
    let impossible = "20260201000000.000000Z#000000#002#000000".to_owned();
    copy.apply(&[told(&impossible)]);
    assert_eq!(copy.state(), [csn(1), ahead.clone()]);
    assert!(copy.world.delete(&copy.world.root(), &new).is_success());
    let state = copy.state();
    assert!(state[0] == csn(1) && state[1] > ahead, "{state:?}");
    assert!(state[1] < impossible, "{state:?}");
}
