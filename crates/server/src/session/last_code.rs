//! Reads tags and result codes from encoded responses.

use fulgurite_ldap::{Operation, frame};

/// Returns the result code of the last of these responses.
///
/// A result without texts and controls has a fixed end. So most results need no look at the
/// responses before them.
pub(super) fn last_code(responses: &[u8], operation: Operation) -> Option<u32> {
    let tag = operation.result_tag()?.0;
    if let [
        ..,
        last,
        0x07,
        0x0a,
        0x01,
        code @ 0..=0x7f,
        0x04,
        0x00,
        0x04,
        0x00,
    ] = responses
        && *last == tag
    {
        return Some(u32::from(*code));
    }
    let mut rest = responses;
    loop {
        let len = frame(rest, usize::MAX).ok()??;
        let (pdu, behind) = rest.split_at_checked(len)?;
        if behind.is_empty() {
            return code_of(pdu, tag);
        }
        rest = behind;
    }
}

/// Returns the response within a message, with its tag, and the bytes behind it.
fn response_of(pdu: &[u8]) -> Option<&[u8]> {
    let message = contents(pdu, 0x30)?;
    let [0x02, id_len, rest @ ..] = message else {
        return None;
    };
    rest.get(usize::from(*id_len)..)
}

/// Returns the tag of the response within a message.
pub(super) fn response_tag(pdu: &[u8]) -> Option<u8> {
    response_of(pdu)?.first().copied()
}

/// Returns the result code of one response.
fn code_of(pdu: &[u8], tag: u8) -> Option<u32> {
    let response = contents(response_of(pdu)?, tag)?;
    let [0x0a, len, rest @ ..] = response else {
        return None;
    };
    let code = rest
        .get(..usize::from(*len))
        .filter(|code| code.len() <= 4)?;
    let number = |sum, byte: &u8| sum << 8 | u32::from(*byte);
    Some(code.iter().fold(0, number))
}

/// Returns the contents of an element with this tag, and the bytes behind it.
fn contents(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let [found, len, rest @ ..] = bytes else {
        return None;
    };
    let len_bytes = match len {
        0..0x80 => 0,
        len => usize::from(len & 0x7f),
    };
    rest.get(len_bytes..).filter(|_| *found == tag)
}

#[cfg(test)]
mod tests {
    use fulgurite_ldap::{LdapResult, ResultCode, encode};

    use super::*;

    fn result(id: u32, result: &LdapResult) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode::result(&mut bytes, id, Operation::Search, result, &[]);
        bytes
    }

    #[test]
    fn the_last_response_counts() {
        let plain = |code| LdapResult::new(code);
        let long = "a long text ".repeat(50);
        for (id, code) in [
            (1, ResultCode::Success),
            (0x7fff_ffff, ResultCode::NoSuchObject),
            (300, ResultCode::ESyncRefreshRequired),
            (300, ResultCode::NoOperation),
        ] {
            for text in ["", "short", "\n\x01\0\x04\0\x04\0", &long] {
                let mut bytes = result(9, &plain(ResultCode::Busy));
                bytes.extend(result(id, &LdapResult::with_diagnostic(code, text)));
                let read = last_code(&bytes, Operation::Search);
                assert_eq!(read, Some(code.number()), "{code} {text:?}");
            }
        }
        assert_eq!(last_code(&[], Operation::Search), None);
        assert_eq!(last_code(b"\x30\x84", Operation::Search), None);
        let other = result(1, &plain(ResultCode::Success));
        assert_eq!(last_code(&other, Operation::Bind), None);
    }

    #[test]
    fn no_bytes_panic() {
        let whole = result(1, &LdapResult::with_diagnostic(ResultCode::Busy, "text"));
        for at in 0..whole.len() {
            for byte in [0, 0x7f, 0x80, 0x84, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = last_code(&bytes, Operation::Search);
                let _ = last_code(&bytes[..at], Operation::Search);
            }
        }
    }
}
