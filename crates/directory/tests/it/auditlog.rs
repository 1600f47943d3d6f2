//! The overlay `auditlog`: the records of changes, byte for byte as slapd writes them.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ModifyOperation::{Add, Delete, Increment, Replace};
use fulgurite_directory::{AuditStyle, Connection, EndPoint, OverlaySettings, Session, WriteReply};
use fulgurite_ldap::{Control, DeleteRequest, LdapResult, ModifyOperation, Request, oid};
use fulgurite_store::Durability;

use crate::guards::overlay;
use crate::support::{
    JANE, JOHN, PEOPLE, ROOT, World, add_pdu, delete_pdu, modify_pdu, pdu, write_request,
};

const FILE: &str = "/var/log/changes";

fn world(more: &[OverlaySettings], last_mod: bool) -> World {
    let mut world = World::new();
    world.reopen(|options| {
        let database = &mut options.databases[0];
        database.overlays = vec![overlay("auditlog", &[&format!("auditlog {FILE}")])];
        database.overlays.extend(more.iter().cloned());
        database.last_mod = last_mod;
    });
    world
}

fn reply(world: &World, session: &Session, pdu: &[u8]) -> WriteReply {
    let mut replies = world.directory.apply(&[write_request(session, pdu)]);
    replies.remove(0)
}

/// Applies an update and returns its records.
#[track_caller]
fn records(world: &World, session: &Session, pdu: &[u8]) -> String {
    let reply = reply(world, session, pdu);
    assert_eq!(reply.result, LdapResult::success());
    let audit = reply.audit.expect("a record");
    assert_eq!(&*audit.file, Path::new(FILE));
    String::from_utf8(audit.text).expect("text")
}

fn connected(mut session: Session) -> Session {
    let address: SocketAddr = "127.0.0.1:4711".parse().expect("an address");
    session.set_connection(Arc::new(Connection {
        id: 3,
        peer: EndPoint::Ip(address),
        ..Connection::default()
    }));
    session
}

#[test]
fn every_kind_of_update_has_its_record() {
    let world = world(&[], true);
    let root = connected(world.root());
    let dn = "UID=new, ou=People,dc=example,dc=com";
    let long = "y".repeat(100);
    let added = records(
        &world,
        &root,
        &add_pdu(
            dn,
            &[
                ("objectClass", "inetOrgPerson"),
                ("cn", "Änne"),
                ("sn", " x"),
                ("description", &long),
                ("userPassword", "secret"),
            ],
        ),
    );
    let csn = world.read(dn, &["entryCSN", "entryUUID"]);
    let (csn, uuid) = (
        csn.get("entryCSN")[0].to_owned(),
        csn.get("entryUUID")[0].to_owned(),
    );
    let header = format!("dc=example,dc=com {ROOT} IP=127.0.0.1:4711 conn=3");
    let expected = format!(
        "# add 1767323045 {header}\n\
         dn: uid=new,ou=People,dc=example,dc=com\n\
         changetype: add\n\
         objectClass: inetOrgPerson\n\
         cn:: w4RubmU=\n\
         sn:: IHg=\n\
         description: {}\n {}\n\
         userPassword:: c2VjcmV0\n\
         structuralObjectClass: inetOrgPerson\n\
         uid: new\n\
         entryUUID: {uuid}\n\
         creatorsName: {ROOT}\n\
         createTimestamp: 20260102030405Z\n\
         entryCSN: {csn}\n\
         modifiersName: {ROOT}\n\
         modifyTimestamp: 20260102030405Z\n\
         # end add 1767323045\n\n",
        "y".repeat(65),
        "y".repeat(35),
    );
    assert_eq!(added, expected);
    world.clock.sleep_s(2);
    let modified = records(
        &world,
        &root,
        &modify_pdu(
            JANE,
            &[
                (Add, "title", &["one", "two"]),
                (Delete, "cn;lang-de", &[]),
                (Delete, "cn", &["jane doe"]),
                (Replace, "cn", &["J"]),
                (Replace, "mobile", &[]),
                (Increment, "uidNumber", &["3"]),
                (Replace, "userPassword", &["{SSHA}abc"]),
            ],
        ),
    );
    let csn = world.read(JANE, &["entryCSN"]).get("entryCSN")[0].to_owned();
    let expected = format!(
        "# modify 1767323047 {header}\ndn: {JANE}\nchangetype: modify\n\
         add: title\ntitle: one\ntitle: two\n-\n\
         delete: cn;lang-de\n-\n\
         delete: cn\ncn: jane doe\n-\n\
         replace: cn\ncn: J\n-\n\
         replace: mobile\n-\n\
         increment: uidNumber\nuidNumber: 3\n-\n\
         replace: userPassword\nuserPassword:: e1NTSEF9YWJj\n-\n\
         replace: entryCSN\nentryCSN: {csn}\n-\n\
         replace: modifiersName\nmodifiersName: {ROOT}\n-\n\
         replace: modifyTimestamp\nmodifyTimestamp: 20260102030407Z\n-\n\
         # end modify 1767323047\n\n"
    );
    assert_eq!(modified, expected);
    let deleted = records(&world, &root, &delete_pdu(dn));
    let expected = format!(
        "# delete 1767323047 {header}\ndn: uid=new,ou=People,dc=example,dc=com\n\
         changetype: delete\n# end delete 1767323047\n\n"
    );
    assert_eq!(deleted, expected);
}

#[test]
fn a_rename_has_the_names_of_the_request() {
    let world = world(&[], true);
    let rename = |rdn: &str, delete_old_rdn, new_superior: Option<&str>| {
        let request = Request::ModifyDn(fulgurite_ldap::ModifyDnRequest {
            dn: b"uid=Jane,ou=people,dc=example,dc=com",
            new_rdn: rdn.as_bytes(),
            delete_old_rdn,
            new_superior: new_superior.map(str::as_bytes),
        });
        records(&world, &world.root(), &pdu(&request, &[]))
    };
    let head = format!("# modrdn 1767323045 dc=example,dc=com {ROOT} IP=unknown conn=0\n");
    let tail = "# end modrdn 1767323045\n\n";
    // A superior that stays is not named, as in slapd.
    assert_eq!(
        rename("uid=Jane", false, Some("OU=People, dc=example,dc=com")),
        format!(
            "{head}dn: uid=Jane,ou=people,dc=example,dc=com\nchangetype: modrdn\nnewrdn: uid=Jane\n\
             deleteoldrdn: 0\n{tail}"
        )
    );
    assert_eq!(
        rename("uid=Jane", false, Some("OU=Groups, dc=example,dc=com")),
        format!(
            "{head}dn: uid=Jane,ou=people,dc=example,dc=com\nchangetype: modrdn\nnewrdn: uid=Jane\n\
             deleteoldrdn: 0\nnewsuperior: ou=Groups,dc=example,dc=com\n{tail}"
        )
    );
}

#[test]
fn the_author_is_the_modifiers_name_or_else_the_requester() {
    let bare = world(&[], false);
    let change = modify_pdu(JOHN, &[(Replace, "title", &["x"])]);
    let text = records(&bare, &connected(bare.root()), &change);
    let expected = format!(
        "# modify 1767323045 dc=example,dc=com {ROOT} IP=127.0.0.1:4711 conn=3\ndn: {JOHN}\n\
         changetype: modify\nreplace: title\ntitle: x\n-\n# end modify 1767323045\n\n"
    );
    assert_eq!(text, expected);
    let world = world(&[], true);
    let session = connected(world.user(JANE)).acting_for(world.root().identity().clone());
    let lines = records(&world, &session, &change);
    let head = format!(
        "# modify 1767323045 dc=example,dc=com {ROOT} IP=127.0.0.1:4711 conn=3\n# realdn: {JANE}\n"
    );
    assert!(lines.starts_with(&head), "{lines}");
    let lines = records(&world, &session, &delete_pdu(JOHN));
    assert!(
        lines.contains(&format!("conn=3\n# realdn: {JANE}\ndn: {JOHN}\n")),
        "{lines}"
    );
}

#[test]
fn references_that_follow_have_records_after_their_cause() {
    let world = world(
        &[overlay("refint", &["refint_attributes member~owner"])],
        true,
    );
    let text = records(&world, &world.root(), &delete_pdu(JOHN));
    let expected = format!(
        "# delete 1767323045 dc=example,dc=com {ROOT} IP=unknown conn=0\ndn: {JOHN}\n\
         changetype: delete\n# end delete 1767323045\n\n\
         # modify 1767323045 dc=example,dc=com cn=Referential Integrity Overlay  conn=-1\n\
         dn: cn=all,ou=groups,dc=example,dc=com\nchangetype: modify\n\
         delete: member\nmember: {JOHN}\n-\n\
         replace: modifiersName\nmodifiersName: cn=Referential Integrity Overlay\n-\n\
         # end modify 1767323045\n\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn only_successful_updates_have_records_each_tree_one_for_each_entry() {
    let world = world(&[], true);
    let root = world.root();
    let refused = reply(&world, &root, &delete_pdu(PEOPLE));
    assert!(!refused.result.is_success() && refused.audit.is_none());
    let request = Request::Delete(DeleteRequest {
        dn: PEOPLE.as_bytes(),
    });
    let control = |oid: &'static str| Control {
        oid: oid.as_bytes(),
        critical: true,
        value: None,
    };
    let no_op = [control(oid::NO_OP), control(oid::TREE_DELETE)];
    assert_eq!(reply(&world, &root, &pdu(&request, &no_op)).audit, None);
    let text = records(&world, &root, &pdu(&request, &[control(oid::TREE_DELETE)]));
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("dn: "))
        .collect();
    assert_eq!(names.len(), 3);
    assert_eq!(names.last(), Some(&PEOPLE));
}

#[test]
fn the_writer_thread_applies_what_is_recorded() {
    let world = World::empty_with_store(
        |options| {
            options.databases[0].overlays = vec![overlay("auditlog", &["auditlog /x"])];
        },
        |store| store.durability = Some(Durability::NoSync),
    );
    world.load_example();
    let update = [write_request(&world.root(), &delete_pdu(JOHN))];
    assert_eq!(world.directory.apply_at_once(&update), None);
}

#[test]
fn each_change_is_a_line_of_json_if_so_wanted() {
    let mut world = World::new();
    world.reopen(|options| {
        options.audit_style = AuditStyle {
            json: true,
            durable: true,
        };
        let lines = [&*format!("auditlog {FILE}")];
        options.databases[0].overlays = vec![overlay("auditlog", &lines)];
    });
    let root = connected(world.root());
    let lines = |pdu: &[u8]| -> Vec<serde_json::Value> {
        let reply = reply(&world, &root, pdu);
        assert_eq!(reply.result, LdapResult::success());
        let audit = reply.audit.expect("a record");
        assert!(audit.durable);
        let text = String::from_utf8(audit.text).expect("text");
        assert!(text.ends_with("}\n"), "{text}");
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect(line));
        lines.collect()
    };
    let dn = format!("uid=new,{PEOPLE}");
    let values = [
        ("objectClass", "inetOrgPerson"),
        ("cn", "\u{c4}nne \"x\"\n"),
        ("sn", "x"),
        ("userPassword", "secret"),
    ];
    let [added] = &lines(&add_pdu(&dn, &values))[..] else {
        panic!("one line");
    };
    assert_eq!(added["operation"], "add");
    assert_eq!(added["dn"], dn.as_str());
    assert_eq!(added["author"], ROOT);
    assert_eq!(added["peer"], "IP=127.0.0.1:4711");
    assert_eq!(added["connection"], 3);
    assert_eq!(added["suffix"], "dc=example,dc=com");
    assert_eq!(added["time"].as_str().map(str::len), Some(20));
    assert_eq!(added["attributes"]["cn"][0], "\u{c4}nne \"x\"\n");
    let password = &added["attributes"]["userPassword"];
    assert_eq!(*password, serde_json::json!([{"masked": true}]));
    assert_eq!(
        added["attributes"]["entryUUID"].as_array().map(Vec::len),
        Some(1)
    );
    let changes: [(ModifyOperation, &str, &[&str]); 2] = [
        (Replace, "title", &["a", "b"]),
        (Delete, "cn", &["no\u{0}"]),
    ];
    let refused = reply(&world, &root, &modify_pdu(&dn, &changes));
    assert!(refused.audit.is_none());
    let [modified] = &lines(&modify_pdu(&dn, &changes[..1]))[..] else {
        panic!("one line");
    };
    assert_eq!(modified["changes"][0]["operation"], "replace");
    assert_eq!(modified["changes"][0]["attribute"], "title");
    assert_eq!(modified["changes"][0]["values"][1], "b");
    assert_eq!(modified["changes"].as_array().map(Vec::len), Some(4));
    let [gone] = &lines(&delete_pdu(&dn))[..] else {
        panic!("one line");
    };
    assert_eq!(gone["operation"], "delete");
    assert_eq!(gone["changes"], serde_json::Value::Null);
}
