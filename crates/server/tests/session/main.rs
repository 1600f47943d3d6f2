//! The protocol of one connection, in bytes: no socket, no clock, no thread.

#[path = "../common/mod.rs"]
mod common;
mod connection;
mod gated_reads;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::stub::{Stub, added};
use common::{abandon, add, bind, cancel, compare, extended, search, unbind, who_am_i};
use connection::Connection;
use fulgurite_directory::{Connection as Facts, EndPoint};
use fulgurite_ldap::{MessageId, ResultCode};
use fulgurite_server::{
    BindDelays, IdentityQuotas, Job, OperationLog, Session, SessionLimits, Turn,
};

#[test]
fn pipelined_requests_are_answered_in_one_batch() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let requests: Vec<_> = (1..=50).map(|id| search(id, "0")).collect();
    connection.send(&requests);
    let (turn, responses) = connection.turn();
    assert_eq!(turn, Turn::Waits);
    let expected: Vec<_> = (1..=50).map(|id| format!("{id} search 0")).collect();
    assert_eq!(responses, expected);
}

#[test]
fn requests_may_arrive_byte_by_byte() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let mut responses = Vec::new();
    for byte in [search(1, "1"), compare(2)].concat() {
        connection.session.receive(&[byte]);
        responses.extend(connection.settle());
    }
    assert_eq!(responses, ["1 entry", "1 search 0", "2 compare 0"]);
}

#[test]
fn running_searches_take_turns() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let responses = connection.talk(&[search(1, "4"), search(2, "4"), compare(3)]);
    assert_eq!(
        responses[2], "3 compare 0",
        "a long search does not hold up a short request"
    );
    let first_done = responses
        .iter()
        .position(|response| response == "1 search 0")
        .unwrap();
    let before = &responses[..first_done];
    assert!(
        before
            .iter()
            .filter(|response| *response == "2 entry")
            .count()
            >= 3,
        "{responses:?}"
    );
}

#[test]
fn an_abandoned_search_stops_within_a_turn() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "1000000")]);
    connection.turn();
    connection.turn();
    assert_eq!(stub.searches.load(Ordering::Relaxed), 1);
    connection.send(&[abandon(2, 1)]);
    let (turn, responses) = connection.turn();
    assert_eq!((turn, responses), (Turn::Waits, Vec::new()));
    assert_eq!(stub.searches.load(Ordering::Relaxed), 0);
    assert_eq!(
        connection.talk(&[search(1, "0")]),
        ["1 search 0"],
        "its id is free again"
    );
}

#[test]
fn reads_do_not_wait_for_updates() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let responses = connection.talk(&[search(1, "0"), add(2), add(3), search(4, "0"), compare(5)]);
    assert_eq!(responses, ["1 search 0", "4 search 0", "5 compare 0"]);
    assert_eq!(
        connection.jobs.len(),
        2,
        "updates do not wait for each other"
    );
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["2 add 0", "3 add 0"]);
}

#[test]
fn an_abandon_reaches_waiting_requests() {
    let stub = Stub::default();
    let limits = SessionLimits {
        searches_running_max: 1,
        ..SessionLimits::default()
    };
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "3"), search(2, "1"), search(3, "1")]);
    connection.turn();
    let rest = connection.talk(&[abandon(4, 2)]);
    assert_eq!(rest.last().map(String::as_str), Some("3 search 0"));
    assert!(!rest.iter().any(|response| response.starts_with("2 ")));
}

#[test]
fn the_answer_of_a_bind_is_held_after_failed_ones() {
    let stub = Stub::default();
    let limits = SessionLimits {
        bind_delay_max: Duration::from_millis(400),
        ..SessionLimits::default()
    };
    let delays = BindDelays::default();
    let facts = Facts {
        peer: EndPoint::Ip("192.0.2.1:4000".parse().unwrap()),
        ..Facts::default()
    };
    let limits = Arc::new(limits);
    let session = Session::new(&stub, limits, None, Arc::new(facts)).with_bind_delays(&delays);
    let mut connection = Connection {
        stub: &stub,
        session,
        received: Vec::new(),
        jobs: Vec::new(),
    };
    // An address has 20 failures free.
    for id in 1..=20 {
        let answers = connection.talk(&[bind(id, "anna", "wrong")]);
        assert_eq!(answers, [format!("{id} bind 49")]);
    }
    for (id, name, milliseconds) in [(21, "anna", 250), (23, "slow", 400)] {
        let answers = connection.talk(&[bind(id, name, "wrong"), who_am_i(id + 1)]);
        assert_eq!(answers, [""; 0], "the request behind it waits as well");
        assert!(!connection.session.is_idle());
        if name == "slow" {
            connection.finish_jobs();
            assert_eq!(connection.settle(), [""; 0]);
        }
        let [Job::HoldBind(_, delay)] = connection.jobs[..] else {
            panic!("no answer is held");
        };
        assert_eq!(delay, Duration::from_millis(milliseconds));
        connection.finish_jobs();
        let answers = connection.settle();
        assert_eq!(answers[0], format!("{id} bind 49"));
        assert_eq!(answers.len(), 2);
    }
    // A client that goes meanwhile ends its connection with the answer.
    connection.talk(&[bind(25, "anna", "wrong"), unbind(26)]);
    connection.session.end_of_input();
    assert_eq!(connection.turn().0, Turn::Waits);
    connection.finish_jobs();
    assert_eq!(connection.turn().0, Turn::Closing);
}

#[test]
fn an_update_is_withdrawn_until_the_writer_begins() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.talk(&[add(1), add(2), add(3), add(4)]);
    let begun = match &connection.jobs[2] {
        Job::Update(_, token, _) => token.begin(),
        Job::CheckPassword(..) | Job::HoldBind(..) | Job::AwaitState(..) => false,
    };
    assert!(begun, "the writer begins with the third");
    let stopped = [abandon(5, 1), cancel(6, 2), cancel(7, 3), cancel(8, 9)];
    assert_eq!(
        connection.talk(&stopped),
        [
            "2 add 118",
            "6 extended 0",
            "7 extended 120",
            "8 extended 119"
        ]
    );
    connection.jobs.remove(2);
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["4 add 0"]);
    connection.session.updated(3, &added(3));
    assert_eq!(connection.settle(), ["3 add 0"]);
    assert!(connection.session.is_idle());
}

#[test]
fn a_cancelled_search_stops_within_a_turn_and_is_answered() {
    let stub = Stub::default();
    let limits = SessionLimits {
        searches_running_max: 1,
        ..SessionLimits::default()
    };
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "1000000"), search(2, "1")]);
    connection.turn();
    assert_eq!(stub.searches.load(Ordering::Relaxed), 1);
    connection.send(&[cancel(3, 2), cancel(4, 1)]);
    let (_, responses) = connection.turn();
    assert_eq!(
        responses,
        [
            "2 search 118",
            "3 extended 0",
            "1 search 118",
            "4 extended 0"
        ]
    );
    assert_eq!(stub.searches.load(Ordering::Relaxed), 0);
}

#[test]
fn a_bind_cannot_be_cancelled() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.talk(&[add(1), bind(2, "ada", "right")]);
    // Requests after a bind are not read before it is answered.
    assert_eq!(connection.talk(&[cancel(3, 2)]), [""; 0]);
    connection.finish_jobs();
    let expected = ["1 add 0", "2 bind 0", "3 extended 119"];
    assert_eq!(connection.settle(), expected);
}

#[test]
fn an_extended_operation_may_hash_and_then_update() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let change = |id| extended(id, fulgurite_ldap::oid::PASSWORD_MODIFY, None);
    let answered = connection.talk(&[change(1), change(2), change(3), who_am_i(4)]);
    assert_eq!(answered, ["4 whoami "]);
    assert!(matches!(
        connection.jobs[..],
        [Job::CheckPassword(..), Job::CheckPassword(..), _]
    ));
    assert_eq!(connection.talk(&[abandon(5, 2)]), [""; 0]);
    connection.finish_jobs();
    assert_eq!(connection.settle(), [""; 0]);
    assert!(matches!(
        connection.jobs[..],
        [Job::Update(1, ..), Job::Update(3, ..)]
    ));
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["1 add 0", "3 add 0"]);
}

#[test]
fn a_bind_is_a_barrier() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let requests = [
        search(1, "3"),
        add(2),
        bind(3, "slow ada", "right"),
        who_am_i(4),
    ];
    // The first quantum of a search runs at once; the rest is nobody's any more.
    assert_eq!(connection.talk(&requests), ["1 entry"]);
    assert_eq!(stub.searches.load(Ordering::Relaxed), 0);
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["2 add 0"]);
    assert!(matches!(connection.jobs[..], [Job::CheckPassword(..)]));
    assert_eq!(
        connection.settle(),
        [""; 0],
        "nothing happens during the bind"
    );
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["3 bind 0", "4 whoami slow ada"]);
}

#[test]
fn a_failed_bind_leaves_the_connection_anonymous() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let requests = [
        bind(1, "ada", "right"),
        who_am_i(2),
        bind(3, "bob", "wrong"),
        who_am_i(4),
    ];
    let expected = ["1 bind 0", "2 whoami ada", "3 bind 49", "4 whoami "];
    assert_eq!(connection.talk(&requests), expected);
}

#[test]
fn a_full_hashing_pool_is_answered_busy() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.talk(&[bind(1, "slow", "right"), who_am_i(2)]);
    let Some(Job::CheckPassword(number, _)) = connection.jobs.pop() else {
        panic!("the password goes to the hashing pool");
    };
    connection.session.password_checked(number, None);
    assert_eq!(connection.settle(), ["1 bind 51", "2 whoami "]);
}

#[test]
fn an_id_in_use_is_a_protocol_error() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let responses = connection.talk(&[
        search(1, "2"),
        search(1, "5"),
        add(2),
        add(2),
        search(2, "0"),
    ]);
    let done: Vec<_> = responses
        .iter()
        .filter(|text| !text.ends_with("entry"))
        .collect();
    assert_eq!(done, ["1 search 2", "2 add 2", "2 search 2", "1 search 0"]);
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["2 add 0"]);
}

#[test]
fn bytes_that_are_not_ldap_get_a_notice_of_disconnection() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    for garbage in [
        b"GET / HTTP/1.1\r\n".as_slice(),
        &[0x30, 0x80, 0x00, 0x00],
        &[0x30, 0x05, 0x02, 0x01, 0x00, 0x42, 0x00],
        &[0x30, 0x05, 0x02, 0x01, 0x01, 0x5f, 0x00],
        &[
            0x30, 0x0c, 0x02, 0x01, 0x01, 0x63, 0x7f, 0x04, 0x00, 0x0a, 0x01, 0x00, 0x0a, 0x01,
        ],
    ] {
        let mut connection = Connection::new(&stub, &limits);
        assert_eq!(
            connection.talk(&[garbage.to_vec()]),
            ["0 notice 2"],
            "{garbage:x?}"
        );
        assert_eq!(connection.turn().0, Turn::Closing);
        assert!(connection.session.sent_notice() && !connection.session.wants_input());
    }
}

#[test]
fn a_malformed_body_is_answered_on_its_id() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let responses = connection.talk(&[search_of_wrong_scope(7), search(8, "0")]);
    assert_eq!(responses, ["7 search 2", "8 search 0"]);
}

#[test]
fn a_request_that_waits_is_decoded_when_it_begins() {
    let stub = Stub::default();
    let limits = SessionLimits {
        searches_running_max: 1,
        ..SessionLimits::default()
    };
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "1000000"), search_of_wrong_scope(2), who_am_i(3)]);
    let (_, responses) = connection.turn();
    let answered = responses.iter().filter(|line| !line.starts_with("1 "));
    assert_eq!(answered.collect::<Vec<_>>(), ["3 whoami "]);
    connection.send(&[abandon(4, 1)]);
    assert_eq!(connection.settle(), ["2 search 2"]);
}

/// A search with a scope that does not exist.
fn search_of_wrong_scope(id: MessageId) -> Vec<u8> {
    let mut pdu = search(id, "0");
    let scope = pdu.windows(3).position(|bytes| bytes == [0x0a, 0x01, 0x02]);
    pdu[scope.unwrap() + 2] = 9;
    pdu
}

#[test]
fn the_size_limit_grows_with_a_bind() {
    let stub = Stub::default();
    let limits = SessionLimits {
        request_bytes_max_anonymous: 100,
        request_bytes_max_authenticated: 1000,
        ..SessionLimits::default()
    };
    let large = |id| bind(id, &"x".repeat(300), "right");
    let mut connection = Connection::new(&stub, &limits);
    assert_eq!(connection.talk(&[large(1)]), ["0 notice 2"]);
    let mut connection = Connection::new(&stub, &limits);
    let responses = connection.talk(&[bind(1, "slow", "right"), large(2)]);
    assert_eq!(
        responses, [""; 0],
        "the larger request is judged when the bind is answered"
    );
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["1 bind 0", "2 bind 0"]);
    let huge = vec![0x30, 0x82, 0x04, 0x00];
    assert_eq!(connection.talk(&[huge]), ["0 notice 2"]);
}

#[test]
fn a_client_that_does_not_read_pins_little() {
    let stub = Stub::default();
    let limits = SessionLimits {
        output_bytes_max: 10_000,
        ..SessionLimits::default()
    };
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "1000/1000"), search(2, "1000/1000"), compare(3)]);
    let mut turn = Turn::More;
    for _ in 0..100 {
        turn = connection.session.turn();
    }
    assert_eq!(turn, Turn::OutputFull);
    assert!(connection.session.unsent().len() < 12_000);
    assert!(!connection.session.wants_input());
    connection.session.park();
    assert_eq!(stub.parked.load(Ordering::Relaxed), 2);
    let responses = connection.settle();
    assert_eq!(responses.len(), 2003, "it gets everything once it reads");
}

#[test]
fn a_connection_at_its_limit_is_not_read_from() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    let requests: Vec<_> = (1..=150).map(add).collect();
    connection.talk(&requests);
    assert_eq!(connection.jobs.len(), 100);
    assert!(!connection.session.wants_input());
    connection.finish_jobs();
    let answered = connection.settle();
    assert_eq!(answered.len(), 100);
    assert_eq!(connection.jobs.len(), 50);
    assert!(connection.session.wants_input());
}

#[test]
fn searches_beyond_the_running_limit_wait() {
    let stub = Stub::default();
    let limits = SessionLimits {
        searches_running_max: 3,
        ..SessionLimits::default()
    };
    let mut connection = Connection::new(&stub, &limits);
    let requests: Vec<_> = (1..=10).map(|id| search(id, "5")).collect();
    connection.send(&requests);
    connection.turn();
    assert_eq!(stub.searches.load(Ordering::Relaxed), 3);
    assert_eq!(
        connection
            .settle()
            .iter()
            .filter(|text| text.ends_with("search 0"))
            .count(),
        10
    );
}

#[test]
fn unbind_ends_the_connection_after_begun_updates() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "1000000"), add(2), unbind(3), compare(4)]);
    let (turn, _) = connection.turn();
    assert_eq!(turn, Turn::Waits);
    assert_eq!(stub.searches.load(Ordering::Relaxed), 0);
    connection.finish_jobs();
    let (turn, responses) = connection.turn();
    assert_eq!(
        (turn, responses),
        (Turn::Closing, vec!["2 add 0".to_owned()])
    );
    assert!(!connection.session.sent_notice());
}

#[test]
fn the_end_of_input_abandons_searches() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "1000000")]);
    connection.turn();
    connection.session.end_of_input();
    assert_eq!(connection.turn().0, Turn::Closing);
    assert_eq!(stub.searches.load(Ordering::Relaxed), 0);
}

#[test]
fn draining_finishes_received_requests() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "300"), add(2), compare(3)]);
    connection.session.drain();
    assert!(!connection.session.wants_input());
    assert_eq!(connection.settle().len(), 302);
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["2 add 0", "0 notice 52"]);
    assert_eq!(connection.turn().0, Turn::Closing);
}

#[test]
fn nothing_follows_a_notice() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.talk(&[add(1)]);
    connection
        .session
        .disconnect(ResultCode::Unavailable, "gone");
    connection.finish_jobs();
    assert_eq!(connection.settle(), ["0 notice 52"]);
}

/// Keeps lines; every look at the clock is a millisecond later.
struct Lines {
    lines: Mutex<Vec<String>>,
    now: Mutex<Instant>,
}

impl OperationLog for Lines {
    fn line(&self, line: &str) {
        self.lines.lock().unwrap().push(line.to_owned());
    }

    fn now(&self) -> Instant {
        let mut now = self.now.lock().unwrap();
        *now += Duration::from_millis(1);
        *now
    }
}

#[test]
fn each_operation_is_one_line() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let log = Lines {
        lines: Mutex::default(),
        now: Mutex::new(Instant::now()),
    };
    let mut connection = Connection::new(&stub, &limits);
    let seventh = fulgurite_directory::Connection {
        id: 7,
        ..Default::default()
    };
    connection.session = Session::new(&stub, Arc::new(limits.clone()), Some(&log), seventh.into());
    connection.talk(&[bind(1, "slow \"a\"", "right"), search(2, "2")]);
    connection.finish_jobs();
    connection.talk(&[add(3), compare(4)]);
    connection.finish_jobs();
    connection.send(&[search(5, "9")]);
    connection.turn();
    connection.turn();
    connection.talk(&[abandon(6, 5), unbind(7)]);
    assert_eq!(
        *log.lines.lock().unwrap(),
        [
            r#"conn=7 op=0 BIND dn="slow \"a\"" method=128 RESULT tag=97 err=0 qtime=0.000000 etime=0.001000 text="""#,
            r#"conn=7 op=3 CMP dn="cn=x" attr="cn" RESULT tag=111 err=0 qtime=0.000000 etime=0.001000 text="""#,
            r#"conn=7 op=1 SRCH base="2" scope=2 deref=0 filter="(objectClass=*)" RESULT tag=101 err=0 qtime=0.000000 etime=0.004000 nentries=2 text="""#,
            r#"conn=7 op=2 ADD dn="cn=new" RESULT tag=105 err=0 qtime=0.000000 etime=0.004000 text="""#,
            "conn=7 op=5 ABANDON msg=5",
            r#"conn=7 op=4 SRCH base="9" scope=2 deref=0 filter="(objectClass=*)" ABANDONED nentries=3"#,
            "conn=7 op=6 UNBIND",
        ]
    );
}

#[test]
fn the_log_contains_session_tracking() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let log = Lines {
        lines: Mutex::default(),
        now: Mutex::new(Instant::now()),
    };
    let mut connection = Connection::new(&stub, &limits);
    connection.session = Session::new(&stub, Arc::new(limits.clone()), Some(&log), Arc::default());
    let tracking = fulgurite_ldap::control::SessionTracking {
        source_ip: b"192.0.2.7",
        source_name: b"app\nconn=1",
        format: b"1.3.6.1.4.1.21008.108.63.1.3",
        identifier: b"ada",
    };
    let value = tracking.encode();
    let control =
        fulgurite_ldap::Control::with_value(fulgurite_ldap::oid::SESSION_TRACKING, false, &value);
    let plain = compare(1);
    let limits = fulgurite_ldap::Limits::default();
    let message = fulgurite_ldap::Message::decode(&plain, &limits).unwrap();
    let mut tracked = Vec::new();
    fulgurite_ldap::encode::request(&mut tracked, 1, &message.request, &[control]);
    connection.talk(&[tracked]);
    let lines = log.lines.lock().unwrap();
    let expected = r#"op=0 [IP="192.0.2.7" NAME="app\nconn=1" ID="ada"] CMP dn="cn=x""#;
    assert!(lines[0].contains(expected), "{lines:?}");
}

/// However much a client has asked for: its turn is no longer than another's.
#[test]
fn a_turn_is_the_same_work_for_long_pipelines_as_for_one_search() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    // Each looks at 300 candidates and finds nothing.
    let requests: Vec<_> = (1..=90).map(|id| search(id, "0/0/300")).collect();
    connection.send(&requests);
    let (mut turns, mut answered) = (0, 0);
    while answered < requests.len() {
        let before = stub.worked.load(Ordering::Relaxed);
        let (turn, responses) = connection.turn();
        let worked = stub.worked.load(Ordering::Relaxed) - before;
        assert!(worked <= 1024, "a turn of {worked}");
        assert!(connection.session.worked() >= worked);
        assert!(!responses.is_empty(), "a turn without an answer");
        assert!(turn == Turn::More || answered + responses.len() == requests.len());
        answered += responses.len();
        turns += 1;
    }
    assert_eq!(turns, 90_usize.div_ceil(4), "four of them use a turn up");
}

/// A search that takes long and the short ones sent behind it share their connection's turns.
#[test]
fn short_searches_do_not_block_a_long_one_of_their_connection() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let mut connection = Connection::new(&stub, &limits);
    connection.send(&[search(1, "10/1/512")]);
    let (_, mut responses) = connection.turn();
    let short: Vec<_> = (2..=80).map(|id| search(id, "0/0/100")).collect();
    connection.send(&short);
    while !responses.contains(&"1 search 0".to_owned()) {
        responses.extend(connection.turn().1);
    }
    let before = responses.iter().filter(|r| r.ends_with("search 0")).count() - 1;
    assert!(
        (20..=75).contains(&before),
        "{before} short ones before the long one's end"
    );
}

#[test]
fn an_identity_has_one_quota_for_all_its_connections() {
    let (stub, limits) = (Stub::default(), SessionLimits::default());
    let identities = IdentityQuotas::new(5);
    let connect = |name: Option<&str>| {
        let mut connection = Connection::new(&stub, &limits);
        connection.session = connection.session.with_quotas(&identities);
        if let Some(name) = name {
            assert_eq!(connection.talk(&[bind(1, name, "right")]), ["1 bind 0"]);
        }
        connection
    };
    let mut one = connect(Some("cn=ada"));
    let mut two = connect(Some("cn=ada"));
    let mut other = connect(Some("cn=eve"));
    let mut nobody = connect(None);
    let updates: Vec<_> = (2..=5).map(add).collect();
    assert!(one.talk(&updates).is_empty());
    assert_eq!(
        two.talk(&[add(2), add(3), search(4, "0")]),
        ["3 add 51", "4 search 51"]
    );
    assert!(other.talk(&updates).is_empty());
    assert!(
        nobody
            .talk(&[updates, vec![add(6), add(7)]].concat())
            .is_empty()
    );
    one.finish_jobs();
    one.settle();
    assert_eq!(two.talk(&[search(5, "0")]), ["5 search 0"]);
    // A bind is not refused, because the new identity has nothing outstanding.
    drop(one);
    two.finish_jobs();
    two.settle();
    assert_eq!(two.talk(&[bind(6, "cn=eve", "right")]), ["6 bind 0"]);
    assert_eq!(two.talk(&[add(7), search(8, "0")]), ["8 search 51"]);
}
