//! The log of operations that are no changes, under the name of the overlay `accesslog`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use fulgurite_directory::{AccessLogOptions, DatabaseOptions, DirectoryOptions, Quantum, Session};
use fulgurite_ldap::{
    Assertion, Authentication, BindRequest, CompareRequest, LdapResult, Message, ModifyOperation,
    Operation, Request, ResultCode, Scope, encode,
};

use crate::accesslog::{assert_ok, records, world_with};
use crate::guards::overlay;
use crate::support::{
    EntryText, JANE, PEOPLE, TOP, World, add_pdu, asked, decode, delete_pdu, modify_pdu,
};

fn logging<'p>(folder: &'p Path, lines: &'p [&str]) -> impl Fn(&mut DirectoryOptions) + use<'p> {
    move |options| {
        let lines = [&["logdb cn=log"], lines].concat();
        options.databases[0].overlays = vec![overlay("accesslog", &lines)];
        options.access_logs = vec![AccessLogOptions {
            folder: Some(folder.to_owned()),
            ..AccessLogOptions::new("cn=log")
        }];
    }
}

/// Records a request that got a result.
fn done(world: &World, session: &Session, message: &Message<'_>, code: ResultCode) {
    let Some(mut begun) = world.directory.begin_record(session, message) else {
        return;
    };
    begun.set_entries(7);
    let mut out = Vec::new();
    let result = LdapResult::new(code);
    encode::result(
        &mut out,
        message.id,
        message.request.operation(),
        &result,
        &[],
    );
    world.directory.end_record(*begun, &out);
}

#[test]
fn passwords_of_refused_updates_and_of_questions_are_masked() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = world_with(logging(folder.path(), &["logops all"]));
    let password = "secret-word";
    let request = CompareRequest {
        dn: JANE.as_bytes(),
        assertion: Assertion {
            attribute: b"USERPASSWORD;lang-de",
            value: password.as_bytes(),
        },
    };
    let compare = Message {
        id: 3,
        request: Request::Compare(request),
        controls: fulgurite_ldap::Controls::NONE,
    };
    let refused = ResultCode::InsufficientAccessRights;
    done(&world, &world.root(), &compare, ResultCode::NoSuchAttribute);
    let changes: [(ModifyOperation, &str, &[&str]); 2] = [
        (ModifyOperation::Replace, "userPassword", &[password]),
        (ModifyOperation::Add, "2.5.4.35", &[password, "other"]),
    ];
    let modify = modify_pdu(JANE, &changes);
    done(&world, &world.root(), &decode(&modify), refused);
    let values = [("objectClass", "person"), ("userPassword", password)];
    let add = add_pdu(JANE, &values);
    done(&world, &world.root(), &decode(&add), refused);
    let filter = "(|(userPassword=secret-word)(2.5.4.35=secret-word*))";
    let search = asked(TOP, Scope::Subtree, filter, &[]).pdu();
    done(&world, &world.root(), &decode(&search), ResultCode::Success);
    let all = records(&world, "(objectClass=auditObject)");
    let text = format!("{all:?}").to_lowercase();
    assert!(!text.contains(password), "{text}");
    let of = |kind: &str| {
        let mut all = all.iter();
        all.rfind(|entry| entry.get("reqType") == [kind])
            .expect(kind)
    };
    assert_eq!(
        of("compare").get("reqAssertion"),
        ["userPassword;lang-de=..."]
    );
    let mut changed = of("modify").get("reqMod");
    // A line without a name is between changes of one attribute.
    changed.retain(|line| *line != ":");
    let masked = [
        "userPassword:= ...",
        "userPassword:+ ...",
        "userPassword:+ ...",
    ];
    assert_eq!(changed, masked);
    assert!(of("add").get("reqMod").contains(&"userPassword:+ ..."));
}

fn compare(world: &World, dn: &str, code: ResultCode) {
    let request = CompareRequest {
        dn: dn.as_bytes(),
        assertion: Assertion {
            attribute: b"SN",
            value: b"A  B",
        },
    };
    let message = Message {
        id: 3,
        request: Request::Compare(request),
        controls: fulgurite_ldap::Controls::NONE,
    };
    done(world, &world.root(), &message, code);
}

fn kinds(world: &World) -> Vec<String> {
    let all = records(world, "(objectClass=auditObject)");
    let kinds = all.iter().map(|entry| entry.get("reqType").concat());
    kinds.collect()
}

fn delete(world: &World, dn: &str, code: ResultCode) {
    let pdu = delete_pdu(dn);
    done(world, &world.root(), &decode(&pdu), code);
}

#[test]
fn operations_and_changes_are_in_the_order_of_their_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = ["logops reads~session", "logops writes"];
    let mut world = world_with(logging(folder.path(), &lines));
    let before = kinds(&world).len();
    compare(&world, JANE, ResultCode::CompareTrue);
    world.clock.sleep_s(1);
    let change: [(ModifyOperation, &str, &[&str]); 1] =
        [(ModifyOperation::Replace, "title", &["x"])];
    assert_ok(&world.modify(&world.root(), JANE, &change));
    world.clock.sleep_s(1);
    delete(&world, PEOPLE, ResultCode::NotAllowedOnNonLeaf);
    world.clock.sleep_s(1);
    let search = asked(TOP, Scope::Subtree, "(CN=A*)", &["Cn", "+"]).pdu();
    done(
        &world,
        &Session::new(),
        &decode(&search),
        ResultCode::Success,
    );
    let expected = ["compare", "modify", "delete", "search"];
    assert_eq!(kinds(&world)[before..], expected);
    let all = records(&world, "(objectClass=auditObject)");
    let [compare, _, delete, search] = &all[before..] else {
        panic!("four records");
    };
    assert_eq!(compare.get("reqAssertion"), ["sn=a b"]);
    assert_eq!(compare.get("reqResult"), ["6"]);
    assert_eq!(delete.get("objectClass"), ["auditDelete"]);
    assert_eq!(delete.get("reqResult"), ["66"]);
    let stored = world.read(PEOPLE, &["entryUUID"]);
    assert_eq!(delete.get("reqEntryUUID"), stored.get("entryUUID"));
    assert_eq!(search.get("reqAuthzID"), [""]);
    assert_eq!(search.get("reqFilter"), ["(cn=a*)"]);
    assert_eq!(search.get("reqAttr"), ["Cn", "+"]);
    assert_eq!(search.get("reqEntries"), ["7"]);
    assert_eq!(search.get("reqScope"), ["sub"]);
    let starts: Vec<&str> = all.iter().map(|entry| entry.get("reqStart")[0]).collect();
    assert!(starts.is_sorted_by_key(|start| &start[..14]), "{starts:?}");
    let unique: HashSet<&&str> = starts.iter().collect();
    assert_eq!(unique.len(), starts.len(), "{starts:?}");
    each_is_found(&world, &all);
    // Both outlive the process.
    world.reopen(logging(folder.path(), &lines));
    assert_eq!(records(&world, "(objectClass=auditObject)"), all);
}

/// Finds each record by name and by each of its values, alone among all records.
fn each_is_found(world: &World, all: &[EntryText]) {
    for entry in all {
        let by_name = asked(&entry.dn, Scope::Base, "(objectClass=*)", &["*", "+"]);
        let found = world.search(&world.root(), &by_name);
        assert_eq!(found.entries, std::slice::from_ref(entry));
        let start = entry.get("reqStart")[0];
        assert_eq!(
            records(world, &format!("(reqStart={start})")),
            std::slice::from_ref(entry)
        );
        for name in ["reqType", "reqResult", "reqDN"] {
            let value = entry.get(name)[0];
            let expected: Vec<EntryText> = all
                .iter()
                .filter(|other| other.get(name) == [value])
                .cloned()
                .collect();
            assert_eq!(records(world, &format!("({name}={value})")), expected);
        }
        let later = all.iter().filter(|other| other.get("reqStart")[0] >= start);
        let later: Vec<EntryText> = later.cloned().collect();
        assert_eq!(records(world, &format!("(reqStart>={start})")), later);
        let until = all.iter().filter(|other| other.get("reqStart")[0] <= start);
        let until: Vec<EntryText> = until.cloned().collect();
        assert_eq!(records(world, &format!("(reqStart<={start})")), until);
    }
}

#[test]
fn the_directives_choose_what_is_logged() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = world_with(logging(folder.path(), &["logops compare"]));
    compare(&world, JANE, ResultCode::CompareFalse);
    compare(&world, JANE, ResultCode::UndefinedAttributeType);
    delete(&world, JANE, ResultCode::NoSuchObject);
    assert_eq!(
        kinds(&world),
        ["compare"],
        "no writes, no refusals of the front end"
    );
    world.reopen(logging(
        folder.path(),
        &["logops compare", "logsuccess TRUE"],
    ));
    compare(&world, JANE, ResultCode::NoSuchObject);
    compare(&world, JANE, ResultCode::CompareFalse);
    assert_eq!(kinds(&world), ["compare"; 2]);
    let below = format!("logbase reads|delete~{PEOPLE}");
    world.reopen(logging(folder.path(), &[&below]));
    compare(&world, TOP, ResultCode::CompareFalse);
    compare(&world, JANE, ResultCode::CompareFalse);
    assert_eq!(kinds(&world).len(), 3);
    world.clock.sleep_s(1);
    assert_ok(&world.delete(&world.root(), JANE));
    assert_eq!(kinds(&world).last().expect("a record"), "delete");
    let change: [(ModifyOperation, &str, &[&str]); 1] =
        [(ModifyOperation::Replace, "description", &["x"])];
    assert_ok(&world.modify(&world.root(), PEOPLE, &change));
    assert_eq!(kinds(&world).len(), 4);
}

#[test]
fn a_database_that_logs_changes_alone_has_one_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = ["logops writes", "logsuccess TRUE"];
    let world = world_with(logging(folder.path(), &lines));
    compare(&world, JANE, ResultCode::CompareFalse);
    delete(&world, JANE, ResultCode::NoSuchObject);
    let mut files = std::fs::read_dir(folder.path()).expect("the folder");
    assert!(files.next().is_none(), "a log of operations was made");
}

#[test]
fn records_in_memory_follow_to_the_next_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let logging = logging(folder.path(), &["logops all"]);
    let world = world_with(&logging);
    let before = kinds(&world).len();
    compare(&world, JANE, ResultCode::CompareFalse);
    let store = world.directory.shared_stores().remove(0);
    let schema = Arc::clone(world.directory.schema());
    let mut options = DirectoryOptions::new(schema, vec![DatabaseOptions::new(store)]);
    logging(&mut options);
    let next = world.directory.reopened(options).expect("a directory");
    let bind = BindRequest {
        version: 3,
        name: JANE.as_bytes(),
        authentication: Authentication::Simple(b"x"),
    };
    let message = Message {
        id: 9,
        request: Request::Bind(bind),
        controls: fulgurite_ldap::Controls::NONE,
    };
    let begun = next
        .begin_record(&world.root(), &message)
        .expect("a record");
    let mut out = Vec::new();
    let refused = LdapResult::new(ResultCode::InvalidCredentials);
    encode::result(&mut out, 9, Operation::Bind, &refused, &[]);
    next.end_record(*begun, &out);
    // The old configuration answers from the same log.
    assert_eq!(kinds(&world)[before..], ["compare", "bind"]);
    let bind = records(&world, "(reqType=bind)").remove(0);
    assert_eq!(bind.get("reqMethod"), ["SIMPLE"]);
    assert_eq!(bind.get("reqAuthzID"), [""]);
    assert_eq!(bind.get("reqResult"), ["49"]);
}

#[test]
fn a_search_of_both_logs_goes_on_in_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = world_with(logging(folder.path(), &["logops all"]));
    for _ in 0..40 {
        world.clock.sleep_s(1);
        compare(&world, JANE, ResultCode::CompareFalse);
    }
    let all = records(&world, "(objectClass=auditObject)");
    let compares = records(&world, "(reqType=compare)");
    assert_eq!(compares.len(), 40);
    for candidates_max in [1, 2, 3] {
        let mut asked = asked(
            "cn=log",
            Scope::One,
            "(objectClass=auditObject)",
            &["*", "+"],
        );
        asked.quantum = Quantum {
            candidates_max,
            bytes_max: 1 << 16,
        };
        assert_eq!(world.search(&world.root(), &asked).entries, all);
        let mut asked =
            crate::support::asked("cn=log", Scope::One, "(reqType=compare)", &["*", "+"]);
        asked.quantum = Quantum {
            candidates_max,
            bytes_max: 1,
        };
        assert_eq!(world.search(&world.root(), &asked).entries, compares);
    }
}

#[test]
fn old_values_are_logged_with_the_changes_of_some_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = [
        "logops writes",
        "logsuccess TRUE",
        "logold (title=*)",
        "logoldattr l",
    ];
    let world = world_with(logging(folder.path(), &old));
    let root = world.root();
    let set = |name: &'static str, value: &'static str| {
        let change: [(ModifyOperation, &str, &[&str]); 1] =
            [(ModifyOperation::Replace, name, &[value])];
        assert_ok(&world.modify(&root, JANE, &change));
    };
    let newest = || {
        records(&world, "(objectClass=auditObject)")
            .pop()
            .expect("a record")
    };
    set("description", "one");
    assert!(newest().get("reqOld").is_empty(), "no title");
    set("title", "boss");
    set("l", "here");
    let before = world.read(JANE, &["*", "+"]);
    set("description", "two");
    let entry = newest();
    let old = entry.get("reqOld");
    let stamp = |name: &str| format!("{name}: {}", before.get(name)[0]);
    assert!(
        old.contains(&"description: one") && old.contains(&"l: here"),
        "{old:?}"
    );
    assert!(old.contains(&&*stamp("entryCSN")), "{old:?}");
    assert!(
        !old.iter().any(|text| text.starts_with("title:")),
        "{old:?}"
    );
    let changes = entry.get("reqMod");
    assert!(changes.contains(&"description:= two"), "{changes:?}");
    assert!(
        !changes.iter().any(|text| text.contains(":o")),
        "{changes:?}"
    );
    assert_ok(&world.rename(&root, JANE, "cn=other", false, None));
    let renamed = format!("cn=other,{PEOPLE}");
    let uid: Vec<String> = newest()
        .get("reqOld")
        .iter()
        .map(|one| (*one).to_owned())
        .collect();
    assert!(uid.iter().any(|text| text == "l: here"), "{uid:?}");
    let whole = world.read(&renamed, &["*", "+"]);
    assert_ok(&world.delete(&root, &renamed));
    let gone = newest();
    assert_eq!(gone.get("reqType"), ["delete"]);
    for name in ["objectClass", "sn", "entryCSN", "entryUUID", "title"] {
        for value in whole.get(name) {
            let text = format!("{name}: {value}");
            assert!(gone.get("reqOld").contains(&&*text), "{text}");
        }
    }
}
