//! Reads that a handler decides about before they begin.

use std::sync::atomic::Ordering;

use fulgurite_ldap::{Control, LdapResult, Limits, Message, ResultCode, encode};
use fulgurite_server::{Job, ReadGate, SessionLimits, StateWish};

use crate::common::stub::Stub;
use crate::common::{abandon, bind, compare, search};
use crate::connection::Connection;

/// A handler that decides about all reads.
fn gated() -> Stub {
    Stub {
        gates_reads: true,
        ..Stub::default()
    }
}

/// The same request with a control that a directory would ignore.
fn with_control(request: &[u8], id: u32) -> Vec<u8> {
    let message = Message::decode(request, &Limits::default()).unwrap();
    let mut out = Vec::new();
    let control = Control::with_value("1.3.6.1.4.1.4203.666.5.99", false, b"x");
    encode::request(&mut out, id, &message.request, &[control]);
    out
}

#[test]
fn a_read_waits_for_its_state_and_others_do_not() {
    let (stub, limits) = (gated(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let wish = StateWish {
        not_before: Some(7),
        tells: true,
    };
    let gate = |gate| *stub.gate.lock().unwrap() = Some(gate);
    gate(ReadGate::Waits(wish));
    assert_eq!(
        connection.talk(&[search(1, "2"), compare(2), search(3, "1")]),
        [""; 0]
    );
    let waits = connection.jobs.iter().map(|job| match job {
        Job::AwaitState(number, asked) if *asked == wish => *number,
        _ => panic!("a wait for the state"),
    });
    let [first, second, third] = waits.collect::<Vec<_>>()[..] else {
        panic!("three waits");
    };
    connection.jobs.clear();
    gate(ReadGate::Open);
    assert_eq!(connection.talk(&[search(4, "0")]), ["4 search 0"]);
    assert_eq!(stub.told.load(Ordering::Relaxed), 0);
    connection.session.state_reached(second, Ok(()));
    assert_eq!(connection.settle(), ["2 compare 0"]);
    let late = LdapResult::new(ResultCode::Unavailable);
    connection.session.state_reached(third, Err(late.clone()));
    connection.session.state_reached(first, Ok(()));
    let mut responses = connection.settle();
    responses.sort();
    assert_eq!(
        responses,
        ["1 entry", "1 entry", "1 search 0", "3 search 52"]
    );
    assert_eq!(stub.told.load(Ordering::Relaxed), 2);
    assert!(connection.session.is_idle());
    // A second end of the same wait, and that of an abandoned read, have no effect.
    connection.session.state_reached(first, Ok(()));
    gate(ReadGate::Waits(wish));
    assert_eq!(connection.talk(&[search(5, "1"), abandon(6, 5)]), [""; 0]);
    let Some(Job::AwaitState(number, _)) = connection.jobs.pop() else {
        panic!("a wait for the state");
    };
    connection.session.state_reached(number, Ok(()));
    assert_eq!(connection.settle(), [""; 0]);
    // A bind drops reads that wait, as it drops searches.
    connection.talk(&[search(7, "1")]);
    assert_eq!(connection.talk(&[bind(8, "ada", "right")]), ["8 bind 0"]);
    gate(ReadGate::Refused(late));
    assert_eq!(connection.talk(&[compare(9)]), ["9 compare 52"]);
}

/// Only a node of a cluster pays for the question whether a read may begin.
#[test]
fn a_server_of_no_cluster_decides_about_reads_with_controls_alone() {
    let limits = SessionLimits::default();
    let refused = ReadGate::Refused(LdapResult::new(ResultCode::Unavailable));
    let asked = [
        search(1, "0"),
        compare(2),
        with_control(&search(3, "0"), 3),
        with_control(&compare(4), 4),
    ];
    for (gates_reads, expected) in [
        (
            false,
            ["1 search 0", "2 compare 0", "3 search 52", "4 compare 52"],
        ),
        (
            true,
            ["1 search 52", "2 compare 52", "3 search 52", "4 compare 52"],
        ),
    ] {
        let stub = Stub {
            gates_reads,
            ..Stub::default()
        };
        *stub.gate.lock().unwrap() = Some(refused.clone());
        let mut connection = Connection::new(&stub, &limits);
        assert_eq!(connection.talk(&asked), expected, "{gates_reads}");
    }
}
