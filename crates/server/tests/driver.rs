//! The server over real sockets, with a handler of a few lines.

mod common;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::stub::Stub;
use common::{abandon, add, bind, search, take_responses, unbind, who_am_i};
use fulgurite_server::{Server, ServerSettings, SessionLimits, StopHandle, raise_descriptor_limit};

/// Stops the server at the end of a test, also of one that fails.
struct Stopper(StopHandle);

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs a server while `test` talks to it.
fn with_server(stub: &Stub, settings: ServerSettings, test: impl FnOnce(SocketAddr, &StopHandle)) {
    let server = Server::bind(&["ldap://127.0.0.1:0".parse().unwrap()], settings).unwrap();
    let address = server.addresses()[0];
    std::thread::scope(|scope| {
        let stop = Stopper(server.stop_handle());
        let served = scope.spawn(|| server.run(stub));
        test(address, &stop.0);
        drop(stop);
        served.join().unwrap().unwrap();
    });
}

/// A client with a time limit of five seconds.
struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        stream
            .set_write_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        Client {
            stream,
            received: Vec::new(),
        }
    }

    fn send(&mut self, requests: &[Vec<u8>]) {
        self.stream.write_all(&requests.concat()).unwrap();
    }

    /// Returns true if there is something to read.
    fn is_answered(&self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let answered = self.stream.peek(&mut [0]).is_ok();
        self.stream.set_nonblocking(false).unwrap();
        answered
    }

    /// Reads until there are `count` responses, or to the end.
    fn responses(&mut self, count: usize) -> Vec<String> {
        let mut responses = Vec::new();
        let mut buffer = [0; 65536];
        while responses.len() < count {
            let bytes = self.stream.read(&mut buffer).unwrap();
            if bytes == 0 {
                break;
            }
            self.received.extend_from_slice(&buffer[..bytes]);
            responses.extend(take_responses(&mut self.received));
        }
        responses
    }
}

#[test]
fn a_thousand_connections_at_once_are_served() {
    // Both ends of each connection are in this process.
    let descriptors = raise_descriptor_limit().unwrap_or(u64::MAX);
    assert!(
        descriptors > 2100,
        "the hard limit of descriptors is {descriptors}"
    );
    let stub = Stub::default();
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut clients: Vec<_> = (0..1000).map(|_| Client::connect(address)).collect();
        for client in &mut clients {
            client.send(&[search(1, "2")]);
        }
        for client in &mut clients {
            assert_eq!(client.responses(3), ["1 entry", "1 entry", "1 search 0"]);
        }
        for client in clients.iter_mut().rev() {
            client.send(&[bind(2, "slow", "right"), who_am_i(3)]);
        }
        for client in &mut clients {
            assert_eq!(client.responses(2), ["2 bind 0", "3 whoami slow"]);
        }
    });
}

#[test]
fn passwords_beyond_the_queue_are_answered_busy_while_searches_continue() {
    const WAITING: usize = 1024;
    const BEYOND: usize = 20;
    raise_descriptor_limit().unwrap();
    let stub = Stub::default();
    let settings = ServerSettings {
        hashing_threads: 1,
        ..ServerSettings::default()
    };
    with_server(&stub, settings, |address, _| {
        let patience = Instant::now() + Duration::from_secs(30);
        let verifying = stub.verifying.lock().unwrap();
        let mut first = Client::connect(address);
        first.send(&[bind(1, "slow", "right")]);
        // A password that a thread verifies no longer counts as waiting.
        while stub.checks.load(Ordering::Relaxed) == 0 && Instant::now() < patience {
            std::thread::yield_now();
        }
        let clients = 0..WAITING + BEYOND;
        let mut waiting: Vec<_> = clients.map(|_| Client::connect(address)).collect();
        for client in &mut waiting {
            client.send(&[bind(1, "slow", "right")]);
        }
        let mut refused = Vec::new();
        while refused.len() < BEYOND && Instant::now() < patience {
            let (answered, others) = waiting.into_iter().partition(Client::is_answered);
            refused.extend::<Vec<_>>(answered);
            waiting = others;
        }
        assert_eq!(refused.len(), BEYOND);
        for client in &mut refused {
            assert_eq!(client.responses(1), ["1 bind 51"]);
            client.send(&[search(2, "1")]);
            assert_eq!(client.responses(2), ["2 entry", "2 search 0"]);
        }
        drop(verifying);
        assert_eq!(first.responses(1), ["1 bind 0"]);
        for client in waiting.iter_mut().rev() {
            assert_eq!(client.responses(1), ["1 bind 0"]);
        }
    });
}

#[test]
fn concurrent_updates_share_a_batch() {
    let stub = Stub {
        sync: Duration::from_millis(20),
        ..Stub::default()
    };
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut clients: Vec<_> = (0..50).map(|_| Client::connect(address)).collect();
        for round in 1..=3 {
            for client in &mut clients {
                client.send(&[add(round)]);
            }
            for client in &mut clients {
                assert_eq!(client.responses(1), [format!("{round} add 0")]);
            }
        }
    });
    let batches = stub.batches.load(Ordering::Relaxed);
    assert!(
        (3..30).contains(&batches),
        "{batches} batches for 150 updates"
    );
}

/// An update has its turn like a search. It is applied in the round of its arrival, while any
/// number of searches run.
#[test]
fn an_update_waits_for_one_round_of_searches() {
    const SEARCHING: usize = 12;
    const TURN: usize = 1024;
    let stub = Stub {
        at_once_max: usize::MAX,
        ..Stub::default()
    };
    let settings = ServerSettings {
        workers: 1,
        ..ServerSettings::default()
    };
    with_server(&stub, settings, |address, _| {
        let mut searching: Vec<_> = (0..SEARCHING).map(|_| Client::connect(address)).collect();
        for client in &mut searching {
            client.send(&[search(1, "1000000000/1/1024")]);
            assert!(!client.responses(1).is_empty());
        }
        let mut writing = Client::connect(address);
        for id in 1..=20 {
            writing.send(&[add(id)]);
            assert_eq!(writing.responses(1), [format!("{id} add 0")]);
        }
        let ids: Vec<u32> = (1..=200).collect();
        let requests: Vec<_> = ids.iter().map(|id| add(*id)).collect();
        writing.send(&requests);
        let answers: Vec<_> = ids.iter().map(|id| format!("{id} add 0")).collect();
        assert_eq!(writing.responses(200), answers);
    });
    let waited = stub.waited_max.load(Ordering::Relaxed);
    // Each searching connection may be fresh once in the round, and those with work left have as
    // much again.
    assert!(waited <= 2 * (SEARCHING + 1) * TURN, "{waited}");
    let at_once = stub.at_once.load(Ordering::Relaxed);
    assert!(at_once >= 20, "{at_once}");
}

#[test]
fn updates_of_a_connection_are_answered_in_order() {
    let stub = Stub {
        // Some rounds go to the writer, others do not.
        at_once_max: 3,
        sync: Duration::from_micros(200),
        ..Stub::default()
    };
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut clients: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
        let mut first = 1;
        for count in [1, 2, 5, 1, 3, 17, 2, 1, 1, 90, 1].repeat(4) {
            let ids: Vec<u32> = (first..first + count).collect();
            first += count;
            let requests: Vec<_> = ids.iter().map(|id| add(*id)).collect();
            for client in &mut clients {
                // In two pieces, so that what is behind comes while what is before is applied.
                let (before, behind) = requests.split_at(requests.len() / 2);
                client.send(before);
                client.send(behind);
            }
            let answers: Vec<_> = ids.iter().map(|id| format!("{id} add 0")).collect();
            for client in &mut clients {
                assert_eq!(client.responses(answers.len()), answers);
            }
        }
    });
    assert!(stub.at_once.load(Ordering::Relaxed) > 0);
    assert!(stub.batches.load(Ordering::Relaxed) > 0);
}

#[test]
fn updates_of_a_connection_and_a_writer_are_answered_in_order() {
    const WRITERS: u32 = 3;
    let stub = Stub {
        more_writers: WRITERS - 1,
        at_once_max: 3,
        sync: Duration::from_micros(200),
        ..Stub::default()
    };
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut clients: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
        let mut first = 1;
        for count in [1, 2, 5, 1, 3, 17, 2, 1, 1, 90, 1].repeat(4) {
            let ids: Vec<u32> = (first..first + count).collect();
            first += count;
            let requests: Vec<_> = ids.iter().map(|id| add(*id)).collect();
            for client in &mut clients {
                let (before, behind) = requests.split_at(requests.len() / 2);
                client.send(before);
                client.send(behind);
            }
            for client in &mut clients {
                let answers = client.responses(ids.len());
                let id = |answer: &String| answer.split(' ').next().unwrap().parse().unwrap();
                let answered: Vec<u32> = answers.iter().map(id).collect();
                for writer in 0..WRITERS {
                    let of = |ids: &[u32]| -> Vec<u32> {
                        let ids = ids.iter().copied();
                        ids.filter(|id| id % WRITERS == writer).collect()
                    };
                    assert_eq!(of(&answered), of(&ids));
                }
            }
        }
    });
    assert!(stub.at_once.load(Ordering::Relaxed) > 0);
    assert!(stub.batches.load(Ordering::Relaxed) > 0);
}

#[test]
fn updates_of_one_writer_wait_for_no_other_writer() {
    for at_once_max in [0, 1] {
        let stub = Stub {
            more_writers: 1,
            at_once_max,
            ..Stub::default()
        };
        let settings = ServerSettings {
            workers: 1,
            ..ServerSettings::default()
        };
        with_server(&stub, settings, |address, _| {
            let held = stub.first_writer.lock().unwrap();
            let mut client = Client::connect(address);
            let mut other = Client::connect(address);
            // They are more than a worker applies, so the first writer gets and keeps them.
            client.send(&[add(2), add(4)]);
            client.send(&[add(1)]);
            assert_eq!(client.responses(1), ["1 add 0"]);
            other.send(&[add(1)]);
            assert_eq!(other.responses(1), ["1 add 0"]);
            other.send(&[add(3)]);
            assert_eq!(other.responses(1), ["3 add 0"]);
            // A later update of the busy writer stays behind the others.
            client.send(&[add(6), add(5)]);
            assert_eq!(client.responses(1), ["5 add 0"]);
            drop(held);
            assert_eq!(client.responses(3), ["2 add 0", "4 add 0", "6 add 0"]);
        });
    }
}

#[test]
fn stopping_waits_for_all_writers() {
    let stub = Stub {
        more_writers: 3,
        ..Stub::default()
    };
    with_server(&stub, ServerSettings::default(), |address, stop| {
        let held = stub.first_writer.lock().unwrap();
        let mut client = Client::connect(address);
        client.send(&[add(4), add(5)]);
        assert_eq!(client.responses(1), ["5 add 0"]);
        stop.stop();
        drop(held);
        let mut responses = client.responses(usize::MAX);
        responses.sort_unstable();
        assert_eq!(responses, ["0 notice 52", "4 add 0"]);
    });
}

#[test]
fn a_client_that_does_not_read_blocks_no_other_and_is_closed() {
    let stub = Stub::default();
    let settings = ServerSettings {
        workers: 1,
        session: SessionLimits {
            write_timeout: Some(Duration::from_millis(300)),
            ..SessionLimits::default()
        },
        ..ServerSettings::default()
    };
    with_server(&stub, settings, |address, _| {
        let mut slow = Client::connect(address);
        slow.send(&[search(1, "1000000/10000")]);
        while stub.parked.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut other = Client::connect(address);
        other.send(&[search(1, "100")]);
        assert_eq!(other.responses(101).len(), 101);
        let patience = Instant::now() + Duration::from_secs(5);
        while stub.searches.load(Ordering::Relaxed) > 0 {
            assert!(
                Instant::now() < patience,
                "the slow client keeps its search for ever"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    });
}

#[test]
fn a_long_search_can_be_abandoned() {
    let stub = Stub::default();
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut client = Client::connect(address);
        client.send(&[search(1, "1000000000")]);
        assert!(!client.responses(10).is_empty());
        client.send(&[abandon(2, 1), who_am_i(3)]);
        let mut last = String::new();
        while last != "3 whoami " {
            last = client.responses(1).pop().expect("the server goes on");
        }
        assert_eq!(stub.searches.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_notice_reaches_a_client_that_is_still_sending() {
    let stub = Stub::default();
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut client = Client::connect(address);
        let mut request = vec![0x30, 0x84, 0x00, 0x20, 0x00, 0x00];
        request.resize(0x20_0000, 0);
        client.send(&[request]);
        assert_eq!(client.responses(1), ["0 notice 2"]);
        assert!(client.responses(1).is_empty(), "then the connection ends");
    });
}

#[test]
fn unbind_closes() {
    let stub = Stub::default();
    with_server(&stub, ServerSettings::default(), |address, _| {
        let mut client = Client::connect(address);
        client.send(&[search(1, "0"), unbind(2)]);
        assert_eq!(client.responses(2), ["1 search 0"]);
    });
}

#[test]
fn idle_connections_are_closed_after_the_time_limit() {
    let stub = Stub::default();
    let session = SessionLimits {
        idle_timeout: Some(Duration::from_millis(200)),
        ..SessionLimits::default()
    };
    let settings = ServerSettings {
        session,
        ..ServerSettings::default()
    };
    with_server(&stub, settings, |address, _| {
        let mut client = Client::connect(address);
        client.send(&[search(1, "0")]);
        assert_eq!(client.responses(1), ["1 search 0"]);
        assert!(client.responses(1).is_empty());
    });
}

#[test]
fn a_connection_beyond_the_limit_gets_a_notice() {
    let stub = Stub::default();
    let settings = ServerSettings {
        connections_max: 2,
        ..ServerSettings::default()
    };
    with_server(&stub, settings, |address, _| {
        let mut first = Client::connect(address);
        let mut second = Client::connect(address);
        for client in [&mut first, &mut second] {
            client.send(&[search(1, "0")]);
            assert_eq!(client.responses(1), ["1 search 0"]);
        }
        assert_eq!(Client::connect(address).responses(1), ["0 notice 51"]);
        drop(first);
        let patience = Instant::now() + Duration::from_secs(5);
        loop {
            let mut next = Client::connect(address);
            let _ = next.stream.write_all(&search(1, "0"));
            if next.responses(1) == ["1 search 0"] {
                break;
            }
            assert!(
                Instant::now() < patience,
                "the place of a closed connection stays taken"
            );
        }
    });
}

#[test]
fn stopping_finishes_received_requests() {
    let stub = Stub {
        sync: Duration::from_millis(200),
        ..Stub::default()
    };
    with_server(&stub, ServerSettings::default(), |address, stop| {
        let mut idle = Client::connect(address);
        let mut client = Client::connect(address);
        client.send(&[search(1, "2000"), add(2), search(3, "1")]);
        let mut responses = client.responses(1);
        stop.stop();
        responses.extend(client.responses(usize::MAX));
        responses.retain(|response| response != "1 entry");
        // One of the entries is the third request's, which overtakes the update that is being
        // synced.
        responses.sort_unstable();
        assert_eq!(
            responses,
            [
                "0 notice 52",
                "1 search 0",
                "2 add 0",
                "3 entry",
                "3 search 0"
            ]
        );
        assert_eq!(idle.responses(2), ["0 notice 52"]);
    });
}

#[test]
fn an_endless_search_does_not_prevent_a_stop() {
    let stub = Stub::default();
    let settings = ServerSettings {
        shutdown_timeout: Duration::from_millis(100),
        ..ServerSettings::default()
    };
    let began = Instant::now();
    with_server(&stub, settings, |address, stop| {
        let mut client = Client::connect(address);
        client.send(&[search(1, "1000000000")]);
        assert!(!client.responses(1).is_empty());
        stop.stop();
        let last = client.responses(usize::MAX).pop().unwrap();
        assert!(last == "0 notice 52" || last == "1 entry", "{last}");
    });
    assert!(began.elapsed() < Duration::from_secs(5));
}
