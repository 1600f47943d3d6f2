//! Malformed input, slow clients, a file that cannot grow.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fulgurite_memcached::{Address, Durability, Options};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::world::{Client, Running, options};

#[test]
fn lines_and_values_may_come_in_pieces() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    let request = b"set a 0 0 10\r\n0123456789\r\nms b 3 k\r\nabc\r\nget a b\r\n";
    for byte in request {
        client.send(&[*byte]);
    }
    let expected = "STORED\r\nHD kb\r\nVALUE a 0 10\r\n0123456789\r\nVALUE b 0 3\r\nabc\r\nEND\r\n";
    assert_eq!(client.ask(""), expected);
}

#[test]
fn a_long_line_ends_the_connection_and_no_other() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut other = server.client();
    let mut client = server.client();
    client.send(&vec![b'x'; 5000]);
    assert_eq!(client.rest(), b"");
    // Many keys are no mistake.
    let keys = "key ".repeat(20_000);
    assert_eq!(other.ask(format!("get {keys}\r\n")), "END\r\n");
    let mut client = server.client();
    client.send(b"set a 0 0 100000\r\nthe client goes away here");
    drop(client);
    assert_eq!(other.ask("get a\r\n"), "END\r\n");
}

#[test]
fn a_client_that_does_not_read_holds_little() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut slow = server.client();
    let value = "v".repeat(1 << 20);
    assert_eq!(
        slow.ask(format!("set a 0 0 1048576\r\n{value}\r\n")),
        "STORED\r\n"
    );
    // Answers of 2 GB, which the server must not collect.
    let gets = format!("get {}\r\n", "a ".repeat(2000));
    slow.send(gets.as_bytes());
    let mut other = server.client();
    for number in 0..100 {
        assert_eq!(
            other.ask(format!("set b 0 0 2\r\n{number:02}\r\n")),
            "STORED\r\n"
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: u64 = resident
        .and_then(|text| text.split_whitespace().next())
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    assert!(kilobytes < 1_000_000, "{kilobytes}");
}

/// Sends gets without end while it reads answers. Then the server holds back the client's requests
/// instead of collecting them.
#[test]
fn requests_wait_in_the_socket_while_answers_are_long() {
    const ANSWERS: usize = 400;
    let scratch = Scratch::new("memcached");
    let socket = scratch.join("socket");
    let server = Running::start(&Options {
        listen: vec![Address::Unix(socket.clone())],
        ..options(&scratch.join("data"))
    });
    let mut setter = Client::unix(&socket);
    let value = "v".repeat(512 * 1024);
    setter.ask(format!("set a 0 0 {}\r\n{value}\r\n", value.len()));
    let mut reader = UnixStream::connect(&socket).expect("a connection");
    let mut writer = reader.try_clone().expect("a second handle");
    let sent = AtomicUsize::new(0);
    let before = thread::scope(|scope| {
        scope.spawn(|| {
            let gets = b"get a\r\n".repeat(100);
            while let Ok(count) = writer.write(&gets) {
                sent.fetch_add(count, Ordering::Relaxed);
            }
        });
        let answer = format!("VALUE a 0 {}\r\n{value}\r\nEND\r\n", value.len());
        let mut read = vec![0; answer.len()];
        for _ in 0..ANSWERS {
            reader.read_exact(&mut read).expect("an answer");
        }
        let before = sent.load(Ordering::Relaxed);
        reader.shutdown(Shutdown::Both).expect("an end");
        before
    });
    // Buffers of the system and one read of the server, not one read for each answer.
    assert!(before < 2 << 20, "{before} bytes of requests were taken");
    drop(server);
}

#[test]
fn a_file_that_cannot_grow_refuses_and_recovers() {
    for durability in [Durability::None, Durability::Full] {
        let scratch = Scratch::new("memcached");
        let server = Running::start(&Options {
            file_bytes_max: 2 << 20,
            no_eviction: true,
            durability,
            ..options(scratch.path())
        });
        let mut client = server.client();
        let value = "v".repeat(10_000);
        let set = |number: usize| format!("set k{number} 0 0 10000\r\n{value}\r\n");
        let refused = (0..1000).find(|number| client.ask(set(*number)) != "STORED\r\n");
        let refused = refused.expect("a refusal");
        let answer = "SERVER_ERROR out of memory storing object\r\n";
        // Reads of the same turn are answered.
        let asked = format!("get nothing\r\n{}get nothing\r\n", set(refused));
        assert_eq!(client.ask(asked), format!("END\r\n{answer}END\r\n"));
        assert!(client.ask("get k0\r\n").starts_with("VALUE k0"));
        for number in 0..refused / 2 {
            assert_eq!(
                client.ask(format!("delete k{number}\r\n")),
                "DELETED\r\n",
                "{number}"
            );
        }
        assert_eq!(client.ask(set(refused)), "STORED\r\n");
    }
}

#[test]
fn a_file_that_cannot_grow_evicts() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        file_bytes_max: 2 << 20,
        ..options(scratch.path())
    });
    let mut client = server.client();
    let value = "v".repeat(10_000);
    for number in 0..1000 {
        let set = format!("set k{number} 0 0 10000\r\n{value}\r\n");
        assert_eq!(client.ask(set), "STORED\r\n", "{number}");
    }
    assert!(client.figure("evictions") > 500);
}

/// Pieces of commands, which a test puts together at random.
const PIECES: &[&str] = &[
    "get",
    "gets",
    "set",
    "cas",
    "ms",
    "mg",
    "md",
    "ma",
    "me",
    "mn",
    "stats",
    "touch",
    "gat",
    "incr",
    "delete",
    "flush_all",
    "quit",
    "version",
    " ",
    "  ",
    "\r\n",
    "\n",
    "\r",
    "a",
    "b",
    "0",
    "1",
    "-1",
    "5",
    "noreply",
    "abc",
    "k",
    "v",
    "T0",
    "C",
    "N30",
    "b",
    "MA",
    "O",
    "q",
    "\0",
    "\u{80}",
    "99999999999",
    "4294967296",
    "18446744073709551616",
];

#[test]
fn nonsense_is_answered_and_harms_nobody() {
    let seed = seed("nonsense_is_answered_and_harms_nobody", 1);
    let mut random = Random::new(seed);
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut sane = server.client();
    for round in 0..quick_or_long(300, 20_000) {
        let mut client = server.client();
        let mut request = Vec::new();
        for _ in 0..random.between(1, 60) {
            match random.chance(10) {
                true => request.extend(random.bytes(3)),
                false => request.extend(random.pick(PIECES).as_bytes()),
            }
        }
        client.send(&request);
        drop(client);
        assert_eq!(
            sane.ask("mg nothing\r\n"),
            "EN\r\n",
            "round {round} after {request:?}"
        );
    }
}
