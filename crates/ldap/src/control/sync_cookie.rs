//! The text of a synchronisation cookie, as slapd writes and reads it.
//!
//! ```text
//!   rid=007,sid=001,csn=20260131235959.123456Z#000000#001#000000;20260131...#002#000000
//! ```
//! The protocol leaves the form of a cookie to the provider. Consumers of slapd read it all the
//! same, so a provider for them has no choice.

use std::fmt;

/// Length of a change sequence number in bytes.
const CSN_LEN: usize = "20260131235959.123456Z#000000#001#000000".len();

/// A cookie whose parts are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncCookie<'a> {
    /// The number that the consumer gave its replication, 0 to 999.
    pub rid: u16,
    /// The server that wrote the cookie, 0 to 4095.
    pub sid: Option<u16>,
    /// The greatest change sequence number of each server; none if the consumer has no copy.
    pub csns: Vec<&'a str>,
    /// The change sequence number of the deletion that the message tells.
    pub delete_csn: Option<&'a str>,
    /// The other parts, as written (`fg=1`).
    pub others: Vec<&'a str>,
}

impl<'a> SyncCookie<'a> {
    /// Reads a cookie. Returns `None` for text that slapd takes as no cookie at all.
    #[must_use]
    pub fn parse(cookie: &'a [u8]) -> Option<Self> {
        let text = str::from_utf8(cookie).ok()?;
        let mut parts = text.split(',');
        let rid = parts.next()?.strip_prefix("rid=")?;
        let mut parsed = SyncCookie {
            rid: number(rid, 10, 999)?,
            ..SyncCookie::default()
        };
        for part in parts {
            match part.split_once('=') {
                Some(("sid", sid)) => parsed.sid = Some(number(sid, 16, 0xfff)?),
                Some(("csn", csns)) => {
                    parsed.csns = csns.split(';').map(csn).collect::<Option<_>>()?;
                }
                Some(("delcsn", deleted)) => parsed.delete_csn = Some(csn(deleted)?),
                _ => parsed.others.push(part),
            }
        }
        Some(parsed)
    }

    /// Returns the bytes as they travel.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }
}

impl fmt::Display for SyncCookie<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rid={:03}", self.rid)?;
        if let Some(sid) = self.sid {
            write!(f, ",sid={sid:03x}")?;
        }
        for (place, csn) in self.csns.iter().enumerate() {
            let before = if place == 0 { ",csn=" } else { ";" };
            write!(f, "{before}{csn}")?;
        }
        if let Some(csn) = self.delete_csn {
            write!(f, ",delcsn={csn}")?;
        }
        self.others.iter().try_for_each(|part| write!(f, ",{part}"))
    }
}

fn number(text: &str, radix: u32, max: u16) -> Option<u16> {
    let digits = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    let number = digits.then(|| u16::from_str_radix(text, radix).ok())??;
    (number <= max).then_some(number)
}

/// Returns a change sequence number if it has the long form.
fn csn(text: &str) -> Option<&str> {
    let fits = |place: usize, byte: u8| match place {
        14 => byte == b'.',
        21 => byte == b'Z',
        22 | 29 | 33 => byte == b'#',
        0..22 => byte.is_ascii_digit(),
        _ => byte.is_ascii_hexdigit(),
    };
    let whole = text.len() == CSN_LEN
        && text
            .bytes()
            .enumerate()
            .all(|(place, byte)| fits(place, byte));
    whole.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: &str = "20260131235959.123456Z#000000#001#000000";
    const B: &str = "20260131235959.123456Z#00000a#0ff#000000";

    #[test]
    fn slapds_cookies_are_read() {
        let cookie = format!("rid=7,csn={A};{B},sid=0ff,fg=1");
        let parsed = SyncCookie::parse(cookie.as_bytes()).unwrap();
        assert_eq!((parsed.rid, parsed.sid), (7, Some(0xff)));
        assert_eq!(parsed.csns, [A, B]);
        assert_eq!(parsed.others, ["fg=1"]);
        assert_eq!(
            parsed.to_string(),
            format!("rid=007,sid=0ff,csn={A};{B},fg=1")
        );
        assert_eq!(SyncCookie::parse(b"rid=007").unwrap().csns, [""; 0]);
    }

    #[test]
    fn text_that_slapd_takes_as_no_cookie_is_none() {
        let short = &A[..A.len() - 7];
        for text in [
            "",
            "junk",
            "rid=",
            "rid=abc",
            "rid=1000",
            "rid=+1",
            "csn=abc",
            A,
            &format!("csn={A}"),
            "rid=001,csn=",
            "rid=001,csn=abc",
            &format!("rid=001,csn={short}"),
            &format!("rid=001,csn={A};"),
            "rid=001,sid=1000",
        ] {
            assert_eq!(SyncCookie::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(SyncCookie::parse(b"rid=001,\xff"), None);
    }

    proptest! {
        #[test]
        fn cookies_come_back(
            rid in 0..1000_u16,
            sid in proptest::option::of(0..0x1000_u16),
            csns in proptest::collection::vec(
                "[0-9]{14}\\.[0-9]{6}Z#[0-9a-f]{6}#[0-9a-f]{3}#[0-9a-f]{6}", 0..4),
            deleted: bool,
            marked: bool,
        ) {
            let cookie = SyncCookie {
                rid,
                sid,
                csns: csns.iter().map(String::as_str).collect(),
                delete_csn: deleted.then_some(A),
                others: if marked { vec!["fg=1"] } else { Vec::new() },
            };
            let bytes = cookie.encode();
            prop_assert_eq!(SyncCookie::parse(&bytes), Some(cookie));
        }

        #[test]
        fn any_bytes_have_an_answer(text in "(rid=[0-9]{1,3})?[,;=a-z0-9#.Z]{0,60}") {
            let _ = SyncCookie::parse(text.as_bytes());
        }
    }
}
