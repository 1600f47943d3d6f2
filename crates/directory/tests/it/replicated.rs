//! Changes of a copied content: names, glue, deletions, the quarantine, and what stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fulgurite_directory::{ContentOptions, CopiedContent, DirectoryOptions, OverlaySettings};
use fulgurite_ldap::{
    ContentAttribute, ContentChange, ContentEntry, LoggedKind, LoggedOperation, ModifyOperation,
    ResultCode,
};
use fulgurite_policy::{Origin, Syncrepl};
use fulgurite_schema::{Builtin, SchemaBuilder};
use fulgurite_store::{ChangeKind, StoreOptions};

use crate::accesslog;
use crate::support::{TOP, World};

pub(crate) fn csn(number: u32) -> String {
    format!("20260101000000.{number:06}Z#000000#001#000000")
}

/// An empty database that is a copy and a provider.
pub(crate) struct Copy {
    pub(crate) world: World,
    pub(crate) content: CopiedContent,
    settings: Syncrepl,
}

impl Copy {
    pub(crate) fn new(adjust: impl FnOnce(&mut Syncrepl), multi_provider: bool) -> Copy {
        Copy::with_store(adjust, multi_provider, |_| {})
    }

    /// Makes one with options of its store.
    pub(crate) fn with_store(
        adjust: impl FnOnce(&mut Syncrepl),
        multi_provider: bool,
        options: impl FnOnce(&mut StoreOptions),
    ) -> Copy {
        let mut settings = Syncrepl::new(1, "ldap://h", TOP);
        adjust(&mut settings);
        let schema = SchemaBuilder::standard().builtin(Builtin::PasswordPolicy);
        let nothing = |_: &mut DirectoryOptions| {};
        Copy::made(settings, multi_provider, (schema, nothing), options)
    }

    /// Makes one among several providers, whose log of changes is shown.
    pub(crate) fn logging() -> Copy {
        let settings = Syncrepl::new(1, "ldap://h", TOP);
        let schema = SchemaBuilder::standard().builtin(Builtin::AccessLog);
        Copy::made(settings, true, (schema, accesslog::logging), |_| {})
    }

    fn made(
        settings: Syncrepl,
        multi_provider: bool,
        (schema, more): (SchemaBuilder, impl FnOnce(&mut DirectoryOptions)),
        options: impl FnOnce(&mut StoreOptions),
    ) -> Copy {
        let schema = Arc::new(schema.build().expect("the built-in schema resolves"));
        let adjust = |options: &mut DirectoryOptions| {
            options.server_id = 2;
            more(options);
            let overlay = OverlaySettings::new("syncprov", Origin::Default);
            options.databases[0].overlays.push(overlay);
            let replication = &mut options.databases[0].replication;
            replication.consumers = vec![settings.clone()];
            replication.multi_provider = multi_provider;
        };
        let world = World::empty_with_schema(schema, adjust, options);
        let options = ContentOptions {
            settings: &settings,
            multi_provider,
        };
        let content = CopiedContent::new(world.directory.schema(), options);
        Copy {
            content: content.expect("sound settings"),
            settings,
            world,
        }
    }

    pub(crate) fn plain() -> Copy {
        Copy::new(|_| {}, false)
    }

    #[track_caller]
    pub(crate) fn apply(
        &mut self,
        changes: &[ContentChange],
    ) -> fulgurite_directory::ContentReport {
        let store = self.world.store.path().to_owned();
        let applied = self
            .world
            .directory
            .apply_content(&store, &mut self.content, changes);
        applied.expect("a sound store")
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.world.names("(objectClass=*)")
    }

    pub(crate) fn state(&self) -> Vec<String> {
        let database = &self.world.directory.databases()[0];
        database.content_state().expect("a sound store")
    }
}

/// Returns the records of the log: kind, number of the change, entry, and if it is unordered.
pub(crate) fn records(copy: &Copy) -> Vec<(ChangeKind, String, u8, bool)> {
    let view = copy.world.store.snapshot().expect("a snapshot");
    let newest = view.changes().expect("a log").newest;
    let records = (1..=newest).filter_map(|position| view.change(position).expect("a log"));
    let records = records.map(|record| {
        let csn = record.csn.text();
        (record.kind, csn, record.uuid[0], record.is_unordered)
    });
    records.collect()
}

pub(crate) fn attribute(name: &str, values: &[&str]) -> ContentAttribute {
    ContentAttribute {
        description: name.to_owned(),
        values: values
            .iter()
            .map(|value| value.as_bytes().to_vec())
            .collect(),
    }
}

pub(crate) fn unit(uuid: u8, dn: &str, number: u32) -> ContentChange {
    let rdn = dn.split(',').next().expect("a name");
    let (name, value) = rdn.split_once('=').expect("an RDN");
    let (class, name) = match name {
        "dc" => ("domain", "dc"),
        _ => ("organizationalUnit", "ou"),
    };
    ContentChange::Entry(ContentEntry {
        uuid: [uuid; 16],
        dn: dn.to_owned(),
        attributes: vec![
            attribute("objectClass", &["top", class]),
            attribute("structuralObjectClass", &[class]),
            attribute(name, &[value]),
            attribute("entryCSN", &[&csn(number)]),
            attribute("hasSubordinates", &["TRUE"]),
        ],
        place: None,
        stamps: None,
    })
}

pub(crate) fn delete(uuid: u8) -> ContentChange {
    ContentChange::Delete {
        uuid: [uuid; 16],
        csn: None,
        ends: None,
    }
}

pub(crate) fn reached(number: u32) -> ContentChange {
    ContentChange::Reached {
        csns: vec![csn(number)],
        replaces: false,
    }
}

fn drop_unnamed() -> ContentChange {
    ContentChange::DropUnnamed {
        state: vec![csn(99)],
    }
}

#[test]
fn entries_come_change_and_go_with_the_state() {
    let mut copy = Copy::plain();
    let a = format!("ou=a,{TOP}");
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), reached(2)]);
    assert_eq!(copy.names(), [TOP, &a]);
    assert_eq!(copy.state(), [csn(2)]);
    let entry = copy.world.read(&a, &["*", "+"]);
    assert_eq!(
        entry.get("entryUUID"),
        ["02020202-0202-0202-0202-020202020202"]
    );
    assert_eq!(entry.get("entryCSN"), [csn(2)]);
    assert_eq!(
        entry.get("hasSubordinates"),
        ["FALSE"],
        "it is computed here"
    );
    let b = format!("ou=b,{TOP}");
    copy.apply(&[unit(2, &b, 3), reached(3)]);
    assert_eq!(copy.names(), [TOP, &b]);
    assert_eq!(copy.world.read(&b, &["ou"]).get("ou"), ["b"]);
    copy.apply(&[delete(2), delete(9), reached(4)]);
    assert_eq!(copy.names(), [TOP]);
    assert_eq!(copy.state(), [csn(4)]);
    // An older state does not take the place of a newer one, except on purpose.
    copy.apply(&[reached(1)]);
    assert_eq!(copy.state(), [csn(4)]);
    let csns = vec![csn(1)];
    let replaces = true;
    copy.apply(&[ContentChange::Reached { csns, replaces }]);
    assert_eq!(copy.state(), [csn(1)]);
}

#[test]
fn the_state_stays_when_its_entry_changes() {
    let mut copy = Copy::plain();
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    copy.apply(&[unit(1, TOP, 2)]);
    assert_eq!(copy.state(), [csn(1)]);
}

#[test]
fn missing_parents_are_glue_until_they_come() {
    let mut copy = Copy::plain();
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,ou=a,{TOP}"));
    copy.apply(&[unit(3, &b, 3), reached(3)]);
    assert_eq!(copy.names(), [&*b], "glue is not shown");
    assert_eq!(copy.state(), [csn(3)], "it has the state all the same");
    copy.apply(&[unit(2, &a, 2), unit(1, TOP, 1)]);
    assert_eq!(copy.names(), [TOP, &a, &b]);
    assert_eq!(copy.state(), [csn(3)]);
    // In a refresh a parent may go before its child, and is glue until the child goes or moves.
    copy.apply(&[ContentChange::BeginRefresh, delete(2)]);
    assert_eq!(copy.names(), [TOP, &b]);
    let moved = format!("ou=b,{TOP}");
    copy.apply(&[unit(3, &moved, 4), ContentChange::EndRefresh]);
    assert_eq!(copy.names(), [TOP, &moved]);
    assert_eq!(
        copy.world.store.snapshot().unwrap().entry_count().unwrap(),
        2
    );
}

#[test]
fn a_child_may_come_before_the_new_name_of_its_parent() {
    let mut copy = Copy::plain();
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    let old = format!("ou=c,{a}");
    copy.apply(&[
        unit(1, TOP, 1),
        unit(2, &a, 2),
        unit(3, &old, 3),
        unit(4, &b, 4),
    ]);
    // ou=a is ou=new now, and ou=b has moved below it.
    let new = format!("ou=new,{TOP}");
    let (moved, kept) = (format!("ou=b,{new}"), format!("ou=c,{new}"));
    copy.apply(&[
        ContentChange::BeginRefresh,
        unit(4, &moved, 6),
        unit(2, &new, 5),
        ContentChange::EndRefresh,
    ]);
    assert_eq!(copy.names(), [TOP, &moved, &kept, &new]);
    // Parent and child change places: the child comes out first, at the provider.
    let (out, below) = (format!("ou=b,{TOP}"), format!("ou=new,ou=b,{TOP}"));
    copy.apply(&[
        ContentChange::BeginRefresh,
        unit(2, &below, 8),
        unit(4, &out, 7),
        ContentChange::EndRefresh,
    ]);
    assert_eq!(copy.names(), [TOP, &out, &*format!("ou=c,{below}"), &below]);
    let view = copy.world.store.snapshot().unwrap();
    assert_eq!(view.entry_count().unwrap(), 4);
}

#[test]
fn what_leaves_with_its_parent_goes() {
    let mut copy = Copy::plain();
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,ou=a,{TOP}"));
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), unit(3, &b, 3)]);
    // slapd tells of the renamed parent only.
    copy.apply(&[delete(2)]);
    assert_eq!(copy.names(), [TOP]);
    copy.apply(&[unit(2, &a, 2), unit(3, &b, 3)]);
    copy.apply(&[
        ContentChange::BeginRefresh,
        delete(2),
        ContentChange::EndRefresh,
    ]);
    assert_eq!(copy.names(), [TOP]);
    assert_eq!(
        copy.world.store.snapshot().unwrap().entry_count().unwrap(),
        1
    );
    // Where only some entries are copied, a child may stay without its parent.
    let some = |settings: &mut Syncrepl| settings.filter = "(ou=*)".to_owned();
    let mut copy = Copy::new(some, false);
    copy.apply(&[unit(2, &a, 2), unit(3, &b, 3), delete(2)]);
    assert_eq!(copy.names(), [&*b]);
}

#[test]
fn names_can_be_swapped_with_what_is_below() {
    let mut copy = Copy::plain();
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    let below = format!("ou=c,{a}");
    copy.apply(&[
        unit(1, TOP, 1),
        unit(2, &a, 2),
        unit(3, &b, 3),
        unit(4, &below, 4),
    ]);
    copy.apply(&[
        ContentChange::BeginRefresh,
        unit(3, &a, 5),
        unit(2, &b, 6),
        ContentChange::EndRefresh,
    ]);
    let moved = format!("ou=c,{b}");
    assert_eq!(copy.names(), [TOP, &a, &b, &moved]);
    assert_eq!(
        copy.world.read(&b, &["entryUUID"]).get("entryUUID")[0][..2],
        *"02"
    );
    // A holder that never gets another name is gone at the end of the refresh.
    copy.apply(&[
        ContentChange::BeginRefresh,
        unit(5, &a, 7),
        ContentChange::EndRefresh,
    ]);
    assert_eq!(copy.names(), [TOP, &a, &b, &moved]);
    assert_eq!(
        copy.world.read(&a, &["entryUUID"]).get("entryUUID")[0][..2],
        *"05"
    );
    assert_eq!(
        copy.world.store.snapshot().unwrap().entry_count().unwrap(),
        4
    );
}

#[test]
fn the_top_entry_can_be_another_one() {
    let mut copy = Copy::plain();
    let a = format!("ou=a,{TOP}");
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2)]);
    copy.apply(&[ContentChange::BeginRefresh, unit(3, TOP, 3), unit(2, &a, 2)]);
    copy.apply(&[drop_unnamed(), ContentChange::EndRefresh]);
    assert_eq!(copy.names(), [TOP, &a]);
    let top = copy.world.read(TOP, &["entryUUID"]);
    assert_eq!(top.get("entryUUID")[0][..2], *"03");
}

#[test]
fn what_a_refresh_does_not_name_is_dropped() {
    let mut copy = Copy::plain();
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    let (c, d) = (format!("ou=c,{a}"), format!("ou=d,{b}"));
    copy.apply(&[
        unit(1, TOP, 1),
        unit(2, &a, 2),
        unit(3, &b, 3),
        unit(4, &c, 4),
        unit(5, &d, 5),
    ]);
    // The parts of a refresh may be in several batches.
    copy.apply(&[
        ContentChange::BeginRefresh,
        ContentChange::Present(vec![[1; 16], [5; 16]]),
    ]);
    copy.apply(&[
        unit(6, &format!("ou=e,{TOP}"), 6),
        drop_unnamed(),
        ContentChange::EndRefresh,
    ]);
    assert_eq!(copy.names(), [TOP, &d, &*format!("ou=e,{TOP}")]);
}

#[test]
fn a_dropped_transaction_leaves_nothing_behind() {
    let a = format!("ou=a,{TOP}");
    let full = |options: &mut StoreOptions| options.map_bytes_max = Some(2 << 20);
    let mut copy = Copy::with_store(|_| {}, false, full);
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), reached(2)]);
    // The name goes to another entry, but the file has no room for what follows.
    let mut changes = vec![ContentChange::BeginRefresh, unit(3, &a, 3)];
    for number in 4..200 {
        let mut large = unit(number, &format!("ou=n{number},{TOP}"), 4);
        if let ContentChange::Entry(entry) = &mut large {
            let text = "x".repeat(40_000);
            entry.attributes.push(attribute("description", &[&text]));
        }
        changes.push(large);
    }
    let store = copy.world.store.path().to_owned();
    let directory = &copy.world.directory;
    let failed = directory.apply_content(&store, &mut copy.content, &changes);
    assert!(failed.is_err(), "{failed:?}");
    // Meanwhile the provider has deleted the newcomer.
    let nothing = [
        ContentChange::BeginRefresh,
        ContentChange::EndRefresh,
        reached(5),
    ];
    copy.apply(&nothing);
    assert_eq!(copy.names(), [TOP.to_owned(), a]);
}

#[test]
fn an_entry_that_cannot_be_stored_waits() {
    let mut copy = Copy::new(|settings| settings.schema_checking = true, false);
    let a = format!("ou=a,{TOP}");
    let mut wrong = unit(2, &a, 2);
    if let ContentChange::Entry(entry) = &mut wrong {
        entry.attributes.push(attribute("noSuchType", &["x"]));
    }
    let mut other = unit(3, &format!("ou=b,{TOP}"), 3);
    if let ContentChange::Entry(entry) = &mut other {
        entry.attributes.push(attribute("sn", &["x"]));
    }
    let outside = unit(4, "dc=elsewhere", 4);
    let c = format!("ou=c,{TOP}");
    let report = copy.apply(&[
        unit(1, TOP, 1),
        wrong,
        other,
        outside,
        unit(5, &c, 5),
        reached(5),
    ]);
    assert_eq!(
        (report.quarantined, report.warnings.len()),
        (3, 3),
        "{report:?}"
    );
    assert_eq!(copy.names(), [TOP, &c], "the others go on");
    assert_eq!(copy.state(), [csn(5)]);
    let database = &copy.world.directory.databases()[0];
    let waiting = database.quarantined().expect("a sound store");
    let reasons: Vec<&str> = waiting.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(waiting.len(), 3);
    assert!(reasons[0].contains("noSuchType"), "{reasons:?}");
    assert!(reasons[1].contains("sn"), "{reasons:?}");
    assert!(reasons[2].contains("outside"), "{reasons:?}");
    // A newer state, or a deletion, ends the wait.
    copy.apply(&[unit(2, &a, 6), delete(3), delete(4)]);
    assert_eq!(copy.names(), [TOP, &a, &c]);
    let database = &copy.world.directory.databases()[0];
    assert!(database.quarantined().expect("a sound store").is_empty());
}

#[test]
fn a_refused_entry_leaves_no_trace_but_its_row() {
    let mut copy = Copy::new(|settings| settings.schema_checking = true, false);
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), reached(2)]);
    let before = records(&copy);
    // It takes the name of another entry, and only then the schema refuses it.
    let mut wrong = unit(3, &a, 3);
    if let ContentChange::Entry(entry) = &mut wrong {
        entry.attributes.push(attribute("sn", &["x"]));
    }
    let below = unit(5, &format!("ou=x,ou=glue,{TOP}"), 5);
    for way in [&[][..], &[unit(4, &b, 4)], &[unit(4, &b, 4), below]] {
        let mut copy = Copy::new(|settings| settings.schema_checking = true, false);
        copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), reached(2)]);
        let mut changes = way.to_vec();
        changes.push(wrong.clone());
        changes.push(unit(6, &format!("ou=c,{TOP}"), 6));
        changes.push(reached(6));
        let report = copy.apply(&changes);
        let stored = way.len() as u64 + 2;
        assert_eq!(
            (report.applied, report.quarantined),
            (stored, 1),
            "{report:?}"
        );
        assert_eq!(report.warnings.len(), 1, "{report:?}");
        assert_eq!(copy.world.read(&a, &["entryCSN"]).get("entryCSN"), [csn(2)]);
        let records = records(&copy);
        assert_eq!(records[..before.len()], before);
        let moved = records[before.len()..].iter();
        assert!(moved.clone().all(|record| record.2 != 2), "{records:?}");
        // The end of a refresh drops entries that have given their name away.
        copy.apply(&[ContentChange::EndRefresh]);
        assert!(copy.names().contains(&a), "{:?}", copy.names());
        let view = copy.world.store.snapshot().expect("a snapshot");
        let report = fulgurite_store::verify(&view).expect("a sound store");
        assert!(report.is_clean(), "{report:?}");
    }
}

#[test]
fn names_move_with_their_base() {
    let adjust = |settings: &mut Syncrepl| {
        settings.search_base = "dc=other,dc=org".to_owned();
        settings.suffix_massage = Some(TOP.to_owned());
        settings.excluded = vec!["description".to_owned()];
    };
    let mut copy = Copy::new(adjust, false);
    let mut top = unit(1, "dc=other,dc=org", 1);
    if let ContentChange::Entry(entry) = &mut top {
        let within = "ou=a,dc=other,dc=org";
        entry
            .attributes
            .push(attribute("seeAlso", &[within, "dc=elsewhere"]));
        entry
            .attributes
            .push(attribute("description", &["not copied"]));
    }
    copy.apply(&[top, unit(2, "ou=a,dc=other,dc=org", 2)]);
    let a = format!("ou=a,{TOP}");
    assert_eq!(copy.names(), [TOP, &a]);
    let entry = copy.world.read(TOP, &["*"]);
    assert_eq!(entry.get("seeAlso"), [&a, "dc=elsewhere"]);
    assert_eq!(
        (entry.get("dc"), entry.get("description").len()),
        (vec!["other"], 0)
    );
}

#[test]
fn attributes_that_are_not_copied_stay() {
    let mut copy = Copy::plain();
    let mut top = unit(1, TOP, 1);
    if let ContentChange::Entry(entry) = &mut top {
        entry.attributes.push(attribute("description", &["ours"]));
    }
    copy.apply(&[top]);
    copy.settings.excluded = vec!["description".to_owned()];
    let options = ContentOptions {
        settings: &copy.settings,
        multi_provider: false,
    };
    let schema = copy.world.directory.schema();
    copy.content = CopiedContent::new(schema, options).expect("sound settings");
    copy.apply(&[unit(1, TOP, 2)]);
    let entry = copy.world.read(TOP, &["*", "+"]);
    assert_eq!(
        (entry.get("description"), entry.get("entryCSN")),
        (vec!["ours"], vec![&*csn(2)])
    );
}

#[test]
fn logged_operations_are_done_or_the_copy_is_read_again() {
    let mut copy = Copy::plain();
    let a = format!("ou=a,{TOP}");
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2)]);
    let operation = |dn: &str, number, kind| {
        ContentChange::Operation(LoggedOperation {
            uuid: None,
            dn: dn.to_owned(),
            csn: csn(number),
            kind,
        })
    };
    let stamp = |number| {
        (
            ModifyOperation::Replace,
            attribute("entryCSN", &[&csn(number)]),
        )
    };
    let add = |value: &str| (ModifyOperation::Add, attribute("description", &[value]));
    let report = copy.apply(&[
        operation(&a, 3, LoggedKind::Modify(vec![add("x"), stamp(3)])),
        operation(
            &a,
            4,
            LoggedKind::Rename {
                new_rdn: "ou=b".to_owned(),
                delete_old_rdn: true,
                new_superior: None,
                changes: vec![stamp(4)],
            },
        ),
        reached(4),
    ]);
    assert_eq!(report.lost_sync, None);
    let b = format!("ou=b,{TOP}");
    let entry = copy.world.read(&b, &["*", "+"]);
    assert_eq!(
        (entry.get("ou"), entry.get("description")),
        (vec!["b"], vec!["x"])
    );
    assert_eq!(entry.get("entryCSN"), [csn(4)]);
    let report = copy.apply(&[
        operation(&b, 5, LoggedKind::Modify(vec![add("x"), stamp(5)])),
        reached(5),
    ]);
    assert!(report.lost_sync.is_some(), "the value is there already");
    assert_eq!(copy.state(), [csn(4)], "nothing behind it is stored");
    copy.apply(&[operation(&b, 6, LoggedKind::Delete)]);
    assert_eq!(copy.names(), [TOP]);
}

#[test]
fn clients_get_the_referral_of_the_copy() {
    let mut world = World::new();
    let consumer = Syncrepl::new(1, "ldap://h", TOP);
    let with = |urls: &[&str]| {
        let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
        let consumer = consumer.clone();
        move |options: &mut fulgurite_directory::DirectoryOptions| {
            options.databases[0].replication.consumers = vec![consumer];
            options.databases[0].replication.update_refs = urls;
        }
    };
    world.reopen(with(&["ldap://one", "ldap://two:3890"]));
    let refused = world.delete(&world.root(), &format!("ou=none,{TOP}"));
    assert_eq!(refused.code, ResultCode::Referral);
    let target = format!("ou=none,{TOP}");
    let urls = [
        format!("ldap://one/{target}"),
        format!("ldap://two:3890/{target}"),
    ];
    assert_eq!(refused.referrals, urls);
    world.reopen(with(&[]));
    let refused = world.delete(&world.root(), TOP);
    assert_eq!(
        (refused.code, refused.diagnostic.as_str()),
        (
            ResultCode::UnwillingToPerform,
            "shadow context; no update referral"
        )
    );
}

#[test]
fn a_commit_of_a_copy_wakes_listeners() {
    let mut copy = Copy::plain();
    let woken = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&woken);
    copy.world.directory.on_change(Box::new(move || {
        seen.fetch_add(1, Ordering::SeqCst);
    }));
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    assert_eq!(woken.load(Ordering::SeqCst), 0, "nobody waits");
    crate::sync_consumer::while_a_search_waits(&copy.world, || {
        let store = copy.world.store.path().to_owned();
        let changes = [unit(2, &format!("ou=a,{TOP}"), 2), reached(2)];
        let applied = copy
            .world
            .directory
            .apply_content(&store, &mut copy.content, &changes);
        applied.expect("a sound store");
    });
    assert_eq!(woken.load(Ordering::SeqCst), 1);
}

/// The state of a user at the provider: its number, its password, its title and the time of a bind.
fn user(number: u32, password: &str, title: &str, last: &str) -> ContentChange {
    ContentChange::Entry(ContentEntry {
        uuid: [2; 16],
        dn: format!("ou=a,{TOP}"),
        attributes: vec![
            attribute("objectClass", &["organizationalUnit"]),
            attribute("structuralObjectClass", &["organizationalUnit"]),
            attribute("ou", &["a"]),
            attribute("entryCSN", &[&csn(number)]),
            attribute("userPassword", &[password]),
            attribute("description", &[title]),
            attribute("pwdLastSuccess", &[last]),
        ],
        place: None,
        stamps: None,
    })
}

#[test]
fn a_copy_keeps_what_its_own_binds_have_changed() {
    let mut copy = Copy::plain();
    let name = format!("ou=a,{TOP}");
    let day = |day: u32| format!("202601{day:02}000000Z");
    let bind = |copy: &Copy, value: &str| {
        let world = &copy.world;
        world.change_bind_state(&name, "pwdLastSuccess", value);
    };
    let last = |copy: &Copy| {
        let read = copy.world.read(&name, &["pwdLastSuccess", "description"]);
        let text = |name: &str| read.get(name).join(" ");
        (text("pwdLastSuccess"), text("description"))
    };
    let seen = |day: String, title: &str| (day, title.to_owned());
    copy.apply(&[unit(1, TOP, 1), user(2, "x", "one", &day(1))]);
    assert_eq!(last(&copy), seen(day(1), "one"));
    bind(&copy, &day(5));
    let locked = "pwdAccountLockedTime";
    copy.world.change_bind_state(&name, locked, &day(5));
    let is_locked = |copy: &Copy| !copy.world.read(&name, &[locked]).get(locked).is_empty();
    let log = records(&copy).len();
    // The same state once more changes nothing, and another change of the entry keeps the time.
    copy.apply(&[user(2, "x", "one", &day(1))]);
    assert_eq!(records(&copy).len(), log);
    assert!(is_locked(&copy));
    copy.apply(&[user(3, "x", "two", &day(1))]);
    assert_eq!(last(&copy), seen(day(5), "two"));
    assert!(!is_locked(&copy), "any change ends a lock");
    copy.apply(&[user(4, "x", "three", &day(3))]);
    assert_eq!(
        last(&copy),
        seen(day(3), "three"),
        "the provider changed it"
    );
    bind(&copy, &day(6));
    copy.apply(&[user(5, "y", "three", &day(3))]);
    assert_eq!(last(&copy), seen(day(3), "three"), "a new password ends it");
    // A logged deletion fits, whatever binds have made of the attribute here.
    bind(&copy, &day(7));
    for number in [6, 7] {
        let deletion = (ModifyOperation::Delete, attribute("pwdLastSuccess", &[]));
        let stamp = attribute("entryCSN", &[&csn(number)]);
        let stamp = (ModifyOperation::Replace, stamp);
        let report = copy.apply(&[ContentChange::Operation(LoggedOperation {
            uuid: None,
            dn: name.clone(),
            csn: csn(number),
            kind: LoggedKind::Modify(vec![deletion, stamp]),
        })]);
        assert_eq!(report.lost_sync, None);
        assert_eq!(last(&copy), seen(String::new(), "three"));
    }
}

#[test]
fn failures_at_the_provider_and_at_the_copy_count_together() {
    let mut copy = Copy::plain();
    let name = format!("ou=a,{TOP}");
    let time = |second: u32| format!("202601010000{second:02}Z");
    let failures = |number: u32, times: &[&str]| {
        let mut state = user(number, "x", "one", &time(0));
        if let ContentChange::Entry(entry) = &mut state {
            entry.attributes.push(attribute("pwdFailureTime", times));
        }
        state
    };
    let seen = |copy: &Copy| {
        let read = copy.world.read(&name, &["pwdFailureTime"]);
        let values = read.get("pwdFailureTime");
        let mut values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
        values.sort();
        values
    };
    copy.apply(&[unit(1, TOP, 1), failures(2, &[&time(1)])]);
    copy.world
        .change_bind_values(&name, "pwdFailureTime", &[&time(1), &time(3)]);
    copy.apply(&[failures(3, &[&time(1), &time(2)])]);
    assert_eq!(seen(&copy), [time(1), time(2), time(3)]);
    // The failure here is known there now, and another one is not.
    copy.apply(&[failures(4, &[&time(1), &time(2), &time(3), &time(4)])]);
    assert_eq!(seen(&copy), [time(1), time(2), time(3), time(4)]);
    // A success there begins anew.
    copy.world.change_bind_values(
        &name,
        "pwdFailureTime",
        &[&time(1), &time(2), &time(3), &time(4), &time(5)],
    );
    copy.apply(&[user(5, "x", "two", &time(0))]);
    assert_eq!(seen(&copy), [""; 0]);
}
