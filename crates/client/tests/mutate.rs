//! Damaged messages meet the decoder: every one must be an answer, none a panic.

use fulgurite_client::mutate::{Mutator, corpus, deep_filter, nested_sequences};
use fulgurite_ldap::{
    DecodeError, Fault, Limits, Message, Operation, Request, ResponseMessage, encode, frame,
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
fn what_decodes_encodes_and_decodes_to_the_same() {
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
            assert_eq!(frame(part, LIMIT), Ok(None), "{cut} octets of {pdu:02x?}");
            assert!(Message::decode(part, &Limits::default()).is_err());
        }
    }
}

#[test]
fn truncated_insides_are_errors_too() {
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
fn mutated_messages_are_answers() {
    // The long run is for other messages, not only for more of them.
    let (seed, messages) = match std::env::var_os("FULGURITE_TEST_LONG") {
        Some(_) => (u64::from(std::process::id()), 20_000_000),
        None => (1, 200_000),
    };
    let (mut decoded, mut bodies, mut envelopes) = (0, 0, 0);
    for pdu in Mutator::new(seed).take(messages) {
        let Ok(Some(octets)) = frame(&pdu, LIMIT) else {
            continue;
        };
        let pdu = &pdu[..octets];
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
