//! Databases whose entries the server makes up: searched, compared and guarded like all others,
//! never changed.

use std::sync::Arc;

use fulgurite_directory::{RootAccount, Session, TreeEntry, TreeOptions, TreeSource};
use fulgurite_ldap::control::{
    SortKey, SortRequest, SortResponse, VlvRequest, VlvResponse, VlvTarget,
};
use fulgurite_ldap::{Control, DeleteRequest, ModifyOperation, Request, ResultCode, Scope, oid};

use crate::support::{Asked, JANE, JOHN, World, asked, code, pdu};

/// Three entries, and a word on what is asked for.
struct Three;

impl TreeSource for Three {
    fn suffix(&self) -> &str {
        "cn=Monitor"
    }

    fn entries(&self, _: &str) -> Vec<TreeEntry> {
        let entry = |dn: &str, cn: &str| {
            TreeEntry::new(dn)
                .with("objectClass", ["monitorContainer"])
                .with("cn", [cn])
                .with("noSuchAttribute", ["left out"])
        };
        vec![
            entry("cn=Monitor", "Monitor"),
            entry("cn=Time,cn=Monitor", "Time").with("description", ["of day"]),
            entry("cn=Uptime,cn=Time,cn=Monitor", "Uptime").with("monitoredInfo", ["7"]),
        ]
    }

    fn end(&self, entry: &str, is_trial: bool) -> bool {
        assert!(is_trial || entry == "cn=uptime,cn=time,cn=monitor");
        entry == "cn=uptime,cn=time,cn=monitor"
    }
}

fn world(access: &[&str]) -> World {
    World::with(|options| {
        let root = RootAccount {
            dn: "cn=Monitor".to_owned(),
            password: Some(b"mon".to_vec()),
        };
        options.monitor = Some(TreeOptions {
            root: Some(root),
            access: access.iter().map(|&rule| rule.into()).collect(),
            ..TreeOptions::new(Arc::new(Three))
        });
    })
}

#[test]
fn generated_entries_are_searched_like_stored_ones() {
    let world = world(&["to * by * read"]);
    let anonymous = Session::new();
    let top = "cn=Monitor";
    let all = "(objectClass=*)";
    for (base, scope, filter, expected) in [
        (top, Scope::Base, all, &["cn=Monitor"][..]),
        (top, Scope::One, all, &["cn=Time,cn=Monitor"]),
        (
            "CN=monitor",
            Scope::Subtree,
            all,
            &[
                "cn=Monitor",
                "cn=Time,cn=Monitor",
                "cn=Uptime,cn=Time,cn=Monitor",
            ],
        ),
        (
            top,
            Scope::Children,
            all,
            &["cn=Time,cn=Monitor", "cn=Uptime,cn=Time,cn=Monitor"],
        ),
        (
            top,
            Scope::Subtree,
            "(monitoredInfo=7)",
            &["cn=Uptime,cn=Time,cn=Monitor"],
        ),
        (
            top,
            Scope::Subtree,
            "(&(cn=t*)(!(monitoredInfo=*)))",
            &["cn=Time,cn=Monitor"],
        ),
        (top, Scope::Subtree, "(cn=nothing)", &[]),
    ] {
        let found = world.search(&anonymous, &asked(base, scope, filter, &["1.1"]));
        assert_eq!(code(&found.result), ResultCode::Success);
        assert_eq!(found.dns(), expected, "{base} {scope:?} {filter}");
    }
    let found = world.search(&anonymous, &asked(top, Scope::Base, all, &["*", "+"]));
    let names = [
        "cn",
        "entryDN",
        "hasSubordinates",
        "objectClass",
        "subschemaSubentry",
    ];
    assert_eq!(found.entries[0].names(), names);
    assert_eq!(found.entries[0].get("hasSubordinates"), ["TRUE"]);
    let missing = world.search(
        &anonymous,
        &asked("cn=x,cn=Time,cn=Monitor", Scope::Base, all, &[]),
    );
    assert_eq!(code(&missing.result), ResultCode::NoSuchObject);
    assert_eq!(missing.result.matched_dn, "cn=Time,cn=Monitor");
    let mut limited = asked(top, Scope::Subtree, all, &[]);
    limited.size_limit = 2;
    let found = world.search(&anonymous, &limited);
    assert_eq!(
        (found.entries.len(), code(&found.result)),
        (2, ResultCode::SizeLimitExceeded)
    );
}

#[test]
fn rules_protect_generated_entries() {
    let world = world(&[
        "to dn.base=\"cn=Uptime,cn=Time,cn=Monitor\" by * none",
        "to attrs=description by users read",
        "to * by * read",
    ]);
    let search = asked("cn=Monitor", Scope::Subtree, "(objectClass=*)", &[]);
    let found = world.search(&Session::new(), &search);
    assert_eq!(found.dns(), ["cn=Monitor", "cn=Time,cn=Monitor"]);
    assert_eq!(found.entries[1].get("description"), [""; 0]);
    let (result, root) = world.bind("cn=Monitor", "mon");
    assert!(result.is_success());
    let found = world.search(&root, &search);
    assert_eq!(found.entries.len(), 3, "the root sees everything");
    assert_eq!(found.entries[1].get("description"), ["of day"]);
    let compare =
        |session: &Session| code(&world.compare(session, "cn=Time,cn=Monitor", "cn", "TIME"));
    assert_eq!(compare(&root), ResultCode::CompareTrue);
}

#[test]
fn updates_of_generated_entries_are_refused() {
    let world = world(&[]);
    let (_, root) = world.bind("cn=Monitor", "mon");
    let nobody = world.delete(&Session::new(), "cn=Time,cn=Monitor");
    assert_eq!(code(&nobody), ResultCode::StrongerAuthRequired);
    let change = (ModifyOperation::Replace, "description", &["x"][..]);
    let device = [("objectClass", "device")];
    for result in [
        world.modify(&root, "cn=Time,cn=Monitor", &[change]),
        world.add(&root, "cn=x,cn=Monitor", &device),
        world.delete(&root, "cn=Time,cn=Monitor"),
        world.rename(&root, "cn=Time,cn=Monitor", "cn=y", true, None),
    ] {
        assert_eq!(code(&result), ResultCode::UnwillingToPerform);
        assert_eq!(
            result.diagnostic,
            "operation not supported within namingContext"
        );
    }
}

#[test]
fn the_root_dse_lists_the_generated_contexts() {
    let world = world(&[]);
    let search = asked(
        "",
        Scope::Base,
        "(objectClass=*)",
        &["monitorContext", "namingContexts"],
    );
    let found = world.search(&Session::new(), &search);
    assert_eq!(found.entries[0].get("monitorContext"), ["cn=Monitor"]);
    assert_eq!(
        found.entries[0].get("namingContexts"),
        ["dc=example,dc=com"]
    );
}

fn sorted(mut asked: Asked, reverse: bool) -> Asked {
    let keys = vec![SortKey {
        attribute: b"cn",
        rule: Some(b"caseIgnoreOrderingMatch"),
        reverse,
    }];
    let value = SortRequest { keys }.encode();
    asked.controls.push((oid::SORT_REQUEST, true, Some(value)));
    asked
}

/// slapd sorts cn=config; of the monitor and the root DSE it loses the entries and says success.
#[test]
fn generated_entries_are_sorted_and_paged_like_stored_ones() {
    let world = world(&["to attrs=cn val=Uptime by * none", "to * by * read"]);
    let root = world.user("cn=Monitor");
    let all = asked("cn=Monitor", Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let names = |search: &Asked, session: &Session| -> Vec<String> {
        let found = world.search(session, search);
        assert_eq!(code(&found.result), ResultCode::Success);
        let value = found.control(oid::SORT_RESPONSE).expect("a sort response");
        assert_eq!(SortResponse::decode(value).unwrap().code, 0);
        found
            .dns()
            .iter()
            .map(|dn| dn.split(',').next().unwrap().to_owned())
            .collect()
    };
    let (up, down) = (sorted(all.clone(), false), sorted(all.clone(), true));
    assert_eq!(names(&up, &root), ["cn=Monitor", "cn=Time", "cn=Uptime"]);
    assert_eq!(names(&down, &root), ["cn=Uptime", "cn=Time", "cn=Monitor"]);
    // A value that may not be read counts as missing, which is largest.
    assert_eq!(names(&down, &Session::new())[0], "cn=Uptime");
    let mut limited = down.clone();
    limited.size_limit = 2;
    let found = world.search(&root, &limited);
    assert_eq!(
        (code(&found.result), found.entries.len()),
        (ResultCode::SizeLimitExceeded, 2)
    );

    let mut viewed = up;
    let target = VlvTarget::Offset {
        offset: 2,
        count: 0,
    };
    let request = VlvRequest {
        before: 0,
        after: 5,
        target,
        context: None,
    };
    viewed
        .controls
        .push((oid::VLV_REQUEST, true, Some(request.encode())));
    assert_eq!(names(&viewed, &root), ["cn=Time", "cn=Uptime"]);
    let found = world.search(&root, &viewed);
    let value = found.control(oid::VLV_RESPONSE).expect("a view");
    let view = VlvResponse::decode(value).unwrap();
    assert_eq!((view.position, view.count, view.code), (2, 3, 0));

    let dse = sorted(asked("", Scope::Base, "(objectClass=*)", &["1.1"]), false);
    assert_eq!(names(&dse, &Session::new()), [""]);
}

#[test]
fn the_deletion_of_an_activity_ends_it() {
    let rules = [
        "to dn.base=\"cn=Uptime,cn=Time,cn=Monitor\" by dn.exact=\"uid=john,ou=people,dc=example,dc=com\" write by * read",
        "to * by * read",
    ];
    let world = world(&rules);
    let uptime = "cn=Uptime,cn=Time,cn=Monitor";
    let root = world.user("cn=Monitor");
    for (session, dn, expected) in [
        (world.user(JOHN), uptime, ResultCode::Success),
        (
            root.clone(),
            "CN=uptime, cn=Time, cn=Monitor",
            ResultCode::Success,
        ),
        (root, "cn=Time,cn=Monitor", ResultCode::UnwillingToPerform),
        (world.user(JANE), uptime, ResultCode::UnwillingToPerform),
        (Session::new(), uptime, ResultCode::StrongerAuthRequired),
        (
            world.user(JOHN),
            "cn=x,cn=Monitor",
            ResultCode::UnwillingToPerform,
        ),
    ] {
        let result = world.delete(&session, dn);
        assert_eq!(code(&result), expected, "{} {dn}", session.name());
        if expected == ResultCode::UnwillingToPerform {
            assert_eq!(
                result.diagnostic,
                "operation not supported within namingContext"
            );
        }
    }
}

#[test]
fn controls_do_not_tell_that_there_is_an_activity() {
    let world = world(&["to * by * read"]);
    let answers = |session: &Session| {
        let of = |dn: &str, control: Control<'_>| {
            let request = Request::Delete(DeleteRequest { dn: dn.as_bytes() });
            let result = world.write(session, &pdu(&request, &[control]));
            (code(&result), result.diagnostic)
        };
        let unknown = || Control::new("1.2.3.4", true);
        let assertion = || Control::with_value(oid::ASSERTION, true, b"\x04\x00");
        [
            ["cn=Uptime,cn=Time,cn=Monitor", "cn=x,cn=Time,cn=Monitor"].map(|dn| of(dn, unknown())),
            ["cn=Uptime,cn=Time,cn=Monitor", "cn=x,cn=Time,cn=Monitor"]
                .map(|dn| of(dn, assertion())),
        ]
    };
    for session in [Session::new(), world.user(JANE)] {
        for [there, missing] in answers(&session) {
            assert_eq!(there, missing);
        }
    }
    let root = answers(&world.user("cn=Monitor"));
    assert_eq!(root[0][0].0, ResultCode::UnavailableCriticalExtension);
}
