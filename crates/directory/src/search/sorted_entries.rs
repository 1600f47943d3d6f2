//! Generated entries in sorted order. They are few, so one step sorts them all.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::control::SortResponse;
use fulgurite_ldap::{LdapResult, ResultCode, oid};
use fulgurite_schema::{Entry, Schema};
use fulgurite_store::EntryId;

use super::output::{CompleteOutput, SearchEnd};
use super::sort::{self, EntryPosition, OrderingKey, SortItem, Sorter};
use super::vlv::{self, SortedOutput};

/// Encoded entries with their sort keys.
pub(super) struct SortedEntries {
    keys: Vec<OrderingKey>,
    view: Option<vlv::ListView>,
    sorter: Sorter,
    encoded: Vec<Vec<u8>>,
    /// True if the sorter had room for all entries.
    complete: bool,
}

impl SortedEntries {
    pub(super) fn new(
        keys: Vec<OrderingKey>,
        view: Option<vlv::ListView>,
        bytes_max: usize,
    ) -> SortedEntries {
        SortedEntries {
            keys,
            view,
            sorter: Sorter::new(bytes_max),
            encoded: Vec::new(),
            complete: true,
        }
    }

    /// Adds an entry. Only readable values count.
    pub(super) fn push(
        &mut self,
        schema: &Schema,
        entry: &Entry,
        rights: EntryRights<'_>,
        encoded: Vec<u8>,
    ) {
        let readable =
            |description: &_, value: &[u8]| rights.value(description, value).allows(Rights::READ);
        let key = sort::key_of_unstored(&self.keys, schema, entry, readable);
        let id = EntryId(self.encoded.len() as u64);
        let at = EntryPosition {
            id,
            ..EntryPosition::default()
        };
        self.complete &= self.sorter.push(SortItem { key, at });
        self.encoded.push(encoded);
    }

    /// Returns the entries in their order, or those of the list view, up to a limit.
    pub(super) fn finish(self, size_max: Option<u32>) -> CompleteOutput {
        if !self.complete {
            let end = SearchEnd::plain(LdapResult::new(ResultCode::AdminLimitExceeded));
            return CompleteOutput::end(end);
        }
        let mut sorted_output = match SortedOutput::new(self.sorter.merge(), self.view, None) {
            Ok(sorted_output) => sorted_output,
            Err(end) => return CompleteOutput::end(*end),
        };
        let (mut out, mut sent) = (Vec::new(), 0);
        while let Some(item) = sorted_output.next_shown() {
            if size_max.is_some_and(|max| sent >= max) {
                let mut end = SearchEnd::plain(LdapResult::new(ResultCode::SizeLimitExceeded));
                sorted_output.complete(&mut end);
                return CompleteOutput {
                    encoded: out,
                    entries: sent,
                    end,
                };
            }
            let at = usize::try_from(item.at.id.0).unwrap_or(usize::MAX);
            out.extend_from_slice(self.encoded.get(at).map_or(&[], Vec::as_slice));
            sent += 1;
        }
        let mut end = SearchEnd::plain(LdapResult::success());
        sorted_output.complete(&mut end);
        let sorted = SortResponse {
            code: 0,
            attribute: None,
        };
        end.controls
            .insert(0, (oid::SORT_RESPONSE, sorted.encode()));
        CompleteOutput {
            encoded: out,
            entries: sent,
            end,
        }
    }
}
