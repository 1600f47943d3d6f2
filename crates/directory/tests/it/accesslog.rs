//! The overlay `accesslog`: the log of changes as entries. Values are slapd's.

use std::sync::Arc;

use ModifyOperation::{Add, Delete, Replace};
use fulgurite_directory::{
    AccessLogOptions, DatabaseOptions, Directory, DirectoryOptions, Quantum, RuleText, Session,
};
use fulgurite_ldap::control::ReadEntry;
use fulgurite_ldap::{Control, LdapResult, ModifyOperation, ResultCode, Scope, oid};
use fulgurite_schema::{Builtin, SchemaBuilder};
use fulgurite_store::LogPurged;

use crate::controls::with;
use crate::guards::overlay;
use crate::support::{
    Asked, EntryText, JANE, PEOPLE, TOP, World, asked, modify_pdu, write_request,
};

const LOG: &str = "cn=log";

pub(crate) fn logging(options: &mut DirectoryOptions) {
    let lines = ["logdb cn=log", "logops writes", "logsuccess TRUE"];
    options.databases[0].overlays = vec![overlay("accesslog", &lines)];
    options.access_logs = vec![AccessLogOptions::new(LOG)];
}

/// Returns the example, whose log is shown from its first entry on.
fn world() -> World {
    world_with(logging)
}

pub(crate) fn world_with(adjust: impl FnOnce(&mut DirectoryOptions)) -> World {
    let schema = SchemaBuilder::standard().builtin(Builtin::AccessLog);
    let schema = Arc::new(schema.build().expect("the built-in schema resolves"));
    let world = World::empty_with_schema(schema, adjust, |_| {});
    world.load_example();
    world
}

pub(crate) fn assert_ok(result: &LdapResult) {
    assert_eq!(*result, LdapResult::success());
}

/// Returns the entries that a search of the log finds.
fn found(world: &World, asked: &Asked) -> Vec<EntryText> {
    let found = world.search(&world.root(), asked);
    assert_ok(&found.result);
    found.entries
}

/// Returns the records that match a filter.
pub(crate) fn records(world: &World, filter: &str) -> Vec<EntryText> {
    found(world, &asked(LOG, Scope::One, filter, &["*", "+"]))
}

/// Returns the newest record.
fn newest(world: &World) -> EntryText {
    let mut records = records(world, "(objectClass=auditObject)");
    records.pop().expect("a record")
}

#[test]
fn each_update_is_an_entry_with_slapds_values() {
    let world = world();
    let before = records(&world, "(reqType=add)").len();
    assert_eq!(before, records(&world, "(objectClass=*)").len());
    let changes: [(ModifyOperation, &str, &[&str]); 5] = [
        (Add, "description", &["one", "two  x"]),
        (Add, "description", &["three"]),
        (Replace, "title", &["q"]),
        (Delete, "title", &[]),
        (Replace, "l", &[]),
    ];
    assert_ok(&world.modify(&world.root(), JANE, &changes));
    let entry = newest(&world);
    let stored = world.read(JANE, &["*", "+"]);
    assert_eq!(entry.get("objectClass"), ["auditModify"]);
    assert_eq!(entry.get("structuralObjectClass"), ["auditModify"]);
    assert_eq!(entry.get("reqType"), ["modify"]);
    assert_eq!(entry.get("reqDN"), [JANE]);
    assert_eq!(entry.get("reqResult"), ["0"]);
    assert_eq!(entry.get("reqEntryUUID"), stored.get("entryUUID"));
    assert_eq!(entry.get("entryCSN"), stored.get("entryCSN"));
    assert_eq!(entry.get("reqAuthzID"), stored.get("modifiersName"));
    let stamps = ["entryCSN", "modifiersName", "modifyTimestamp"];
    let stamps = stamps.map(|name| format!("{name}:= {}", stored.get(name)[0]));
    let mut expected = vec![
        "description:+ one",
        "description:+ two  x",
        ":",
        "description:+ three",
        "title:= q",
        "title:-",
        "l:=",
    ];
    expected.extend(stamps.iter().map(String::as_str));
    assert_eq!(entry.get("reqMod"), expected);
    let (start, end) = (entry.get("reqStart")[0], entry.get("reqEnd")[0]);
    assert!(start < end, "{start} {end}");
    assert_eq!(entry.dn, format!("reqStart={start},cn=log"));
    assert_ne!(entry.get("entryUUID"), stored.get("entryUUID"));
}

#[test]
fn additions_renames_and_deletions_have_their_classes() {
    let world = world();
    let root = world.root();
    let unit = [("objectClass", "organizationalUnit"), ("ou", "new")];
    let (new, newer) = (format!("ou=new,{PEOPLE}"), format!("ou=newer,{TOP}"));
    assert_ok(&world.add(&root, &new, &unit));
    let entry = newest(&world);
    assert_eq!(entry.get("objectClass"), ["auditAdd"]);
    let stored = world.read(&new, &["*", "+"]);
    let mods = entry.get("reqMod");
    assert_eq!(mods[..2], ["objectClass:+ organizationalUnit", "ou:+ new"]);
    for name in ["entryUUID", "entryCSN", "creatorsName", "createTimestamp"] {
        let value = format!("{name}:+ {}", stored.get(name)[0]);
        assert!(mods.contains(&&*value), "{value} {mods:?}");
    }
    assert_ok(&world.rename(&root, &new, "ou=newer", true, Some(TOP)));
    let entry = newest(&world);
    assert_eq!(entry.get("objectClass"), ["auditModRDN"]);
    assert_eq!(entry.get("reqDN"), [new.as_str()]);
    assert_eq!(entry.get("reqNewRDN"), ["ou=newer"]);
    assert_eq!(entry.get("reqDeleteOldRDN"), ["TRUE"]);
    assert_eq!(entry.get("reqNewSuperior"), [TOP]);
    assert_eq!(entry.get("reqNewDN"), [newer.as_str()]);
    assert_eq!(entry.get("reqMod").len(), 3);
    assert_ok(&world.rename(&root, &newer, "ou=last", false, None));
    let entry = newest(&world);
    assert!(entry.get("reqNewSuperior").is_empty());
    assert_eq!(entry.get("reqNewDN"), [format!("ou=last,{TOP}")]);
    assert_eq!(entry.get("reqDeleteOldRDN"), ["FALSE"]);
    assert_ok(&world.delete(&root, &format!("ou=last,{TOP}")));
    let entry = newest(&world);
    assert_eq!(entry.get("objectClass"), ["auditDelete"]);
    assert!(entry.get("reqMod").is_empty());
    // A refused update leaves nothing.
    let refused = world.delete(&root, &format!("ou=last,{TOP}"));
    assert_eq!(refused.code, ResultCode::NoSuchObject);
    assert_eq!(newest(&world), entry);
}

#[test]
fn records_are_found_by_name_and_by_filter() {
    let world = world();
    let all = records(&world, "(objectClass=*)");
    assert!(all.len() > 3);
    for entry in &all {
        let by_name = asked(&entry.dn, Scope::Base, "(objectClass=*)", &["*", "+"]);
        assert_eq!(found(&world, &by_name), std::slice::from_ref(entry));
        let csn = format!("(entryCSN={})", entry.get("entryCSN")[0]);
        assert_eq!(records(&world, &csn), std::slice::from_ref(entry));
        let below = asked(&entry.dn, Scope::One, "(objectClass=*)", &[]);
        assert!(found(&world, &below).is_empty());
    }
    let starts: Vec<&str> = all.iter().map(|entry| entry.get("reqStart")[0]).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    let later = format!("(reqStart>={})", starts[2]);
    assert_eq!(records(&world, &later), all[2..]);
    let by_target = format!("(&(reqDN={JANE})(reqType=ADD))");
    assert_eq!(records(&world, &by_target).len(), 1);
    assert!(records(&world, "(reqType=mod*)").is_empty());
    let end = all[0].get("reqEnd")[0];
    for missing in [&*format!("reqStart={end},{LOG}"), "cn=x,cn=log"] {
        let asked = asked(missing, Scope::Base, "(objectClass=*)", &[]);
        let result = world.search(&world.root(), &asked).result;
        assert_eq!(result.code, ResultCode::NoSuchObject);
        assert_eq!(result.matched_dn, LOG);
    }
    let compared = world.compare(&world.root(), &all[0].dn, "reqType", "add");
    assert_eq!(compared.code, ResultCode::CompareTrue);
}

#[test]
fn the_top_has_the_numbers_of_the_log() {
    let world = world();
    let top = asked(
        LOG,
        Scope::Base,
        "(objectClass=auditContainer)",
        &["*", "+"],
    );
    let top = found(&world, &top).remove(0);
    let all = records(&world, "(objectClass=*)");
    let number = |at: usize| all[at].get("entryCSN")[0].to_owned();
    assert_eq!(top.get("cn"), ["log"]);
    assert_eq!(top.get("minCSN"), [number(0)]);
    assert_eq!(top.get("contextCSN"), [number(all.len() - 1)]);
    assert_eq!(top.get("hasSubordinates"), ["TRUE"]);
    let whole = asked(LOG, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    assert_eq!(found(&world, &whole).len(), all.len() + 1);
    let below = asked(LOG, Scope::Children, "(objectClass=*)", &["1.1"]);
    assert_eq!(found(&world, &below).len(), all.len());
    let root_dse = world.read("", &["namingContexts"]);
    assert!(root_dse.get("namingContexts").contains(&LOG));
}

#[test]
fn searches_go_on_in_steps_and_have_limits() {
    let world = world();
    for number in 0..50 {
        let text = number.to_string();
        let change: [(ModifyOperation, &str, &[&str]); 1] = [(Replace, "title", &[&text])];
        assert_ok(&world.modify(&world.root(), JANE, &change));
    }
    let all = records(&world, "(objectClass=*)");
    let mut asked = asked(LOG, Scope::One, "(objectClass=*)", &["*", "+"]);
    asked.quantum = Quantum {
        candidates_max: 3,
        bytes_max: 1 << 16,
    };
    assert_eq!(found(&world, &asked), all);
    asked.quantum = Quantum {
        candidates_max: 1000,
        bytes_max: 1,
    };
    assert_eq!(found(&world, &asked), all);
    asked.size_limit = 7;
    let limited = world.search(&world.root(), &asked);
    assert_eq!(limited.result.code, ResultCode::SizeLimitExceeded);
    assert_eq!(limited.entries, all[..7]);
}

#[test]
fn nobody_changes_the_log_or_synchronises_with_it() {
    let world = world();
    let entry = newest(&world);
    let root = world.root();
    let unit = [("objectClass", "device"), ("cn", "x")];
    let change: [(ModifyOperation, &str, &[&str]); 1] = [(Replace, "reqMessage", &["x"])];
    for result in [
        world.delete(&root, &entry.dn),
        world.delete(&root, LOG),
        world.modify(&root, &entry.dn, &change),
        world.add(&root, "cn=x,cn=log", &unit),
        world.rename(&root, &entry.dn, "cn=x", false, None),
    ] {
        assert_eq!(result.code, ResultCode::UnwillingToPerform, "{result:?}");
    }
    let mut sync = asked(LOG, Scope::Subtree, "(objectClass=*)", &[]);
    sync.controls = vec![(
        oid::SYNC_REQUEST,
        true,
        Some(b"\x30\x03\x0a\x01\x01".to_vec()),
    )];
    let refused = world.search(&root, &sync).result;
    assert_eq!(refused.code, ResultCode::UnavailableCriticalExtension);
}

#[test]
fn rules_of_the_log_decide() {
    let world = world_with(|options| {
        logging(options);
        let rules = [
            "to dn.exact=cn=log by * read",
            "to attrs=reqMod by * none",
            "to filter=(reqType=delete) by * none",
            "to * by * read",
        ];
        options.access_logs[0].access = rules.map(|rule| RuleText::from(rule.to_owned())).to_vec();
    });
    let asked = asked(LOG, Scope::One, "(objectClass=*)", &["*"]);
    let seen = world.search(&Session::new(), &asked).entries;
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|entry| entry.get("reqMod").is_empty()));
    assert!(seen.iter().all(|entry| !entry.get("reqDN").is_empty()));
    assert_ok(&world.delete(&world.root(), JANE));
    assert_eq!(world.search(&Session::new(), &asked).entries, seen);
    let hidden = world_with(|options| {
        logging(options);
        let rule = RuleText::from("to * by * none".to_owned());
        options.access_logs[0].access = vec![rule];
    });
    let refused = hidden.search(&Session::new(), &asked).result;
    assert_eq!(refused.code, ResultCode::NoSuchObject);
}

#[test]
fn purged_records_move_the_least_number() {
    let mut world = world();
    world.reopen(|options| {
        logging(options);
        let lines = [
            "logdb cn=log",
            "logops writes",
            "logpurge 00:01~00:01",
            "logsuccess TRUE",
        ];
        options.databases[0].overlays = vec![overlay("accesslog", &lines)];
    });
    let first = records(&world, "(objectClass=*)");
    world.clock.sleep_s(3_600);
    for number in 0..first.len() {
        let text = number.to_string();
        let change: [(ModifyOperation, &str, &[&str]); 1] = [(Replace, "title", &[&text])];
        assert_ok(&world.modify(&world.root(), JANE, &change));
    }
    let left = records(&world, "(objectClass=*)");
    assert!(
        left.iter().all(|entry| !first.contains(entry)),
        "old ones went"
    );
    assert_eq!(left.len(), first.len());
    let top = asked(LOG, Scope::Base, "(objectClass=*)", &["minCSN"]);
    let top = found(&world, &top).remove(0);
    let last = first.last().expect("a record");
    assert_eq!(top.get("minCSN"), last.get("entryCSN"));
}

#[test]
fn old_records_go_without_an_update() {
    let mut world = world();
    assert!(world.directory.log_purges().is_empty(), "without logpurge");
    world.reopen(|options| {
        logging(options);
        let lines = [
            "logdb cn=log",
            "logops writes",
            "logpurge 00:01~00:00:05",
            "logsuccess TRUE",
        ];
        options.databases[0].overlays = vec![overlay("accesslog", &lines)];
    });
    let purges = world.directory.log_purges();
    let [purge] = purges.as_slice() else {
        panic!("one database has a log: {purges:?}");
    };
    assert_eq!(purge.every().as_secs(), 5);
    let count = records(&world, "(objectClass=*)").len() as u64;
    assert!(count > 0);
    world.clock.sleep_s(59);
    assert_eq!(purge.run(1_000).expect("a sound store"), LogPurged::Done(0));
    world.clock.sleep_s(2);
    assert_eq!(purge.run(1).expect("a sound store"), LogPurged::More(1));
    let rest = purge.run(1_000).expect("a sound store");
    assert_eq!(rest, LogPurged::Done(count - 1));
    assert_eq!(records(&world, "(objectClass=*)"), []);
    let change: [(ModifyOperation, &str, &[&str]); 1] = [(Replace, "title", &["new"])];
    assert_ok(&world.modify(&world.root(), JANE, &change));
    assert_eq!(records(&world, "(objectClass=*)").len(), 1);
}

#[test]
fn a_log_without_its_database_is_an_error() {
    let world = world();
    let store = world.directory.shared_stores().remove(0);
    let mut options = DirectoryOptions::new(
        Arc::clone(world.directory.schema()),
        vec![DatabaseOptions::new(store)],
    );
    logging(&mut options);
    options.access_logs.clear();
    let refused = Directory::open(options).expect_err("no database cn=log");
    let text = refused.to_string();
    assert!(
        text.ends_with("accesslog: \"logdb <suffix>\" missing or invalid."),
        "{text}"
    );
}

#[test]
fn the_controls_of_responses_are_logged() {
    let world = world();
    let change = [(Replace, "title", &["boss"][..])];
    let attributes = vec![&b"title"[..]];
    let value = ReadEntry { attributes }.encode();
    let after = Control::with_value(oid::POST_READ, true, &value);
    let request = write_request(&world.root(), &with(&modify_pdu(JANE, &change), &[after]));
    assert_ok(&world.directory.apply(&[request])[0].result);
    let logged = newest(&world);
    let texts = logged.get("reqRespControls");
    let name: String = JANE.bytes().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(texts.len(), 1);
    let begin = format!("{{0}}{{{} controlValue \"64", oid::POST_READ);
    assert!(texts[0].starts_with(&begin), "{texts:?}");
    assert!(texts[0].contains(&name), "{texts:?}");
    assert!(texts[0].contains("04626F7373"), "the new value: {texts:?}");
    // Its other facts are as without controls.
    assert_eq!(logged.get("reqMod")[0], "title:= boss");
    assert_ok(&world.modify(&world.root(), JANE, &change));
    assert_eq!(newest(&world).get("reqRespControls"), [""; 0]);
}

#[test]
fn the_top_entry_names_its_log() {
    let world = world();
    for (dn, names, shown) in [
        (TOP, "+", true),
        (TOP, "auditContext", true),
        (TOP, "*", false),
        (JANE, "+", false),
    ] {
        let entry = world.read(dn, &[names]);
        let expected: &[&str] = if shown { &[LOG] } else { &[] };
        assert_eq!(entry.get("auditContext"), expected, "{dn} {names}");
    }
    assert_eq!(world.names("(auditContext=*)"), [""; 0]);
}

/// A copy may lack the schema of the overlay, and a copy of slapd then refuses the entry.
#[test]
fn a_copy_does_not_learn_the_name_of_the_log() {
    let world = world_with(|options| {
        logging(options);
        options.databases[0].overlays.push(overlay("syncprov", &[]));
    });
    let mut sync = asked(TOP, Scope::Base, "(objectClass=*)", &["*", "+"]);
    sync.controls = vec![(
        oid::SYNC_REQUEST,
        true,
        Some(b"\x30\x03\x0a\x01\x01".to_vec()),
    )];
    let told = found(&world, &sync);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].get("auditContext"), [""; 0]);
    assert_ne!(told[0].get("entryUUID"), [""; 0]);
}
