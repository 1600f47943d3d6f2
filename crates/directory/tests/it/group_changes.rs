//! Searches by group that are parked while members change their groups.

use ModifyOperation::{Add, Delete};
use fulgurite_directory::{Progress, Quantum};
use fulgurite_ldap::{ModifyOperation, Request, Scope};

use crate::memberof::{assert_ok, group, world};
use crate::support::{Asked, JANE, PEOPLE, TOP, World, asked, decode, found};

/// Runs a search with steps of one candidate, and parks it after one of them for a change. Returns
/// the names found; `None` if the search ended before.
fn changed_meanwhile(
    world: &World,
    asked: &Asked,
    at: usize,
    change: impl FnOnce(),
) -> Option<Vec<String>> {
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
    let mut task = directory.begin_search(&root, 7, request, &message.controls);
    let mut out = Vec::new();
    for _ in 0..=at {
        if task.advance(&mut out, quantum) == Progress::Done {
            return None;
        }
    }
    task.park();
    change();
    for _ in 0..10_000 {
        if task.advance(&mut out, quantum) == Progress::Done {
            return Some(found(&out).dns().iter().map(ToString::to_string).collect());
        }
    }
    unreachable!("a search ends")
}

#[test]
fn members_that_change_groups_during_a_search_are_found() {
    let world = world(&[]);
    let root = world.root();
    for number in 0..30 {
        let dn = format!("uid=m{number},{PEOPLE}");
        let person = [("objectClass", "inetOrgPerson"), ("cn", "M"), ("sn", "M")];
        assert_ok(&world.add(&root, &dn, &person));
    }
    let others = ["uid=m1,dc=x", "uid=m2,dc=x", "uid=m3,dc=x"];
    let a = group(&world, "a", &others);
    let b = group(&world, "b", &others[..1]);
    let modify = |dn: &str, operation| {
        assert_ok(&world.modify(&root, dn, &[(operation, "member", &[JANE])]));
    };
    let begins = |inside: &str| modify(inside, Add);
    let ends = |inside: &str| modify(inside, Delete);
    let ask = |filter: &str, at, change: &dyn Fn()| {
        let asked = asked(PEOPLE, Scope::Subtree, filter, &["1.1"]);
        let names = changed_meanwhile(&world, &asked, at, change)?;
        let context = format!("{filter} changed after step {at}");
        assert!(
            names.iter().any(|name| name == JANE),
            "{context}: {names:?}"
        );
        Some(())
    };
    // She is in one of the groups all the time.
    for (from, to) in [(&a, &b), (&b, &a)] {
        let either = format!("(|(memberOf={a})(memberOf={b}))");
        for at in 0.. {
            begins(from);
            let moved = ask(&either, at, &|| {
                begins(to);
                ends(from);
            });
            ends(if moved.is_some() { to } else { from });
            if moved.is_none() {
                assert!(at > 5, "members are read in steps");
                break;
            }
        }
        // She is never in both.
        let both = format!("(!(&(memberOf={a})(memberOf={b})))");
        for at in 0..20 {
            begins(from);
            let moved = ask(&both, at, &|| {
                ends(from);
                begins(to);
            });
            ends(if moved.is_some() { to } else { from });
        }
    }
    // She moves to a group that is made during the search.
    for at in 0.. {
        begins(&a);
        let new = format!("cn=new{at},{TOP}");
        let moved = ask("(memberOf=*)", at, &|| {
            group(&world, &format!("new{at}"), &[JANE]);
            ends(&a);
        });
        if moved.is_none() {
            break;
        }
        assert_ok(&world.delete(&root, &new));
    }
}
