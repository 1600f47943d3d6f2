//! The state of an entry in a content synchronisation (RFC 4533 section 2.3).

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The 16 bytes of an entryUUID.
pub type EntryUuid = [u8; 16];

/// The change that an entry message tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// The entry is unchanged and belongs to the content.
    Present,
    /// The entry has entered the content.
    Add,
    /// The entry has changed.
    Modify,
    /// The entry has left the content.
    Delete,
}

impl EntryState {
    const ALL: [EntryState; 4] = [
        EntryState::Present,
        EntryState::Add,
        EntryState::Modify,
        EntryState::Delete,
    ];

    fn from_number(number: i64) -> Option<EntryState> {
        EntryState::ALL
            .into_iter()
            .find(|state| *state as i64 == number)
    }
}

/// The value of the Sync State control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncState<'a> {
    /// The change.
    pub state: EntryState,
    /// The entry.
    pub entry_uuid: EntryUuid,
    /// The state of the consumer's copy after this message.
    pub cookie: Option<&'a [u8]>,
}

impl<'a> SyncState<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::SYNC_STATE, "Sync State control", |value| {
            SyncState::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 4533.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let number = reader.enumerated()?;
        let state = EntryState::from_number(number).ok_or(Fault::OutOfRange {
            what: "state of an entry",
            value: number,
        })?;
        let entry_uuid = uuid(reader.octet_string()?)?;
        let cookie = reader.optional(Tag::OCTET_STRING)?;
        reader.skip_extensions()?;
        Ok(SyncState {
            state,
            entry_uuid,
            cookie,
        })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + self.cookie.map_or(0, <[u8]>::len));
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.enumerated(self.state as i64);
            writer.octet_string(&self.entry_uuid);
            if let Some(cookie) = self.cookie {
                writer.octet_string(cookie);
            }
        });
        out
    }
}

/// Returns the UUID of a string of 16 bytes.
pub(super) fn uuid(content: &[u8]) -> Result<EntryUuid, Fault> {
    content.try_into().map_err(|_| Fault::OutOfRange {
        what: "length of an entryUUID",
        value: i64::try_from(content.len()).unwrap_or(i64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unknown_states_and_short_uuids_are_refused() {
        let mut value = SyncState {
            state: EntryState::Delete,
            entry_uuid: [7; 16],
            cookie: None,
        }
        .encode();
        value[4] = 4;
        assert!(matches!(
            SyncState::decode(&value),
            Err(Fault::OutOfRange { value: 4, .. })
        ));
        assert!(SyncState::decode(b"\x30\x06\x0a\x01\x01\x04\x01x").is_err());
    }

    proptest! {
        #[test]
        fn states_come_back(
            number in 0..4_usize,
            entry_uuid: [u8; 16],
            cookie in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
        ) {
            let state = SyncState {
                state: EntryState::ALL[number],
                entry_uuid,
                cookie: cookie.as_deref(),
            };
            let value = state.encode();
            prop_assert_eq!(SyncState::decode(&value), Ok(state));
            for len in 0..value.len() {
                prop_assert!(SyncState::decode(&value[..len]).is_err());
            }
        }

        #[test]
        fn any_bytes_have_an_answer(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = SyncState::decode(&value);
        }
    }
}
