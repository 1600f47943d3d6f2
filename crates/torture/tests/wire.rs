//! Damaged messages for the decoder and for servers: an error is fine, a panic is not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use fulgurite_ldap::{
    DecodeError, Fault, LdapResult, Limits, Message, Operation, Request, ResponseMessage,
    ResultCode, encode, frame,
};
use fulgurite_torture::wire::{
    Mutator, corpus, deep_filter, fuzz_server, fuzz_server_as, nested_sequences,
};

const LIMIT: usize = 1 << 20;

#[test]
fn the_corpus_is_valid_and_complete() {
    let pdus = corpus();
    let mut seen: Vec<Operation> = Vec::new();
    for pdu in &pdus {
        assert_eq!(frame(pdu, LIMIT), Ok(Some(pdu.len())));
        let message = Message::decode(pdu, &Limits::default()).expect("a valid message");
        seen.push(message.request.operation());
    }
    assert!(
        Operation::ALL
            .iter()
            .all(|operation| seen.contains(operation)),
        "{seen:?}"
    );
}

#[test]
fn decoded_messages_survive_encoding() {
    for pdu in corpus() {
        let message = Message::decode(&pdu, &Limits::default()).expect("a valid message");
        let controls: Vec<_> = message.controls.iter().collect();
        let mut again = Vec::new();
        encode::request(&mut again, message.id, &message.request, &controls);
        let decoded = Message::decode(&again, &Limits::default()).expect("still valid");
        assert_eq!(decoded.request, message.request);
        assert_eq!(decoded.controls.iter().collect::<Vec<_>>(), controls);
    }
}

#[test]
fn every_truncation_is_incomplete_or_an_error() {
    for pdu in corpus() {
        for cut in 0..pdu.len() {
            let part = &pdu[..cut];
            assert_eq!(frame(part, LIMIT), Ok(None), "{cut} bytes of {pdu:02x?}");
            assert!(Message::decode(part, &Limits::default()).is_err());
        }
    }
}

#[test]
fn truncated_bodies_are_errors() {
    // The outer length is made to fit, so that it is the body which ends too early.
    for pdu in corpus().iter().filter(|pdu| pdu[1] < 0x80) {
        for cut in 2..pdu.len() {
            let mut part = pdu[..cut].to_vec();
            part[1] = u8::try_from(cut - 2).expect("short");
            if let Ok(message) = Message::decode(&part, &Limits::default()) {
                // Only what is optional behind the operation may be missing.
                assert_eq!(part[2..], pdu[2..cut], "{:?}", message.request);
            }
        }
    }
}

#[test]
fn mutated_messages_never_panic() {
    // The long run is for other messages, not only for more of them.
    let (seed, messages) = match std::env::var_os("FULGURITE_TEST_LONG") {
        Some(_) => (u64::from(std::process::id()), 20_000_000),
        None => (1, 200_000),
    };
    let (mut decoded, mut bodies, mut envelopes) = (0, 0, 0);
    for pdu in Mutator::new(seed).take(messages) {
        let Ok(Some(bytes)) = frame(&pdu, LIMIT) else {
            continue;
        };
        let pdu = &pdu[..bytes];
        match Message::decode(pdu, &Limits::default()) {
            Ok(message) => {
                decoded += 1;
                exercise(&message);
            }
            Err(DecodeError::Body { id, .. }) => {
                bodies += 1;
                assert!((1..=0x7fff_ffff).contains(&id));
            }
            Err(DecodeError::Envelope(_)) => envelopes += 1,
        }
        // A confused client must survive the same.
        let _ = ResponseMessage::decode(pdu);
    }
    // The damage has to reach every floor, or this test proves nothing.
    assert!(
        decoded > 10_000 && bodies > 10_000 && envelopes > 1_000,
        "seed {seed}: {decoded} {bodies} {envelopes}"
    );
}

/// Walks through everything that is decoded lazily, and through the ways back.
fn exercise(message: &Message<'_>) {
    let controls: Vec<_> = message.controls.iter().collect();
    assert!(controls.len() > 1 || message.controls.duplicate().is_none());
    match &message.request {
        Request::Search(search) => {
            let text = search.filter.to_string();
            assert_eq!(
                search.filter.walk().count() > 1,
                text.contains("(&") || text.contains("(|") || text.contains("(!")
            );
            if let Ok(dn) = std::str::from_utf8(search.base) {
                let _ = fulgurite_ldap::dn::parse(dn);
            }
        }
        Request::Add(add) => assert!(
            add.attributes
                .iter()
                .all(|attribute| !attribute.values.is_empty())
        ),
        Request::Modify(modify) => {
            modify
                .changes
                .iter()
                .for_each(|change| assert!(change.attribute.values.iter().count() < 10_000));
        }
        _ => {}
    }
    let mut again = Vec::new();
    encode::request(&mut again, message.id, &message.request, &controls);
    let decoded = Message::decode(&again, &Limits::default()).expect("what we encode is valid");
    assert_eq!(decoded.request, message.request);
}

#[test]
fn a_seed_gives_the_same_messages() {
    assert!(Mutator::new(7).take(1000).eq(Mutator::new(7).take(1000)));
    assert!(Mutator::new(7).take(1000).ne(Mutator::new(8).take(1000)));
}

#[test]
fn nesting_bombs_are_refused_on_a_small_stack() {
    let run = || {
        for depth in [1001, 5000, 200_000] {
            let pdu = deep_filter(depth);
            let error = Message::decode(&pdu, &Limits::default()).expect_err("too deep");
            assert!(
                matches!(
                    error,
                    DecodeError::Body {
                        id: 9,
                        fault: Fault::FilterTooDeep(1000),
                        ..
                    }
                ),
                "{error:?}"
            );
            assert!(!error.is_fatal());
            assert!(Message::decode(&nested_sequences(depth), &Limits::default()).is_err());
        }
        // At the limit, everything that can be done to a filter fits on the stack.
        let pdu = deep_filter(1000);
        let message = Message::decode(&pdu, &Limits::default()).expect("at the limit");
        exercise(&message);
        let copy = message.clone();
        assert_eq!(copy, message);
        assert!(format!("{message:?}").contains("(cn=x)"));
    };
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

/// Serves every connection with `answer`, which appends the responses to a request.
fn serve(answer: fn(&Message<'_>, &mut Vec<u8>)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || converse(stream, answer));
        }
    });
    address
}

fn converse(mut stream: TcpStream, answer: fn(&Message<'_>, &mut Vec<u8>)) {
    let (mut held, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let mut out = Vec::new();
        loop {
            let bytes = match frame(&held, 1 << 20) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(_) => return notice(stream, out),
            };
            match Message::decode(&held[..bytes], &Limits::default()) {
                Ok(message) if message.request == Request::Unbind => return,
                Ok(message) => answer(&message, &mut out),
                Err(error) if error.is_fatal() => return notice(stream, out),
                Err(DecodeError::Body { id, operation, .. }) => {
                    encode::result(
                        &mut out,
                        id,
                        operation,
                        &LdapResult::new(ResultCode::ProtocolError),
                        &[],
                    );
                }
                Err(DecodeError::Envelope(_)) => unreachable!("is fatal"),
            }
            held.drain(..bytes);
        }
        if stream.write_all(&out).is_err() {
            return;
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(bytes) => held.extend_from_slice(&chunk[..bytes]),
        }
    }
}

fn notice(mut stream: TcpStream, mut out: Vec<u8>) {
    encode::notice_of_disconnection(&mut out, ResultCode::ProtocolError, "this is not LDAP");
    let _ = stream.write_all(&out);
}

/// Answers every request with success, and every search with one entry.
fn agreeable(message: &Message<'_>, out: &mut Vec<u8>) {
    let operation = message.request.operation();
    if operation == Operation::Search {
        let mut entry = encode::search_entry(out, message.id, b"uid=u0,dc=example");
        entry.attribute(b"uid");
        entry.value(b"u0");
        entry.finish(&[]);
    }
    encode::result(out, message.id, operation, &LdapResult::success(), &[]);
}

#[test]
fn the_fuzzer_passes_a_sound_server() {
    let address = serve(agreeable);
    let report = fuzz_server(address, 1, 5_000);
    assert!(report.passed(), "{report:#?}");
    assert!(
        report.messages > 4_900 && report.connections > 100,
        "{report:#?}"
    );
    assert!(report.responses > 500 && report.notices > 50, "{report:#?}");
    assert!(fuzz_server_as(address, 2, 500, Some(("cn=admin", b"secret"))).passed());
}

#[test]
fn the_fuzzer_finds_an_unsound_server() {
    // It answers searches with success and no entry, which the final check detects.
    let address = serve(|message, out| {
        encode::result(
            out,
            message.id,
            message.request.operation(),
            &LdapResult::success(),
            &[],
        );
    });
    let report = fuzz_server(address, 1, 200);
    assert_eq!(report.failures.len(), 1, "{report:#?}");
    // No server listens.
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    assert!(!fuzz_server(unused, 1, 200).passed());
}
