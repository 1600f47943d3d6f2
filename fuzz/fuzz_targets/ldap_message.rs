//! Octets as a server and a client receive them: framed, decoded, and, if valid, encoded again.
#![no_main]

use fulgurite_ldap::{Limits, Message, ResponseMessage, encode, frame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
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
});
