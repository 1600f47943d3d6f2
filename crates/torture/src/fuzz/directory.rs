//! Texts and messages of the directory.

use fulgurite_directory::{CONTROLS, ControlRow};
use fulgurite_ldap::control::{SyncCookie, SyncInfo, SyncState};
use fulgurite_ldap::{
    CancelRequest, FilterBuf, LdapUrl, Limits, Message, PasswordModifyRequest, ResponseMessage, dn,
    encode, frame,
};
use fulgurite_ldif::Reader;

/// Text of a distinguished name: parsed, and, if valid, printed and parsed again.
pub fn ldap_dn_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(rdns) = dn::parse(text) {
        let mut again = String::new();
        dn::write(&mut again, &rdns);
        assert_eq!(dn::parse(&again), Ok(rdns));
    }
}

/// Text of a filter: parsed, and, if valid, printed and parsed again.
pub fn ldap_filter_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(filter) = FilterBuf::parse(text) {
        assert_eq!(FilterBuf::parse(&filter.to_string()).as_ref(), Ok(&filter));
        assert_eq!(
            FilterBuf::from_encoded(filter.encoded().to_vec()).as_ref(),
            Ok(&filter)
        );
    }
}

/// Octets as a server and a client receive them: framed, decoded, and, if valid, encoded again.
pub fn ldap_message(bytes: &[u8]) {
    let Ok(Some(octets)) = frame(bytes, 1 << 20) else {
        return;
    };
    let pdu = &bytes[..octets];
    let _ = ResponseMessage::decode(pdu).map(|message| format!("{message:?}"));
    let Ok(message) = Message::decode(pdu, &Limits::default()) else {
        return;
    };
    let _ = format!("{message:?}");
    let controls: Vec<_> = message.controls.iter().collect();
    let mut again = Vec::new();
    encode::request(&mut again, message.id, &message.request, &controls);
    let decoded = Message::decode(&again, &Limits::default()).expect("what we encode is valid");
    assert_eq!(decoded.request, message.request);
    assert!(decoded.controls.iter().eq(controls));
}

/// Text of an LDAP URL: parsed, and, if valid, printed and parsed again.
pub fn ldap_url(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(url) = LdapUrl::parse(text) {
        assert_eq!(LdapUrl::parse(&url.to_string()), Ok(url));
    }
}

/// LDIF: read to its end, whatever is wrong with it.
pub fn ldif(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    // No record is shorter than a line.
    for _ in 0..=bytes.len() {
        match reader.next_record() {
            Ok(Some(record)) => {
                let _ = format!("{record:?}");
            }
            Ok(None) => return,
            Err(error) if error.is_recoverable() => {
                let _ = error.to_string();
            }
            Err(_) => return,
        }
    }
    panic!("more records than octets");
}

/// The value of a control or extended operation, as each kind takes it.
pub fn ldap_controls(bytes: &[u8]) {
    for kind in CONTROLS.iter().flat_map(ControlRow::kinds) {
        let _ = kind.check.map(|check| check(bytes));
    }
    let _ = PasswordModifyRequest::decode(Some(bytes));
    let _ = CancelRequest::decode(bytes);
    let _ = SyncState::decode(bytes);
    if let Ok(info) = SyncInfo::decode(bytes) {
        assert_eq!(SyncInfo::decode(&info.encode()), Ok(info));
    }
    if let Some(cookie) = SyncCookie::parse(bytes) {
        assert_eq!(SyncCookie::parse(&cookie.encode()), Some(cookie));
    }
}
