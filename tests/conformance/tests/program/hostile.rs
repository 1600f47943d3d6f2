//! Clients that mean harm, or are broken: the server goes on answering others, and its memory stays
//! bounded.
//!
//! ```text
//!   deep, long, endless and slow requests      pipelines of thousands     floods of connections
//!                      \                               |                       /
//!                       `---------------->  one server, one witness  <--------'
//! ```
//! After each attack the witness asks on a separate connection and is answered. At the end the
//! server's resident memory is within [`GROWTH_MAX`] of its start. All entries added before are
//! present.

#![forbid(unsafe_code)]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use fulgurite_client::{Client, Request, Response, Scope, SearchRequest};
use fulgurite_conformance::{LoadedStore, PASSWORD, ROOT, RunningServer, SUFFIX, TIMEOUT};
use fulgurite_ldap::FilterBuf;

/// The bytes by which the server may grow: 400 connections with partial requests, up to 4 MiB for a
/// few of them. The allocator keeps some more. It is a bound on what is kept, not on what is
/// accounted for exactly.
const GROWTH_MAX: u64 = 160 << 20;
/// A request's octets that a bound client may send.
const REQUEST_MAX: usize = 4 << 20;

fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag, 0x84];
    out.extend((content.len() as u32).to_be_bytes());
    out.extend_from_slice(content);
    out
}

fn message(id: u8, body: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&[0x02, 0x01, id][..], body].concat())
}

/// A search of everything with this filter.
fn search(id: u8, filter: &[u8]) -> Vec<u8> {
    let mut body = tlv(0x04, SUFFIX.as_bytes());
    body.extend([0x0a, 1, 2, 0x0a, 1, 0, 0x02, 1, 0, 0x02, 1, 0, 0x01, 1, 0]);
    body.extend_from_slice(filter);
    body.extend([0x30, 0]);
    message(id, &tlv(0x63, &body))
}

/// Returns `content` wrapped `levels` times.
fn nested(tag: u8, levels: usize, content: &[u8]) -> Vec<u8> {
    // From the inside out, each length known: built backwards.
    let mut reversed: Vec<u8> = content.iter().rev().copied().collect();
    for _ in 0..levels {
        let len = reversed.len() as u32;
        reversed.extend(len.to_be_bytes().iter().rev());
        reversed.extend([0x84, tag]);
    }
    reversed.reverse();
    reversed
}

fn bind(id: u8) -> Vec<u8> {
    let mut body = vec![0x02, 1, 3];
    body.extend(tlv(0x04, ROOT.as_bytes()));
    body.extend(tlv(0x80, PASSWORD.as_bytes()));
    message(id, &tlv(0x60, &body))
}

fn raw(serving: &RunningServer) -> TcpStream {
    let stream = TcpStream::connect(serving.address).expect("connect");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
    stream
}

/// A connection that is bound, so that it may send large requests.
fn bound(serving: &RunningServer) -> TcpStream {
    let mut stream = raw(serving);
    stream.write_all(&bind(1)).expect("bind");
    let mut answer = [0; 64];
    let len = stream.read(&mut answer).expect("an answer");
    assert!(
        answer[..len].windows(3).any(|part| part == [0x0a, 1, 0]),
        "it is bound"
    );
    stream
}

/// Sends, and reads until the server closes or has sent enough; what it said.
fn exchange(mut stream: TcpStream, octets: &[u8]) -> Vec<u8> {
    // The server may have closed before all was sent.
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    let _ = stream.take(1 << 20).read_to_end(&mut said);
    said
}

/// A client with a right to be served.
struct Witness<'s> {
    serving: &'s RunningServer,
    client: Client,
    begun: u64,
}

impl<'s> Witness<'s> {
    fn new(serving: &'s RunningServer) -> Self {
        let client = serving.client();
        let mut witness = Witness {
            serving,
            client,
            begun: 0,
        };
        witness.is_served("before anything");
        witness.begun = witness.resident();
        witness
    }

    fn is_served(&mut self, when: &str) {
        for client in [&mut self.client, &mut self.serving.client()] {
            let found = client
                .search(SUFFIX, Scope::Subtree, "(uid=user.7)", &["uid"])
                .unwrap_or_else(|error| panic!("{when}: {error}"));
            assert_eq!(found.entries.len(), 1, "{when}: {:?}", found.result);
        }
    }

    /// Resident memory of the server that is not the mapped file's.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.serving.pid()))
            .expect("the process");
        let line = status
            .lines()
            .find(|line| line.starts_with("RssAnon:"))
            .expect("its memory");
        let kib: u64 = line
            .split_whitespace()
            .nth(1)
            .expect("a number")
            .parse()
            .expect("a number");
        kib * 1024
    }

    fn memory_is_bounded(&self, when: &str) {
        // The allocator may return freed memory a little later.
        let until = Instant::now() + TIMEOUT;
        let mut grown = 0;
        while Instant::now() < until {
            grown = self.resident().saturating_sub(self.begun);
            if grown < GROWTH_MAX {
                println!("{when}: {} KiB more than before", grown / 1024);
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{when}: the server has grown by {grown} octets");
    }
}

#[test]
fn requests_that_are_deep_long_or_endless() {
    let loaded = LoadedStore::generated(50);
    let serving = loaded.serve(&["--threads", "1"]);
    let mut witness = Witness::new(&serving);
    let present = tlv(0x87, b"objectClass");

    // 100,000 levels of and, or, not; of unknown elements, and of sequences in place of a DN.
    for tag in [0xa0, 0xa1, 0xa2, 0x30, 0xa9] {
        let said = exchange(bound(&serving), &search(2, &nested(tag, 100_000, &present)));
        assert!(!said.is_empty(), "nesting of {tag:x} is answered");
        witness.is_served("after deep nesting");
    }
    let said = exchange(bound(&serving), &nested(0x30, 100_000, &[]));
    assert!(
        !said.is_empty(),
        "a message of nothing but levels is answered"
    );
    let said = exchange(raw(&serving), &search(1, &nested(0xa2, 990, &present)));
    witness.is_served("after 990 levels");
    assert!(!said.is_empty(), "990 levels are an ordinary request");
    witness.is_served("after deep nesting");

    // Lengths that promise more than ever comes.
    for head in [
        &[0x30, 0x84, 0x7f, 0xff, 0xff, 0xff][..],
        &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        &[0x30, 0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0x30, 0x80],
        &[0x30, 0xff],
        &[0x1f; 64],
        &[0; 64],
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        exchange(raw(&serving), head);
        exchange(bound(&serving), head);
        witness.is_served("after a length that lies");
    }
    // A request as long as is allowed, and one octet longer, again and again.
    let longest = tlv(0x87, &vec![b'a'; REQUEST_MAX - 200]);
    for _ in 0..3 {
        assert!(!exchange(bound(&serving), &search(2, &longest)).is_empty());
        let too_long = search(2, &tlv(0x87, &vec![b'a'; REQUEST_MAX]));
        exchange(bound(&serving), &too_long);
    }
    witness.is_served("after long requests");
    // A hundred thousand terms; a hundred thousand attributes asked for.
    let terms = tlv(0xa1, &present.repeat(100_000));
    assert!(!exchange(bound(&serving), &search(2, &terms)).is_empty());
    witness.is_served("after a filter of many terms");
    witness.memory_is_bounded("after deep and long requests");
    serving.stop();
}

#[test]
fn slow_writers_and_slow_readers() {
    let loaded = LoadedStore::generated(2000);
    let serving = loaded.serve(&["--threads", "1", "--size-limit", "unlimited"]);
    let mut witness = Witness::new(&serving);
    // Parts of requests: some octets of a head, half of a body, a body with one octet missing.
    let whole = search(1, &tlv(0x87, b"objectClass"));
    let mut slow: Vec<(TcpStream, usize)> = Vec::new();
    for number in 0..300 {
        let mut stream = raw(&serving);
        let sent = [1, 3, whole.len() / 2, whole.len() - 1][number % 4];
        stream.write_all(&whole[..sent]).expect("send a part");
        slow.push((stream, sent));
    }
    // And readers that never read.
    let mut deaf = Vec::new();
    for _ in 0..30 {
        let mut stream = bound(&serving);
        for id in 2..22 {
            // It may not be taken any more; that is as good.
            if stream
                .write_all(&search(id, &tlv(0x87, b"objectClass")))
                .is_err()
            {
                break;
            }
        }
        deaf.push(stream);
    }
    for _ in 0..20 {
        witness.is_served("beside slow clients");
    }
    witness.memory_is_bounded("beside slow clients");
    // The slow ones get their answers when they go on.
    for (stream, sent) in slow.iter_mut().take(20) {
        stream.write_all(&whole[*sent..]).expect("the rest");
        let mut first = [0; 1];
        stream.read_exact(&mut first).expect("an answer");
        assert_eq!(first[0], 0x30);
    }
    drop((slow, deaf));
    witness.is_served("after slow clients");
    serving.stop();
}

#[test]
fn pipelines_of_thousands_and_floods_of_connections() {
    let loaded = LoadedStore::generated(50);
    let serving = loaded.serve(&["--threads", "1"]);
    let mut witness = Witness::new(&serving);
    // Five thousand searches in one go, each answered.
    let filter = FilterBuf::parse("(dc=*)").expect("a filter");
    let (mut sender, mut receiver) = serving.client().split();
    for _ in 0..5000 {
        let request = SearchRequest::new(SUFFIX, Scope::Subtree, filter.filter());
        sender.queue(&Request::Search(request), &[]);
    }
    let sending = std::thread::spawn(move || {
        sender.flush().expect("send");
        sender
    });
    let (mut done, mut entries) = (0, 0);
    while done < 5000 {
        match receiver.receive().expect("an answer").response {
            Response::SearchDone(result) => {
                assert!(result.is_success(), "{result:?}");
                done += 1;
            }
            _ => entries += 1,
        }
    }
    assert_eq!(entries, 5000);
    drop(sending.join().expect("the sender"));
    witness.is_served("after a long pipeline");

    // Searches begun and abandoned.
    let mut client = serving.client();
    for _ in 0..2000 {
        client
            .send_raw(
                &[
                    search(9, &tlv(0x87, b"objectClass")),
                    message(10, &[0x50, 1, 9]),
                ]
                .concat(),
            )
            .expect("send");
    }
    client.shut_down_sending();
    while client.receive().is_ok() {}
    witness.is_served("after searches that were abandoned");

    // Connections that come, say nothing or nonsense, and go.
    for round in 0..3 {
        let flood: Vec<TcpStream> = (0..500).map(|_| raw(&serving)).collect();
        witness.is_served("during a flood");
        for (number, mut stream) in flood.into_iter().enumerate() {
            if number % 3 == round {
                let _ = stream.write_all(b"nonsense");
            }
        }
    }
    witness.is_served("after a flood");
    witness.memory_is_bounded("after floods");
    serving.stop();
}

#[test]
fn running_out_of_descriptors_keeps_those_who_are_there() {
    let loaded = LoadedStore::generated(50);
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -n 120; exec \"$0\" \"$@\""])
        .arg(command.get_program());
    limited.args(command.get_args()).args(["--threads", "1"]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    command.env_clear();
    let serving = RunningServer::start(&mut limited);
    let mut client = serving.client();
    let mut asks = |when: &str| {
        let found = client.search(SUFFIX, Scope::Subtree, "(uid=user.7)", &["uid"]);
        assert_eq!(found.expect(when).entries.len(), 1, "{when}");
    };
    asks("before");
    let flood: Vec<TcpStream> = (0..300).map(|_| raw(&serving)).collect();
    for _ in 0..20 {
        asks("while there are no descriptors left");
    }
    drop(flood);
    asks("afterwards");
    // A new client is served again.
    let until = Instant::now() + TIMEOUT;
    loop {
        let mut newcomer = serving.client();
        if newcomer
            .search(SUFFIX, Scope::Base, "(objectClass=*)", &[])
            .is_ok()
        {
            break;
        }
        assert!(Instant::now() < until, "nobody is let in any more");
    }
    serving.stop();
}
