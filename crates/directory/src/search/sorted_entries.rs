//! Entries that the server makes up, put in order: all of them at once, for they are few.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::control::SortResponse;
use fulgurite_ldap::{LdapResult, ResultCode, oid};
use fulgurite_schema::{Entry, Schema};
use fulgurite_store::EntryId;

use super::output::End;
use super::sort::{self, Item, Key, Position, Sorter};
use super::task::State;
use super::vlv::{self, Ordered};

/// Encoded entries with their sort keys.
pub(super) struct Arranged {
    keys: Vec<Key>,
    view: Option<vlv::View>,
    sorter: Sorter,
    encoded: Vec<Vec<u8>>,
    /// Whether all keys found room.
    complete: bool,
}

impl Arranged {
    pub(super) fn new(keys: Vec<Key>, view: Option<vlv::View>, bytes_max: usize) -> Arranged {
        Arranged {
            keys,
            view,
            sorter: Sorter::new(bytes_max),
            encoded: Vec::new(),
            complete: true,
        }
    }

    /// Takes an entry; only values that may be read take part.
    pub(super) fn push(
        &mut self,
        schema: &Schema,
        entry: &Entry,
        rights: EntryRights<'_>,
        encoded: Vec<u8>,
    ) {
        let readable =
            |description: &_, value: &[u8]| rights.value(description, value).allows(Rights::READ);
        let key = sort::key_of_owned(&self.keys, schema, entry, readable);
        let id = EntryId(self.encoded.len() as u64);
        let at = Position {
            id,
            ..Position::default()
        };
        self.complete &= self.sorter.push(Item { key, at });
        self.encoded.push(encoded);
    }

    /// The entries in their order, or those of a view, as far as a limit goes.
    pub(super) fn finish<'d>(self, size_max: Option<u32>) -> State<'d> {
        if !self.complete {
            let end = End::plain(LdapResult::new(ResultCode::AdminLimitExceeded));
            return State::Ready(Vec::new(), 0, end);
        }
        let mut ordered = match Ordered::new(self.sorter.merge(), self.view, None) {
            Ok(ordered) => ordered,
            Err(end) => return State::Ready(Vec::new(), 0, *end),
        };
        let (mut out, mut sent) = (Vec::new(), 0);
        while let Some(item) = ordered.next_shown() {
            if size_max.is_some_and(|max| sent >= max) {
                let mut end = End::plain(LdapResult::new(ResultCode::SizeLimitExceeded));
                ordered.complete(&mut end);
                return State::Ready(out, sent, end);
            }
            let at = usize::try_from(item.at.id.0).unwrap_or(usize::MAX);
            out.extend_from_slice(self.encoded.get(at).map_or(&[], Vec::as_slice));
            sent += 1;
        }
        let mut end = End::plain(LdapResult::success());
        ordered.complete(&mut end);
        let sorted = SortResponse {
            code: 0,
            attribute: None,
        };
        end.controls
            .insert(0, (oid::SORT_RESPONSE, sorted.encode()));
        State::Ready(out, sent, end)
    }
}
