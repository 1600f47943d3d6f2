use fulgurite_ldap::control::{
    MatchedValues, SortKey, SortRequest, SortResponse, Subentries, VlvRequest, VlvResponse,
    VlvTarget,
};
use fulgurite_ldap::{ResultCode, Scope, oid};

use crate::support::{Asked, SearchAnswer, TOP, World, asked, code};

/// Persons that differ in what they are sorted by.
fn crowd(world: &World, count: usize) {
    for number in 0..count {
        let sn = ["Zorn", "abel", "Mies"][number % 3];
        let mail = if number % 4 == 0 {
            format!("\nmail: m{}@x\nmail: z@x", 900 - number)
        } else {
            String::new()
        };
        world.load(&format!(
            "dn: uid=c{number},ou=people,{TOP}\nobjectClass: inetOrgPerson\nuid: c{number}\ncn: C\nsn: {sn}{mail}"
        ));
    }
}

fn key<'k>(attribute: &'k str, rule: &'k str, reverse: bool) -> SortKey<'k> {
    SortKey {
        attribute: attribute.as_bytes(),
        rule: (!rule.is_empty()).then_some(rule.as_bytes()),
        reverse,
    }
}

fn sorted(keys: &[SortKey<'_>], critical: bool) -> Asked {
    let request = SortRequest {
        keys: keys.to_vec(),
    };
    let mut asked = asked(TOP, Scope::Subtree, "(uid=c*)", &["1.1"]);
    asked
        .controls
        .push((oid::SORT_REQUEST, critical, Some(request.encode())));
    asked
}

fn viewed(mut asked: Asked, before: u32, after: u32, target: VlvTarget<'_>) -> Asked {
    let request = VlvRequest {
        before,
        after,
        target,
        context: None,
    };
    asked
        .controls
        .push((oid::VLV_REQUEST, true, Some(request.encode())));
    asked
}

fn uids(found: &SearchAnswer) -> String {
    let uids = found.entries.iter().map(|entry| {
        let rdn = entry.dn.split(',').next().unwrap_or_default();
        rdn.trim_start_matches("uid=")
    });
    uids.collect::<Vec<_>>().join(" ")
}

fn view_of(found: &SearchAnswer) -> (u32, u32, u32) {
    let value = found.control(oid::VLV_RESPONSE).expect("a view");
    let response = VlvResponse::decode(value).expect("a response");
    (response.position, response.count, response.code)
}

const TEXT: &str = "caseIgnoreOrderingMatch";

#[test]
fn entries_are_returned_in_the_requested_order() {
    let world = World::new();
    crowd(&world, 9);
    let root = world.root();
    let order = |keys: &[SortKey<'_>]| {
        let mut asked = sorted(keys, true);
        for quantum in [1, 1024] {
            asked.quantum.candidates_max = quantum;
            let found = world.search(&root, &asked);
            let response = found.control(oid::SORT_RESPONSE).expect("a response");
            assert_eq!(SortResponse::decode(response).map(|sort| sort.code), Ok(0));
            if quantum > 1 {
                return uids(&found);
            }
        }
        unreachable!("one of two quanta is large")
    };
    assert_eq!(
        order(&[key("sn", TEXT, false)]),
        "c1 c4 c7 c2 c5 c8 c0 c3 c6"
    );
    assert_eq!(
        order(&[key("sn", TEXT, true)]),
        "c0 c3 c6 c2 c5 c8 c1 c4 c7"
    );
    assert_eq!(
        order(&[key("sn", TEXT, false), key("uid", TEXT, true)]),
        "c7 c4 c1 c8 c5 c2 c6 c3 c0"
    );
    assert_eq!(
        order(&[key("mail", TEXT, false), key("uid", TEXT, false)]),
        "c8 c4 c0 c1 c2 c3 c5 c6 c7",
        "by the smaller value; without one, last"
    );
    assert_eq!(order(&[key("createTimestamp", "", false)]).len(), 26);
}

#[test]
fn an_impossible_sort_is_refused_if_critical_and_ignored_otherwise() {
    let world = World::new();
    crowd(&world, 3);
    let root = world.root();
    for (name, expected) in [
        ("sn", ResultCode::InappropriateMatching),
        ("nope", ResultCode::NoSuchAttribute),
    ] {
        let refused = world.search(&root, &sorted(&[key(name, "", false)], true));
        assert_eq!(code(&refused.result), expected);
        let unsorted = world.search(&root, &sorted(&[key(name, "", false)], false));
        assert_eq!(code(&unsorted.result), ResultCode::Success);
        assert_eq!(unsorted.entries.len(), 3);
        for found in [&refused, &unsorted] {
            let response = found.control(oid::SORT_RESPONSE).expect("a response");
            let response = SortResponse::decode(response).expect("a response");
            assert_eq!(response.code, expected.number());
            assert_eq!(response.attribute, Some(name.as_bytes()));
        }
    }
}

#[test]
fn a_list_beyond_the_memory_limit_gives_admin_limit_exceeded() {
    let world = World::with(|options| options.sort_limits.bytes_max = 300);
    crowd(&world, 9);
    let found = world.search(&world.root(), &sorted(&[key("sn", TEXT, false)], true));
    assert_eq!(code(&found.result), ResultCode::AdminLimitExceeded);
    assert_eq!(found.entries.len(), 0);
}

#[test]
fn sorted_pages_continue_behind_the_last_entry_despite_changes() {
    let world = World::new();
    crowd(&world, 9);
    let root = world.root();
    let mut asked = sorted(&[key("sn", TEXT, false)], true);
    asked.page = Some((4, Vec::new()));
    let first = world.search(&root, &asked);
    assert_eq!(uids(&first), "c1 c4 c7 c2");
    // The entry the page ended with goes, another one comes before it: neither shifts what follows.
    world.delete(&root, &format!("uid=c2,ou=people,{TOP}"));
    world.load(&format!(
        "dn: uid=c99,ou=people,{TOP}\nobjectClass: inetOrgPerson\nuid: c99\ncn: C\nsn: aaa"
    ));
    asked.page = Some((4, first.cookie.expect("more")));
    let second = world.search(&root, &asked);
    assert_eq!(uids(&second), "c5 c8 c0 c3");
    asked.page = Some((4, second.cookie.expect("more")));
    let last = world.search(&root, &asked);
    assert_eq!(
        (uids(&last).as_str(), last.cookie),
        ("c6", Some(Vec::new()))
    );
}

#[test]
fn a_list_view_shows_the_entries_around_its_target() {
    let world = World::new();
    crowd(&world, 9);
    let root = world.root();
    let by_name = sorted(&[key("sn", TEXT, false)], true);
    let view = |before, after, target| {
        let found = world.search(&root, &viewed(by_name.clone(), before, after, target));
        assert_eq!(code(&found.result), ResultCode::Success);
        (uids(&found), view_of(&found))
    };
    let offset = |offset, count| VlvTarget::Offset { offset, count };
    assert_eq!(view(0, 2, offset(1, 0)), ("c1 c4 c7".into(), (1, 9, 0)));
    assert_eq!(view(1, 1, offset(5, 0)), ("c2 c5 c8".into(), (5, 9, 0)));
    assert_eq!(view(9, 9, offset(9, 9)).1, (9, 9, 0));
    assert_eq!(view(0, 0, offset(50, 100)), ("c2".into(), (4, 9, 0)));
    assert_eq!(
        view(1, 0, VlvTarget::AtLeast(b"MIES")),
        ("c7 c2".into(), (4, 9, 0))
    );
    assert_eq!(
        view(1, 0, VlvTarget::AtLeast(b"zz")),
        ("c6".into(), (10, 9, 0))
    );
    let outside = world.search(&root, &viewed(by_name, 0, 0, offset(10, 0)));
    assert_eq!(code(&outside.result), ResultCode::Unassigned(76));
    assert_eq!(view_of(&outside), (0, 9, 61));
    let unsorted = asked(TOP, Scope::Subtree, "(uid=c*)", &["1.1"]);
    let unsorted = world.search(&root, &viewed(unsorted, 0, 0, offset(1, 0)));
    assert_eq!(code(&unsorted.result), ResultCode::Unassigned(76));
    assert_eq!(view_of(&unsorted), (0, 0, 60));
}

#[test]
fn hidden_values_do_not_affect_the_order() {
    let world = World::with(|options| {
        options.access = vec![
            "access to attrs=sn by * none".into(),
            "access to * by * read".into(),
        ];
    });
    crowd(&world, 6);
    let asker = world.user(TOP);
    let found = world.search(&asker, &sorted(&[key("sn", TEXT, false)], true));
    assert_eq!(uids(&found), "c0 c1 c2 c3 c4 c5");
}

#[test]
fn matched_values_returns_only_matching_values() {
    let world = World::new();
    crowd(&world, 1);
    let mut asked = asked(TOP, Scope::Subtree, "(uid=c0)", &[]);
    let values = MatchedValues::encode_text("((mail=z*)(sn=zorn))").expect("a filter");
    asked
        .controls
        .push((oid::MATCHED_VALUES, true, Some(values)));
    let found = world.search(&world.root(), &asked);
    let entry = &found.entries[0];
    assert_eq!(entry.names(), ["mail", "sn"]);
    assert_eq!(entry.get("mail"), ["z@x"]);
}

#[test]
fn subentries_are_returned_on_request() {
    let world = World::new();
    world.load(&format!(
        "dn: cn=policy,{TOP}\nobjectClass: subentry\ncn: policy\nsubtreeSpecification: {{}}"
    ));
    let found = |scope, visible: Option<bool>| {
        let base = if scope == Scope::Base {
            format!("cn=policy,{TOP}")
        } else {
            TOP.to_owned()
        };
        let mut asked = asked(&base, scope, "(objectClass=*)", &["1.1"]);
        if let Some(visible) = visible {
            let value = Subentries { visible }.encode();
            asked.controls.push((oid::SUBENTRIES, true, Some(value)));
        }
        world.search(&world.root(), &asked).entries.len()
    };
    assert_eq!(
        (found(Scope::Subtree, None), found(Scope::Base, None)),
        (6, 1)
    );
    assert_eq!(
        (
            found(Scope::Subtree, Some(true)),
            found(Scope::Base, Some(true))
        ),
        (1, 1)
    );
    assert_eq!(
        (
            found(Scope::Subtree, Some(false)),
            found(Scope::Base, Some(false))
        ),
        (6, 0)
    );
}
