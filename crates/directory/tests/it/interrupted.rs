//! Searches that are interrupted at every step, parked at some, while the directory changes under
//! them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fulgurite_directory::{Progress, Quantum};
use fulgurite_ldap::control::{SortKey, SortRequest};
use fulgurite_ldap::{Deref, Request, ResultCode, Scope, oid};

use crate::support::{Asked, PEOPLE, SearchAnswer, TOP, World, asked, code, decode, found};

/// Runs a search with steps of one candidate, parking it as told.
fn interrupted(
    world: &World,
    asked: &Asked,
    mut between: impl FnMut(usize) -> bool,
) -> SearchAnswer {
    let pdu = asked.pdu();
    let message = decode(&pdu);
    let Request::Search(request) = &message.request else {
        unreachable!("a search was encoded")
    };
    let quantum = Quantum {
        candidates_max: 1,
        bytes_max: 1,
    };
    let root = world.root();
    let directory = &world.directory;
    let mut task = directory.begin_search(&root, message.id, request, &message.controls);
    let mut out = Vec::new();
    for step in 0.. {
        assert!(step < 20_000, "a search ends");
        if task.advance(&mut out, quantum) == Progress::Done {
            break;
        }
        if between(step) {
            task.park();
        }
    }
    found(&out)
}

/// Entries that stay and others that come, go and move.
fn crowd(world: &World) {
    for number in 0..25 {
        add(world, &format!("stays{number}"));
        add(world, &format!("moves{number}"));
    }
    world.load(&format!(
        "dn: cn=alias,{TOP}\nobjectClass: alias\nobjectClass: extensibleObject\ncn: alias\naliasedObjectName: {PEOPLE}"
    ));
}

fn add(world: &World, uid: &str) {
    let dn = format!("uid={uid},{PEOPLE}");
    let attributes = [
        ("objectClass", "inetOrgPerson"),
        ("uid", uid),
        ("cn", "Crowd"),
        ("sn", uid),
    ];
    let result = world.add(&world.root(), &dn, &attributes);
    assert_eq!(code(&result), ResultCode::Success, "{dn}");
}

/// A change that touches none of those that stay.
fn change(world: &World, step: usize) {
    let number = step * 7 % 25;
    let dn = format!("uid=moves{number},{PEOPLE}");
    match step % 3 {
        0 => drop(world.delete(&world.root(), &dn)),
        1 => add(world, &format!("comes{step}")),
        _ => drop(world.rename(&world.root(), &dn, &format!("cn=moved{step}"), false, None)),
    }
}

#[test]
fn unchanged_entries_are_returned_exactly_once() {
    let order = SortRequest {
        keys: vec![SortKey {
            attribute: b"sn",
            rule: Some(b"caseIgnoreOrderingMatch"),
            reverse: true,
        }],
    };
    let filters = [
        "(sn=*)",
        "(objectClass=person)",
        "(|(sn=stays*)(cn=nobody))",
        "(cn=Crowd)",
    ];
    for (round, filter) in filters.iter().enumerate() {
        for kind in ["plain", "sorted", "aliased"] {
            let world = World::new();
            crowd(&world);
            let mut asked = asked(PEOPLE, Scope::Subtree, filter, &["sn"]);
            match kind {
                "sorted" => {
                    let control = (oid::SORT_REQUEST, true, Some(order.encode()));
                    asked.controls.push(control);
                }
                "aliased" => {
                    asked.base = TOP.to_owned();
                    asked.deref = Deref::Always;
                }
                _ => {}
            }
            let got = interrupted(&world, &asked, |step| {
                if step % 4 == 0 {
                    change(&world, step);
                }
                (step + round) % 3 == 0
            });
            assert_eq!(code(&got.result), ResultCode::Success);
            let names = got.dns();
            let once: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(once.len(), names.len(), "{kind} {filter}: nothing twice");
            for number in 0..25 {
                let dn = format!("uid=stays{number},{PEOPLE}");
                assert!(once.contains(dn.as_str()), "{kind} {filter}: {dn}");
            }
            if kind == "sorted" {
                let keys = got
                    .entries
                    .iter()
                    .map(|entry| entry.get("sn")[0].to_lowercase());
                let keys: Vec<String> = keys.collect();
                assert!(keys.is_sorted_by(|a, b| a >= b), "{filter}: {keys:?}");
            }
        }
    }
}

#[test]
fn entries_moved_out_of_scope_are_not_found_after_parking() {
    let world = World::new();
    crowd(&world);
    let asked = asked(PEOPLE, Scope::One, "(sn=moves*)", &["1.1"]);
    let got = interrupted(&world, &asked, |step| {
        if step == 0 {
            for number in 0..25 {
                let dn = format!("uid=moves{number},{PEOPLE}");
                let result = world.rename(
                    &world.root(),
                    &dn,
                    &format!("uid=moves{number}"),
                    false,
                    Some("ou=groups,dc=example,dc=com"),
                );
                assert_eq!(code(&result), ResultCode::Success);
            }
            return true;
        }
        false
    });
    assert!(got.entries.len() <= 1, "{:?}", got.dns());
}

#[test]
fn a_filter_of_thousands_of_items_works_in_small_steps() {
    let world = World::new();
    crowd(&world);
    let items: String = (0..20_000)
        .map(|number| format!("(uid=nobody{number})"))
        .collect();
    for filter in [
        format!("(|(uid=stays7){items})"),
        format!("(&(uid=stays7)(!(|{items})))"),
    ] {
        let asked = asked(TOP, Scope::Subtree, &filter, &["1.1"]);
        let pdu = asked.pdu();
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!("a search was encoded")
        };
        let root = world.root();
        let directory = &world.directory;
        let mut longest = Duration::ZERO;
        let mut since = Instant::now();
        let mut task = directory.begin_search(&root, message.id, request, &message.controls);
        let mut out = Vec::new();
        let mut steps = 0;
        loop {
            longest = longest.max(since.elapsed());
            since = Instant::now();
            steps += 1;
            if task.advance(&mut out, Quantum::default()) == Progress::Done {
                break;
            }
        }
        println!("{steps} steps, the longest took {longest:?}");
        assert_eq!(found(&out).dns(), [format!("uid=stays7,{PEOPLE}")]);
        assert!(steps > 20, "{steps} steps");
    }
}

/// A long search moves on to the newest snapshot, so updates can reuse the pages they free.
#[test]
fn a_search_takes_a_new_snapshot_after_the_candidate_limit() {
    let seen = |snapshot_candidates_max| {
        let world = World::with(|options| {
            options.databases[0].snapshot_candidates_max = snapshot_candidates_max;
        });
        crowd(&world);
        let people = asked(PEOPLE, Scope::One, "(objectClass=person)", &["1.1"]);
        let found = interrupted(&world, &people, |step| {
            if step == 3 {
                let last = format!("uid=moves24,{PEOPLE}");
                assert!(world.delete(&world.root(), &last).is_success());
            }
            false
        });
        found.dns().iter().any(|dn| dn.starts_with("uid=moves24,"))
    };
    assert!(seen(0) && seen(1_000_000), "one snapshot");
    assert!(!seen(10));
}
