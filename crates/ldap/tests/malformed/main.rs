//! Malformed messages: refused ones with their fault, and tolerated ones.

use fulgurite_ber::{Malformed, Tag};
use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Authentication, CancelRequest, DecodeError, Fault, FilterBuf, Limits, Message, Operation,
    PasswordModifyRequest, Request,
};

/// Returns an element with a short length.
fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut out = vec![tag, u8::try_from(content.len()).expect("short")];
    assert!(content.len() < 0x80);
    out.extend(content);
    out
}

fn message(operation: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&[2, 1, 5], operation])
}

fn decode_error(pdu: &[u8]) -> DecodeError {
    Message::decode(pdu, &Limits::default()).expect_err("malformed")
}

/// Returns the fault in a body; checks that the message can be answered.
fn body_fault(operation: &[u8]) -> Fault {
    match decode_error(&message(operation)) {
        DecodeError::Body { id: 5, fault, .. } => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_without_envelope_is_fatal() {
    let unbind = |id: &[u8]| tlv(0x30, &[id, &[0x42, 0]]);
    let cases: Vec<(Vec<u8>, Fault)> = vec![
        (vec![], Fault::Ber(Malformed::Truncated)),
        (vec![0x30, 0], Fault::Ber(Malformed::Truncated)),
        (
            vec![0x31, 0],
            Fault::Ber(Malformed::UnexpectedTag {
                expected: Tag(0x30),
                found: Tag(0x31),
            }),
        ),
        (unbind(&[2, 1, 0]), Fault::MessageId(0)),
        (unbind(&[2, 1, 0xff]), Fault::MessageId(-1)),
        (unbind(&[2, 5, 0, 0x80, 0, 0, 0]), Fault::MessageId(1 << 31)),
        (
            unbind(&[4, 1, 5]),
            Fault::Ber(Malformed::UnexpectedTag {
                expected: Tag(2),
                found: Tag(4),
            }),
        ),
        (tlv(0x30, &[&[2, 1, 5]]), Fault::Ber(Malformed::Truncated)),
        (message(&[0x61, 0]), Fault::UnknownOperation(Tag(0x61))),
        (
            [message(&[0x42, 0]), vec![0]].concat(),
            Fault::Ber(Malformed::TrailingBytes(1)),
        ),
    ];
    for (pdu, fault) in cases {
        let error = decode_error(&pdu);
        assert_eq!(error, DecodeError::Envelope(fault), "{pdu:02x?}");
        assert!(error.is_fatal() && error.message_id().is_none());
    }
}

#[test]
fn message_ids_reach_to_their_end() {
    let pdu = tlv(0x30, &[&[2, 4, 0x7f, 0xff, 0xff, 0xff], &[0x42, 0]]);
    assert_eq!(
        Message::decode(&pdu, &Limits::default()).expect("valid").id,
        0x7fff_ffff
    );
    let padded = tlv(0x30, &[&[2, 5, 0, 0, 0, 0, 9], &[0x42, 0]]);
    assert_eq!(
        Message::decode(&padded, &Limits::default())
            .expect("not DER, but BER")
            .id,
        9
    );
}

#[test]
fn bodies_are_answered_and_broken_lengths_are_fatal() {
    let error = decode_error(&message(&tlv(
        0x60,
        &[&[2, 1, 3], &[4, 9, b'x'], &[0x80, 0]],
    )));
    let DecodeError::Body {
        operation: Operation::Bind,
        fault: Fault::Ber(Malformed::Truncated),
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert!(error.is_fatal());
    assert_eq!(error.message_id(), Some(5));
    let error = decode_error(&message(&tlv(0x60, &[&[2, 1, 0], &[4, 0], &[0x80, 0]])));
    assert!(!error.is_fatal(), "{error}");
    assert_eq!(
        error.to_string(),
        "malformed bind (message 5): version cannot be 0"
    );
}

#[test]
fn numbers_have_ranges() {
    let search = |scope: u8, deref: u8, size: &[u8], time: &[u8]| {
        let numbers: &[&[u8]] = &[
            &[4, 0, 0x0a, 1, scope, 0x0a, 1, deref],
            size,
            time,
            &[1, 1, 0],
            b"\x87\x02cn",
            &[0x30, 0],
        ];
        tlv(0x63, numbers)
    };
    let zero: &[u8] = &[2, 1, 0];
    let fault = |what, value| Fault::OutOfRange { what, value };
    assert!(Message::decode(&message(&search(3, 3, zero, zero)), &Limits::default()).is_ok());
    assert_eq!(body_fault(&search(4, 0, zero, zero)), fault("scope", 4));
    assert_eq!(
        body_fault(&search(0, 4, zero, zero)),
        fault("derefAliases", 4)
    );
    assert_eq!(
        body_fault(&search(0, 0, &[2, 1, 0xff], zero)),
        fault("sizeLimit", -1)
    );
    assert_eq!(
        body_fault(&search(0, 0, zero, &[2, 5, 0, 0x80, 0, 0, 0])),
        fault("timeLimit", 1 << 31)
    );
    let modify = tlv(
        0x66,
        &[
            &[4, 0],
            &tlv(
                0x30,
                &[&tlv(0x30, &[&[0x0a, 1, 4], &[0x30, 4, 4, 0, 0x31, 0]])],
            ),
        ],
    );
    assert_eq!(body_fault(&modify), fault("modify operation", 4));
    assert_eq!(body_fault(&[0x50, 1, 0xff]), Fault::MessageId(-1));
}

#[test]
fn filters_follow_their_grammar() {
    let filter = |filter: &[u8]| {
        let fixed: &[u8] = &[4, 0, 0x0a, 1, 0, 0x0a, 1, 0, 2, 1, 0, 2, 1, 0, 1, 1, 0];
        tlv(0x63, &[fixed, filter, &[0x30, 0]])
    };
    let substrings = |pieces: &[u8]| filter(&tlv(0xa4, &[b"\x04\x02cn", &tlv(0x30, &[pieces])]));
    assert_eq!(
        body_fault(&filter(&[0xaa, 0])),
        Fault::FilterChoice(Tag(0xaa))
    );
    assert_eq!(body_fault(&filter(&[0xa2, 0])), Fault::Empty("not"));
    assert_eq!(
        body_fault(&filter(b"\xa2\x08\x87\x02cn\x87\x02sn")),
        Fault::Ber(Malformed::TrailingBytes(4))
    );
    assert_eq!(body_fault(&substrings(&[])), Fault::Empty("substrings"));
    assert_eq!(
        body_fault(&substrings(&[0x80, 0])),
        Fault::Empty("a substring")
    );
    assert_eq!(
        body_fault(&substrings(b"\x81\x01a\x81\x00")),
        Fault::Empty("a substring")
    );
    assert_eq!(
        body_fault(&substrings(&[0x82, 0])),
        Fault::Empty("a substring")
    );
    assert_eq!(
        body_fault(&substrings(b"\x81\x01a\x80\x01b")),
        Fault::SubstringOrder(Tag(0x80))
    );
    assert_eq!(
        body_fault(&substrings(b"\x82\x01a\x81\x01b")),
        Fault::SubstringOrder(Tag(0x81))
    );
    assert_eq!(
        body_fault(&substrings(b"\x82\x01a\x82\x01b")),
        Fault::SubstringOrder(Tag(0x82))
    );
    assert_eq!(
        body_fault(&filter(b"\xa9\x03\x83\x01x")),
        Fault::ExtensibleWithoutTarget
    );
    for (encoded, text) in [
        (&b"\xa0\x00"[..], "(&)"),
        (b"\xa1\x00", "(|)"),
        (b"\xa3\x06\x04\x02cn\x04\x00", "(cn=)"),
    ] {
        let pdu = message(&filter(encoded));
        let decoded = Message::decode(&pdu, &Limits::default()).expect("valid");
        let Request::Search(search) = decoded.request else {
            panic!()
        };
        assert_eq!(search.filter.to_string(), text);
    }
}

#[test]
fn filters_have_limits() {
    let parts = FilterBuf::parse("(|(a=1)(a=2)(!(a=3)))").expect("valid");
    let pdu = {
        let request =
            fulgurite_ldap::SearchRequest::new("", fulgurite_ldap::Scope::Base, parts.filter());
        let mut out = vec![];
        fulgurite_ldap::encode::request(&mut out, 5, &Request::Search(request), &[]);
        out
    };
    let with = |filter_depth_max, filter_parts_max| {
        let limits = Limits {
            filter_depth_max,
            filter_parts_max,
        };
        match Message::decode(&pdu, &limits) {
            Err(DecodeError::Body { fault, .. }) => Err(fault),
            other => Ok(other.expect("valid").id),
        }
    };
    assert_eq!(with(2, 5), Ok(5));
    assert_eq!(with(1, 5), Err(Fault::FilterTooDeep(1)));
    assert_eq!(with(2, 4), Err(Fault::FilterTooLarge(4)));
}

#[test]
fn lists_that_must_not_be_empty() {
    let add = tlv(
        0x68,
        &[
            &[4, 0],
            &tlv(0x30, &[&tlv(0x30, &[b"\x04\x02cn", &[0x31, 0]])]),
        ],
    );
    assert_eq!(
        body_fault(&add),
        Fault::Empty("the set of values of an attribute to add")
    );
}

#[test]
fn extensions_of_sequences_are_skipped() {
    let unknown: &[u8] = &[0x9e, 1, 7, 0xbe, 2, 4, 0];
    let bind = tlv(0x60, &[&[2, 1, 3], &[4, 0], &[0x80, 0], unknown]);
    let pdu = tlv(0x30, &[&[2, 1, 5], &bind, &[0xa0, 0], unknown]);
    let decoded = Message::decode(&pdu, &Limits::default()).expect("valid");
    assert!(
        matches!(decoded.request, Request::Bind(bind) if bind.authentication == Authentication::Simple(b""))
    );
    assert!(decoded.controls.is_empty());
    let control = tlv(0x30, &[b"\x04\x031.2", &[1, 1, 1], b"\x04\x01v", unknown]);
    let pdu = tlv(
        0x30,
        &[&[2, 1, 5], &[0x42, 0], &tlv(0xa0, &[&control, &control])],
    );
    let decoded = Message::decode(&pdu, &Limits::default()).expect("valid");
    let control = decoded.controls.find("1.2").expect("there");
    assert!(
        control.critical && control.value == Some(b"v"),
        "any byte but zero is true"
    );
    assert_eq!(decoded.controls.duplicate(), Some(&b"1.2"[..]));
    assert_eq!(decoded.controls.iter().count(), 2);
}

#[test]
fn unknown_authentication_differs_from_garbage() {
    let bind = message(&tlv(0x60, &[&[2, 1, 3], &[4, 0], &[0x89, 1, 0]]));
    let decoded = Message::decode(&bind, &Limits::default()).expect("the choice may be extended");
    assert!(
        matches!(decoded.request, Request::Bind(bind) if bind.authentication == Authentication::Unknown(Tag(0x89)))
    );
}

#[test]
fn control_and_extended_values_are_checked() {
    assert!(
        PagedResults::decode(&[0x30, 5, 2, 1, 0xff, 4, 0]).is_err(),
        "a negative size"
    );
    assert!(
        PagedResults::decode(&[0x30, 5, 2, 1, 9, 4, 0, 0]).is_err(),
        "trailing bytes"
    );
    assert!(
        PagedResults::decode(&[0x30, 3, 2, 1, 9]).is_err(),
        "no cookie"
    );
    assert_eq!(
        CancelRequest::decode(&CancelRequest { id: 77 }.encode()),
        Ok(CancelRequest { id: 77 })
    );
    assert!(CancelRequest::decode(&[]).is_err());
    assert_eq!(
        PasswordModifyRequest::decode(None),
        Ok(PasswordModifyRequest::default())
    );
    assert!(PasswordModifyRequest::decode(Some(&[0x31, 0])).is_err());
}
