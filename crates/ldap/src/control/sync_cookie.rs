//! The text of a synchronisation cookie, as slapd writes and reads it.
//!
//! ```text
//!   rid=007,sid=001,csn=20260131235959.123456Z#000000#001#000000;20260131...#002#000000
//! ```
//! The protocol leaves the form of a cookie to the provider. Consumers of slapd read it all the
//! same, so a provider for them has no choice.

use std::fmt;

use crate::EntryPlace;

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

impl<'a> SyncCookie<'a> {
    /// The part by which servers of this program know each other. Others pass over it.
    pub const PEER: &'static str = "fg=1";

    /// The part by which they know a copy that only its provider changes.
    pub const COPY: &'static str = "fg=0";

    /// The beginning of the part with the numbers of an entry's parts.
    pub const STAMPS: &'static str = "fgs=";

    /// Returns true if a server of this program wrote the cookie.
    #[must_use]
    pub fn is_of_peer(&self) -> bool {
        self.others.contains(&Self::PEER)
    }

    /// Returns true if a server of this program sends the cookie, whoever changes its copy.
    #[must_use]
    pub fn is_of_same_program(&self) -> bool {
        self.is_of_peer() || self.others.contains(&Self::COPY)
    }

    /// Returns the greatest number of the states that a deletion ends. It is in the cookie of the
    /// deletion, unless it is the number of the deletion.
    #[must_use]
    pub fn ended(&self) -> Option<&'a str> {
        let mut others = self.others.iter();
        csn(others.find_map(|part| part.strip_prefix("fgd="))?)
    }

    /// Returns the numbers of the parts of the entry in whose message the cookie is.
    #[must_use]
    pub fn stamps(&self) -> Option<&'a str> {
        let mut others = self.others.iter();
        others.find_map(|part| part.strip_prefix(Self::STAMPS))
    }

    /// Returns the place of the entry in whose message the cookie is.
    #[must_use]
    pub fn place(&self) -> Option<EntryPlace> {
        let mut others = self.others.iter();
        let place = others.find_map(|part| part.strip_prefix("fgp="))?;
        let mut parts = place.splitn(3, '/');
        let above = parts.next()?;
        let above = u128::from_str_radix(above, 16)
            .ok()
            .filter(|_| above.len() == 32)?;
        let levels = parts.next()?.parse().ok()?;
        let number = parts.next().map(csn);
        Some(EntryPlace {
            above: above.to_be_bytes(),
            levels,
            csn: match number {
                Some(number) => Some(number?.to_owned()),
                None => None,
            },
        })
    }
}

impl EntryPlace {
    /// Returns the part of a cookie that tells the place.
    #[must_use]
    pub fn cookie_part(&self) -> String {
        let above = u128::from_be_bytes(self.above);
        match &self.csn {
            None => format!("fgp={above:032x}/{}", self.levels),
            Some(csn) => format!("fgp={above:032x}/{}/{csn}", self.levels),
        }
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

    #[test]
    fn peers_tell_places() {
        let place = |csn: Option<&str>| EntryPlace {
            above: [0xab; 16],
            levels: 2,
            csn: csn.map(str::to_owned),
        };
        for place in [place(None), place(Some(B))] {
            let part = place.cookie_part();
            let cookie = SyncCookie {
                others: vec![SyncCookie::PEER, &part],
                ..SyncCookie::default()
            };
            let bytes = cookie.encode();
            let parsed = SyncCookie::parse(&bytes).unwrap();
            assert!(parsed.is_of_peer());
            assert_eq!(parsed.place(), Some(place));
        }
        for text in ["fgp=", "fgp=ab/1", "fgp=/1", "fgp=1/1/x", "fg=2"] {
            let text = format!("rid=001,{text}");
            assert_eq!(SyncCookie::parse(text.as_bytes()).unwrap().place(), None);
        }
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
