//! The old passwords of an entry: `pwdHistory`.
//!
//! A value has time, OID of the syntax, length in bytes and the stored password, divided by `#`.

use crate::core::clock::Timestamp;

/// The OID of the Octet String syntax (RFC 4517, section 3.3.25).
const OCTET_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.40";

/// Returns the value for a stored password.
pub(crate) fn value(now: Timestamp, stored: &[u8]) -> Vec<u8> {
    let head = format!("{}#{OCTET_STRING}#{}#", now.generalized(), stored.len());
    [head.as_bytes(), stored].concat()
}

/// Returns the stored password of a value.
pub(crate) fn password(value: &[u8]) -> Option<&[u8]> {
    let mut parts = value.splitn(4, |byte| *byte == b'#');
    parts.nth(3)
}

/// Adds stored passwords to a history, and removes the oldest beyond `kept`.
pub(crate) fn extended(
    history: &[Vec<u8>],
    now: Timestamp,
    stored: &[Vec<u8>],
    kept: u64,
) -> Vec<Vec<u8>> {
    let mut all = history.to_vec();
    // Values begin with their time. Those of one second stay in their order.
    let time = |value: &Vec<u8>| value.split(|byte| *byte == b'#').next().map(<[u8]>::to_vec);
    all.sort_by_key(time);
    for password in stored {
        let value = value(now, password);
        // The same password may be there from earlier in this second. It is the newest now.
        all.retain(|held| *held != value);
        all.push(value);
    }
    let kept = usize::try_from(kept).unwrap_or(usize::MAX);
    let surplus = all.len().saturating_sub(kept);
    all.drain(..surplus);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_keeps_the_newest_passwords() {
        let at = |second: u64| Timestamp(second * 1_000_000);
        let mut history = Vec::new();
        for (second, stored) in [(3, "c#1"), (1, "a"), (2, "b")] {
            history.push(value(at(second), stored.as_bytes()));
        }
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).expect("text");
        assert_eq!(
            text(&history[0]),
            "19700101000003Z#1.3.6.1.4.1.1466.115.121.1.40#3#c#1"
        );
        assert_eq!(password(&history[0]), Some(&b"c#1"[..]));
        assert_eq!(password(b"19700101000003Z#x"), None);
        let kept = |count| {
            let all = extended(&history, at(4), &[b"d".to_vec()], count);
            let passwords = all.iter().filter_map(|value| password(value).map(text));
            passwords.collect::<Vec<_>>()
        };
        assert_eq!(kept(9), ["a", "b", "c#1", "d"]);
        assert_eq!(kept(2), ["c#1", "d"]);
        assert_eq!(kept(0), [""; 0]);
        let quick = [b"longer".to_vec(), b"short".to_vec(), b"last".to_vec()];
        let all = extended(&[], at(1), &quick, 2);
        let all = extended(&all, at(1), &[b"new".to_vec()], 2);
        let passwords = all.iter().filter_map(|value| password(value).map(text));
        assert_eq!(passwords.collect::<Vec<_>>(), ["last", "new"]);
        let all = extended(&all, at(1), &[b"last".to_vec()], 2);
        let passwords = all.iter().filter_map(|value| password(value).map(text));
        assert_eq!(passwords.collect::<Vec<_>>(), ["new", "last"]);
    }
}
