//! The output of sorted entries: all of them, a page, or a virtual list view
//! (draft-ietf-ldapext-ldapv3-vlv-09).
//!
//! ```text
//!   offset form:  target = length * offset / count, if the client sends a count; otherwise the offset itself
//!   value form:   target = the first entry whose first key is not less than the value; one past the end if none is
//!   shown:        target - before ..= target + after
//! ```

use fulgurite_ldap::control::{VlvRequest, VlvResponse, VlvTarget};
use fulgurite_ldap::{ResultCode, oid};
use fulgurite_schema::Schema;
use fulgurite_store::StoreError;

use super::database_search::DatabaseSearch;
use super::output::{Output, SearchEnd};
use super::page::SearchHash;
use super::sort::{Merge, OrderingKey, SortItem};

/// virtualListViewError of the VLV draft.
pub(crate) const VLV_ERROR: ResultCode = ResultCode::Unassigned(76);
/// Results of the response control: no sort control, and a target outside the list.
pub(crate) const SORT_CONTROL_MISSING: u32 = 60;
const OFFSET_RANGE_ERROR: u32 = 61;

/// A list view that a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct ListView {
    before: u32,
    after: u32,
    target: ViewTarget,
    /// The hash that later views of the same search send back.
    context: SearchHash,
}

#[derive(Clone, Debug)]
enum ViewTarget {
    Offset { offset: u32, count: u32 },
    AtLeast(Vec<u8>),
}

impl ListView {
    /// Resolves a request; `None` for a value that the first key's rule cannot normalize.
    pub(crate) fn resolve(
        schema: &Schema,
        request: &VlvRequest<'_>,
        keys: &[OrderingKey],
        context: SearchHash,
    ) -> Option<ListView> {
        let target = match request.target {
            VlvTarget::Offset { offset, count } => ViewTarget::Offset { offset, count },
            VlvTarget::AtLeast(value) => {
                ViewTarget::AtLeast(keys.first()?.component_of(schema, value)?)
            }
        };
        Some(ListView {
            before: request.before,
            after: request.after,
            target,
            context,
        })
    }

    /// Returns the position of the target, counted from 1; `None` outside the list.
    fn position(&self, merge: &Merge) -> Option<u64> {
        let len = merge.len() as u64;
        match &self.target {
            ViewTarget::AtLeast(key) => Some(merge.count_below(key) as u64 + 1),
            ViewTarget::Offset { .. } if len == 0 => Some(0),
            // Like slapd, an unknown length without an offset means the end.
            ViewTarget::Offset {
                offset: 0,
                count: 0,
            } => Some(len),
            ViewTarget::Offset { offset, count: 0 } => {
                let offset = u64::from(*offset);
                (offset <= len).then_some(offset)
            }
            ViewTarget::Offset { offset, count } if offset > count => None,
            ViewTarget::Offset { offset, .. } if *offset <= 1 => Some(1),
            ViewTarget::Offset { offset, count } => {
                Some((len * u64::from(*offset) / u64::from(*count)).max(1))
            }
        }
    }
}

/// The sorted entries that are written.
pub(crate) struct SortedOutput {
    merge: Merge,
    /// The entries to skip, and the entries to write after them.
    skip: u64,
    take: u64,
    response: Option<(ListView, u32)>,
}

impl SortedOutput {
    /// Begins the output of a complete list.
    ///
    /// # Errors
    /// The end of a search whose view is outside the list.
    pub(crate) fn new(
        merge: Merge,
        view: Option<ListView>,
        after: Option<&(SortItem, u32)>,
    ) -> Result<SortedOutput, Box<SearchEnd>> {
        let len = merge.len() as u64;
        let Some(view) = view else {
            // A long sort key is not in the cookie, so the number of returned entries counts.
            let skip = match after {
                None => 0,
                Some((item, returned)) if item.key.is_empty() => u64::from(*returned),
                Some((item, _)) => merge.count_through(item) as u64,
            };
            return Ok(SortedOutput {
                merge,
                skip,
                take: u64::MAX,
                response: None,
            });
        };
        let Some(position) = view.position(&merge) else {
            let mut end = SearchEnd::plain(fulgurite_ldap::LdapResult::new(VLV_ERROR));
            end.controls
                .push(response(0, len, OFFSET_RANGE_ERROR, &view.context));
            return Err(Box::new(end));
        };
        debug_assert!(
            position <= len + 1,
            "a target is in the list or one past its end"
        );
        let first = position.saturating_sub(u64::from(view.before)).max(1);
        let last = position.saturating_add(u64::from(view.after)).min(len);
        Ok(SortedOutput {
            merge,
            skip: first - 1,
            take: (last + 1).saturating_sub(first),
            response: Some((view, u32::try_from(position).unwrap_or(u32::MAX))),
        })
    }

    /// Writes some entries. Returns the end once it is reached.
    pub(crate) fn advance(
        &mut self,
        parts: &mut [Option<Box<DatabaseSearch<'_>>>],
        output: &mut Output,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        while *left > 0 && out.len() < bytes_end {
            *left -= 1;
            let Some(item) = self.next_item() else {
                let mut end = output.end(ResultCode::Success);
                self.complete(&mut end);
                return Ok(Some(end));
            };
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.take -= 1;
            let part = parts.get_mut(usize::from(item.at.part));
            let Some(part) = part.and_then(Option::as_mut) else {
                continue;
            };
            if let Some(mut end) = part.write_sorted(item, output, out)? {
                self.complete(&mut end);
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Returns the next entry of the view.
    pub(crate) fn next_shown(&mut self) -> Option<SortItem> {
        while self.skip > 0 {
            self.skip -= 1;
            self.next_item()?;
        }
        let item = self.next_item()?;
        self.take -= 1;
        Some(item)
    }

    fn next_item(&mut self) -> Option<SortItem> {
        (self.take > 0).then(|| self.merge.next()).flatten()
    }

    /// Sets the length of the list and the position of the view.
    pub(crate) fn complete(&self, end: &mut SearchEnd) {
        let len = self.merge.len() as u64;
        end.estimate = u32::try_from(len).unwrap_or(u32::MAX);
        if let Some((view, position)) = &self.response {
            end.controls
                .push(response(*position, len, 0, &view.context));
        }
    }
}

/// Returns the VLV response control.
pub(crate) fn response(
    position: u32,
    len: u64,
    code: u32,
    context: &[u8],
) -> (&'static str, Vec<u8>) {
    let response = VlvResponse {
        position,
        count: u32::try_from(len).unwrap_or(i32::MAX.cast_unsigned()),
        code,
        context: (!context.is_empty()).then_some(context),
    };
    (oid::VLV_RESPONSE, response.encode())
}
