//! Responses: written by the server's half, read by the client's.

use fulgurite_ldap::{
    Control, LdapResult, Operation, Response, ResponseMessage, ResultCode, encode, frame, oid,
};

fn decode(pdu: &[u8]) -> ResponseMessage<'_> {
    assert_eq!(frame(pdu, 1 << 20), Ok(Some(pdu.len())), "{pdu:02x?}");
    for cut in (0..pdu.len()).rev().take(2000) {
        assert!(ResponseMessage::decode(&pdu[..cut]).is_err());
    }
    ResponseMessage::decode(pdu).expect("valid")
}

#[test]
fn results_in_their_shortest_form() {
    let mut out = Vec::new();
    encode::result(&mut out, 2, Operation::Bind, &LdapResult::success(), &[]);
    assert_eq!(out, [0x30, 0x0c, 2, 1, 2, 0x61, 7, 0x0a, 1, 0, 4, 0, 4, 0]);
    out.clear();
    encode::result(&mut out, 2, Operation::Abandon, &LdapResult::success(), &[]);
    assert!(out.is_empty(), "abandon has no response");
}

#[test]
fn results_of_every_operation() {
    let result = LdapResult {
        referrals: vec!["ldap://a/".into(), "ldap://b/dc=x".into()],
        ..LdapResult::with_diagnostic(ResultCode::Referral, "ask ä").matched("dc=example")
    };
    let control = Control::with_value("1.2.3", true, b"value");
    for operation in Operation::ALL
        .into_iter()
        .filter(|operation| operation.result_tag().is_some())
    {
        let mut out = Vec::new();
        encode::result(
            &mut out,
            70_000,
            operation,
            &result,
            &[control, Control::manage_dsa_it()],
        );
        let message = decode(&out);
        assert_eq!(message.id, 70_000);
        assert_eq!(message.response.result(), Some(&result), "{operation}");
        assert!(
            message
                .controls
                .iter()
                .eq([control, Control::manage_dsa_it()])
        );
    }
}

#[test]
fn bind_extended_and_intermediate_carry_values() {
    let mut out = Vec::new();
    let progress = LdapResult::new(ResultCode::SaslBindInProgress);
    encode::bind_result(&mut out, 1, &progress, Some(b"challenge"), &[]);
    let expected = Response::Bind {
        result: progress,
        server_credentials: Some(b"challenge"),
    };
    assert_eq!(decode(&out).response, expected);
    out.clear();
    encode::extended_result(
        &mut out,
        1,
        &LdapResult::success(),
        Some("1.2"),
        Some(b""),
        &[],
    );
    let expected = Response::Extended {
        result: LdapResult::success(),
        name: Some(b"1.2"),
        value: Some(b""),
    };
    assert_eq!(decode(&out).response, expected);
    out.clear();
    encode::intermediate(&mut out, 1, Some(oid::SYNC_INFO), None, &[]);
    assert_eq!(
        decode(&out).response,
        Response::Intermediate {
            name: Some(oid::SYNC_INFO.as_bytes()),
            value: None
        }
    );
}

#[test]
fn the_notice_of_disconnection_is_unsolicited() {
    let mut out = Vec::new();
    encode::notice_of_disconnection(&mut out, ResultCode::ProtocolError, "no");
    let message = decode(&out);
    assert_eq!(message.id, 0);
    let Response::Extended {
        result,
        name,
        value: None,
    } = message.response
    else {
        panic!()
    };
    assert_eq!(
        (result.code, name),
        (
            ResultCode::ProtocolError,
            Some(&b"1.3.6.1.4.1.1466.20036"[..])
        )
    );
}

#[test]
fn references_are_lists() {
    let mut out = Vec::new();
    encode::search_reference(&mut out, 9, ["ldap://a/", "ldap://b/"], &[]);
    let Response::SearchReference(urls) = decode(&out).response else {
        panic!()
    };
    assert!(urls.iter().eq([&b"ldap://a/"[..], b"ldap://b/"]));
}

#[test]
fn entries_of_every_size_read_back() {
    for bytes in [0, 1, 100, 127, 128, 200, 65_500, 66_000] {
        let photo = vec![0xd8; bytes];
        let mut out = b"what was there".to_vec();
        let mut entry =
            encode::search_entry(&mut out, 0x7fff_ffff, "cn=Jörg,dc=example".as_bytes());
        entry.attribute(b"cn");
        entry.value("Jörg".as_bytes());
        entry.value_with(|out| out.extend_from_slice(b"Joerg"));
        entry.attribute(b"description");
        entry.attribute(b"jpegPhoto");
        entry.value(&photo);
        entry.finish(&[Control::new("1.2", false)]);
        let pdu = out.strip_prefix(b"what was there").expect("untouched");
        let message = ResponseMessage::decode(pdu).expect("valid");
        let Response::SearchEntry(entry) = message.response else {
            panic!()
        };
        assert_eq!(entry.dn, "cn=Jörg,dc=example".as_bytes());
        assert_eq!(entry.attributes.len(), 3);
        assert!(
            entry.attributes[0]
                .values
                .iter()
                .eq(["Jörg".as_bytes(), b"Joerg"])
        );
        assert!(entry.attributes[1].values.is_empty());
        assert_eq!(entry.attributes[2].values.first(), Some(photo.as_slice()));
        assert_eq!(message.controls.iter().count(), 1);
    }
}

#[test]
fn unfinished_entries_and_empty_attributes_leave_no_trace() {
    let mut out = b"before".to_vec();
    let mut entry = encode::search_entry(&mut out, 1, b"cn=a");
    entry.attribute(b"cn");
    entry.value(b"a");
    drop(entry);
    assert_eq!(out, b"before");

    let write = |hidden: bool| {
        let mut out = Vec::new();
        let mut entry = encode::search_entry(&mut out, 1, b"cn=a");
        if hidden {
            entry.attribute(b"userPassword");
            entry.drop_attribute_without_values();
        }
        entry.attribute(b"cn");
        entry.value(b"a");
        entry.drop_attribute_without_values();
        if hidden {
            entry.attribute(b"userPassword");
            entry.drop_attribute_without_values();
        }
        entry.finish(&[]);
        out
    };
    assert_eq!(write(true), write(false));
    decode(&write(true));
}

#[test]
fn faulty_responses_are_errors() {
    // resultCode -1, a matchedDN that is not UTF-8, an empty reference.
    for pdu in [
        &[0x30, 0x0c, 2, 1, 2, 0x61, 7, 0x0a, 1, 0xff, 4, 0, 4, 0][..],
        &[0x30, 0x0d, 2, 1, 2, 0x61, 8, 0x0a, 1, 0, 4, 1, 0xff, 4, 0],
        &[0x30, 0x05, 2, 1, 2, 0x73, 0],
        &[0x30, 0x05, 2, 1, 2, 0x42, 0],
    ] {
        assert!(ResponseMessage::decode(pdu).is_err(), "{pdu:02x?}");
    }
}
