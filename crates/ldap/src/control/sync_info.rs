//! Sync Info, the intermediate response of a content synchronisation (RFC 4533 section 2.5).

use fulgurite_ber::{Reader, Tag, Writer};

use super::sync_state::{EntryUuid, uuid};
use crate::Fault;

const NEW_COOKIE: Tag = Tag::context(0);
const REFRESH_DELETE: Tag = Tag::context(1).constructed();
const REFRESH_PRESENT: Tag = Tag::context(2).constructed();
const SYNC_ID_SET: Tag = Tag::context(3).constructed();

/// The value of a Sync Info message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncInfo<'a> {
    /// The state of the consumer's copy has moved, and nothing else.
    NewCookie(&'a [u8]),
    /// A phase of the refresh ends in which the provider told each deletion.
    RefreshDelete(PhaseEnd<'a>),
    /// A phase of the refresh ends in which the provider named all entries that remain.
    RefreshPresent(PhaseEnd<'a>),
    /// Several entries are present or gone.
    SyncIdSet(SyncIdSet<'a>),
}

/// The end of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseEnd<'a> {
    /// The state of the consumer's copy.
    pub cookie: Option<&'a [u8]>,
    /// True if the refresh is done and the persist stage begins.
    pub refresh_done: bool,
}

/// Entries that share a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncIdSet<'a> {
    /// The state of the consumer's copy.
    pub cookie: Option<&'a [u8]>,
    /// True if the entries are gone, false if they are present.
    pub refresh_deletes: bool,
    /// The entries.
    pub uuids: Vec<EntryUuid>,
}

impl<'a> SyncInfo<'a> {
    /// Decodes the value of an intermediate response named [`SYNC_INFO`](crate::oid::SYNC_INFO).
    ///
    /// # Errors
    /// A [`Fault`] for anything but the choice of RFC 4533.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let Some(tag) = outside.peek() else {
            return Err(Fault::Empty("syncInfoValue"));
        };
        let info = match tag {
            NEW_COOKIE => SyncInfo::NewCookie(outside.expect(NEW_COOKIE)?),
            REFRESH_DELETE => SyncInfo::RefreshDelete(PhaseEnd::decode(outside.nested(tag)?)?),
            REFRESH_PRESENT => SyncInfo::RefreshPresent(PhaseEnd::decode(outside.nested(tag)?)?),
            SYNC_ID_SET => SyncInfo::SyncIdSet(SyncIdSet::decode(outside.nested(tag)?)?),
            other => {
                return Err(Fault::OutOfRange {
                    what: "choice of syncInfoValue",
                    value: i64::from(other.0),
                });
            }
        };
        outside.end()?;
        Ok(info)
    }

    /// Returns the value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        match self {
            SyncInfo::NewCookie(cookie) => writer.primitive(NEW_COOKIE, cookie),
            SyncInfo::RefreshDelete(end) => end.encode(&mut writer, REFRESH_DELETE),
            SyncInfo::RefreshPresent(end) => end.encode(&mut writer, REFRESH_PRESENT),
            SyncInfo::SyncIdSet(set) => set.encode(&mut writer),
        }
        out
    }
}

impl<'a> PhaseEnd<'a> {
    fn decode(mut reader: Reader<'a>) -> Result<Self, Fault> {
        let cookie = reader.optional(Tag::OCTET_STRING)?;
        let refresh_done = match reader.optional(Tag::BOOLEAN)? {
            Some(content) => Reader::boolean_of(content)?,
            None => true,
        };
        reader.skip_extensions()?;
        Ok(PhaseEnd {
            cookie,
            refresh_done,
        })
    }

    fn encode(&self, writer: &mut Writer<'_>, tag: Tag) {
        writer.container(tag, |writer| {
            if let Some(cookie) = self.cookie {
                writer.octet_string(cookie);
            }
            if !self.refresh_done {
                writer.boolean(false);
            }
        });
    }
}

impl<'a> SyncIdSet<'a> {
    fn decode(mut reader: Reader<'a>) -> Result<Self, Fault> {
        let cookie = reader.optional(Tag::OCTET_STRING)?;
        let refresh_deletes = match reader.optional(Tag::BOOLEAN)? {
            Some(content) => Reader::boolean_of(content)?,
            None => false,
        };
        let mut set = reader.nested(Tag::SET)?;
        let mut uuids = Vec::new();
        while !set.is_empty() {
            uuids.push(uuid(set.octet_string()?)?);
        }
        reader.skip_extensions()?;
        Ok(SyncIdSet {
            cookie,
            refresh_deletes,
            uuids,
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(SYNC_ID_SET, |writer| {
            if let Some(cookie) = self.cookie {
                writer.octet_string(cookie);
            }
            if self.refresh_deletes {
                writer.boolean(true);
            }
            writer.container(Tag::SET, |writer| {
                self.uuids.iter().for_each(|uuid| writer.octet_string(uuid));
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Response, ResponseMessage, encode, oid};
    use proptest::prelude::*;

    const DONE: PhaseEnd<'static> = PhaseEnd {
        cookie: None,
        refresh_done: true,
    };

    #[test]
    fn short_values_have_the_bytes_of_slapd() {
        assert_eq!(SyncInfo::RefreshDelete(DONE).encode(), b"\xa1\x00");
        assert_eq!(SyncInfo::RefreshPresent(DONE).encode(), b"\xa2\x00");
        assert_eq!(SyncInfo::NewCookie(b"rid").encode(), b"\x80\x03rid");
    }

    #[test]
    fn a_message_is_an_intermediate_response() {
        let (info, mut out) = (SyncInfo::NewCookie(b"rid=001"), Vec::new());
        encode::sync_info(&mut out, 7, &info);
        let message = ResponseMessage::decode(&out).unwrap();
        let Response::Intermediate { name, value } = message.response else {
            panic!("{message:?}");
        };
        assert_eq!((message.id, name), (7, Some(oid::SYNC_INFO.as_bytes())));
        assert_eq!(SyncInfo::decode(value.unwrap()), Ok(info));
    }

    #[test]
    fn unknown_choices_and_short_uuids_are_refused() {
        assert!(SyncInfo::decode(b"").is_err());
        assert!(SyncInfo::decode(b"\xa4\x00").is_err());
        assert!(SyncInfo::decode(b"\xa3\x05\x31\x03\x04\x01x").is_err());
        assert!(SyncInfo::decode(b"\xa3\x00").is_err());
        assert!(SyncInfo::decode(b"\xa1\x00\x00").is_err());
    }

    proptest! {
        #[test]
        fn values_come_back(
            choice in 0..4_u8,
            cookie in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
            flag: bool,
            uuids in proptest::collection::vec(any::<[u8; 16]>(), 0..300),
        ) {
            let cookie = cookie.as_deref();
            let end = PhaseEnd { cookie, refresh_done: flag };
            let info = match choice {
                0 => SyncInfo::NewCookie(cookie.unwrap_or_default()),
                1 => SyncInfo::RefreshDelete(end),
                2 => SyncInfo::RefreshPresent(end),
                _ => SyncInfo::SyncIdSet(SyncIdSet { cookie, refresh_deletes: flag, uuids }),
            };
            let value = info.encode();
            prop_assert_eq!(SyncInfo::decode(&value), Ok(info));
            for len in 0..value.len().min(400) {
                prop_assert!(SyncInfo::decode(&value[..len]).is_err());
            }
        }

        #[test]
        fn any_bytes_have_an_answer(value in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = SyncInfo::decode(&value);
        }
    }
}
