//! Messages to bytes, appended to a write buffer.
//!
//! Servers write results and entries, clients write requests. None of these functions can fail,
//! and none builds a tree of what it writes.

mod entry;

use fulgurite_ber::{Reader, Tag, Writer};

use crate::control::SyncInfo;
use crate::operation::{EXTENDED_RESPONSE, INTERMEDIATE, SEARCH_REFERENCE};
use crate::{
    Control, Controls, Fault, LdapResult, MESSAGE_ID_MAX, MessageId, Operation, Request,
    ResultCode, control, frame, oid,
};

pub use entry::{EntryWriter, search_entry};

const SERVER_CREDENTIALS: Tag = Tag::context(7);
const RESPONSE_NAME: Tag = Tag::context(10);
const RESPONSE_VALUE: Tag = Tag::context(11);

/// Appends a request.
pub fn request(out: &mut Vec<u8>, id: MessageId, request: &Request<'_>, controls: &[Control<'_>]) {
    message(out, id, controls, |writer| request.encode(writer));
}

/// Appends the result of `operation`; nothing for unbind and abandon, which have none.
pub fn result(
    out: &mut Vec<u8>,
    id: MessageId,
    operation: Operation,
    result: &LdapResult,
    controls: &[Control<'_>],
) {
    let Some(tag) = operation.result_tag() else {
        return;
    };
    if controls.is_empty() && plain_result(out, id, tag, result) {
        return;
    }
    message(out, id, controls, |writer| {
        writer.container(tag, |writer| result.encode(writer))
    });
}

/// Appends a result that is a code and nothing else, as most are: without writing lengths that are
/// known. False if it is not such a one.
fn plain_result(out: &mut Vec<u8>, id: MessageId, tag: Tag, result: &LdapResult) -> bool {
    let nothing_else =
        result.matched_dn.is_empty() && result.diagnostic.is_empty() && result.referrals.is_empty();
    let (Ok(code), true) = (u8::try_from(result.code.number()), nothing_else) else {
        return false;
    };
    if code > 0x7f || id > MESSAGE_ID_MAX {
        return false;
    }
    let bytes = id.to_be_bytes();
    // The fewest bytes whose first bit is no sign.
    let spare = (id.leading_zeros().saturating_sub(1) / 8).min(3) as usize;
    let (_, id) = bytes.split_at(spare);
    let id_len = 4 - spare as u8;
    out.extend_from_slice(&[0x30, 2 + id_len + 9, 0x02, id_len]);
    out.extend_from_slice(id);
    out.extend_from_slice(&[tag.0, 7, 0x0a, 1, code, 0x04, 0, 0x04, 0]);
    true
}

/// Appends the result of a bind, with what a SASL mechanism sends back.
pub fn bind_result(
    out: &mut Vec<u8>,
    id: MessageId,
    result: &LdapResult,
    server_credentials: Option<&[u8]>,
    controls: &[Control<'_>],
) {
    let plain = controls.is_empty() && server_credentials.is_none();
    if plain && plain_result(out, id, Tag(0x61), result) {
        return;
    }
    message(out, id, controls, |writer| {
        writer.container(Tag(0x61), |writer| {
            result.encode(writer);
            optional(writer, SERVER_CREDENTIALS, server_credentials);
        });
    });
}

/// Appends the result of an extended operation, with its name and value where it has them.
pub fn extended_result(
    out: &mut Vec<u8>,
    id: MessageId,
    result: &LdapResult,
    name: Option<&str>,
    value: Option<&[u8]>,
    controls: &[Control<'_>],
) {
    message(out, id, controls, |writer| {
        writer.container(EXTENDED_RESPONSE, |writer| {
            result.encode(writer);
            optional(writer, RESPONSE_NAME, name.map(str::as_bytes));
            optional(writer, RESPONSE_VALUE, value);
        });
    });
}

/// Appends an intermediate response (RFC 4511 section 4.13).
pub fn intermediate(
    out: &mut Vec<u8>,
    id: MessageId,
    name: Option<&str>,
    value: Option<&[u8]>,
    controls: &[Control<'_>],
) {
    message(out, id, controls, |writer| {
        writer.container(INTERMEDIATE, |writer| {
            optional(writer, Tag::context(0), name.map(str::as_bytes));
            optional(writer, Tag::context(1), value);
        });
    });
}

/// Appends a Sync Info message (RFC 4533 section 2.5), an intermediate response.
pub fn sync_info(out: &mut Vec<u8>, id: MessageId, info: &SyncInfo<'_>) {
    intermediate(out, id, Some(oid::SYNC_INFO), Some(&info.encode()), &[]);
}

/// Appends a search result reference: LDAP URLs, at least one.
pub fn search_reference<'u>(
    out: &mut Vec<u8>,
    id: MessageId,
    urls: impl IntoIterator<Item = &'u str>,
    controls: &[Control<'_>],
) {
    message(out, id, controls, |writer| {
        writer.container(SEARCH_REFERENCE, |writer| {
            for url in urls {
                writer.octet_string(url.as_bytes());
            }
        });
    });
}

/// Appends the notice of disconnection (RFC 4511 section 4.4.1), the last message of a connection.
pub fn notice_of_disconnection(out: &mut Vec<u8>, code: ResultCode, diagnostic: &str) {
    let result = LdapResult::with_diagnostic(code, diagnostic);
    extended_result(
        out,
        0,
        &result,
        Some(oid::NOTICE_OF_DISCONNECTION),
        None,
        &[],
    );
}

/// Appends the notice that a transaction is aborted (RFC 5805 section 3.4), an unsolicited message.
pub fn notice_of_aborted_transaction(out: &mut Vec<u8>, code: ResultCode, identifier: &[u8]) {
    let result = LdapResult::new(code);
    let name = Some(oid::ABORTED_TRANSACTION);
    extended_result(out, 0, &result, name, Some(identifier), &[]);
}

/// Adds a control to the last of the responses since `mark`. Responses in another form stay as they
/// are.
pub fn add_control(out: &mut Vec<u8>, mark: usize, control: &Control<'_>) {
    let mut begin = mark;
    while let Some(rest) = out.get(begin..)
        && let Ok(Some(len)) = frame(rest, usize::MAX)
        && len < rest.len()
    {
        begin += len;
    }
    let last = out.split_off(begin.min(out.len()));
    match with_control(&last, control) {
        Ok(longer) => out.extend(longer),
        Err(_) => out.extend(last),
    }
}

/// Returns a message with one control more.
fn with_control(pdu: &[u8], control: &Control<'_>) -> Result<Vec<u8>, Fault> {
    let mut message = Reader::new(pdu).nested(Tag::SEQUENCE)?;
    let id = message.integer()?;
    let (tag, operation) = message.element()?;
    let held = Controls::decode(message)?;
    let all: Vec<_> = held.iter().chain([*control]).collect();
    let mut out = Vec::with_capacity(pdu.len() + 80);
    Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
        writer.integer(id);
        writer.primitive(tag, operation);
        control::encode(writer, &all);
    });
    Ok(out)
}

fn message(
    out: &mut Vec<u8>,
    id: MessageId,
    controls: &[Control<'_>],
    operation: impl FnOnce(&mut Writer<'_>),
) {
    Writer::new(out).container(Tag::SEQUENCE, |writer| {
        writer.integer(i64::from(id));
        operation(writer);
        control::encode(writer, controls);
    });
}

fn optional(writer: &mut Writer<'_>, tag: Tag, content: Option<&[u8]>) {
    if let Some(content) = content {
        writer.primitive(tag, content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_is_added_to_the_last_response_alone() {
        let entry = |out: &mut Vec<u8>| search_reference(out, 7, ["ldap://a"], &[]);
        let one = Control::with_value("1.2.3", false, b"x");
        let other = Control::with_value("2.25.9", false, b"42@a");
        for held in [&[][..], &[one]] {
            let (mut plain, mut expected) = (b"before".to_vec(), b"before".to_vec());
            entry(&mut plain);
            entry(&mut expected);
            let done = LdapResult::with_diagnostic(ResultCode::Busy, "y".repeat(200));
            result(&mut plain, 7, Operation::Search, &done, held);
            let all: Vec<_> = held.iter().copied().chain([other]).collect();
            result(&mut expected, 7, Operation::Search, &done, &all);
            add_control(&mut plain, b"before".len(), &other);
            assert_eq!(plain, expected);
        }
        let mut odd = b"\x30\x03\x02".to_vec();
        add_control(&mut odd, 0, &other);
        assert_eq!(odd, b"\x30\x03\x02");
    }

    #[test]
    fn a_plain_result_is_written_like_any_other() {
        let ids = [
            0,
            1,
            0x7f,
            0x80,
            0x7fff,
            0x8000,
            0x7f_ffff,
            0x80_0000,
            MESSAGE_ID_MAX,
        ];
        for id in ids {
            for code in ResultCode::NAMED {
                let (mut plain, mut written) = (Vec::new(), Vec::new());
                let result = LdapResult::new(*code);
                if plain_result(&mut plain, id, Tag(0x65), &result) {
                    message(&mut written, id, &[], |writer| {
                        writer.container(Tag(0x65), |writer| result.encode(writer));
                    });
                    assert_eq!(plain, written, "{id} {code:?}");
                } else {
                    assert!(code.number() > 0x7f && plain.is_empty());
                }
            }
        }
        let text = LdapResult::with_diagnostic(ResultCode::Busy, "later");
        assert!(!plain_result(&mut Vec::new(), 1, Tag(0x65), &text));
    }
}
