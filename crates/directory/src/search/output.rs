//! The output of a search: entries, a page of them, or a list to be sorted.

use fulgurite_ldap::{LdapResult, MessageId, ResultCode, encode};

use super::dereference::ResolvedDereference;
use super::page::Page;
use super::sort::{EntryPosition, OrderingKey, SortItem, Sorter};
use super::usability::AccountPolicies;
use crate::core::cookie::CookieKey;
use crate::request::limits::SearchLimits;
use crate::rights::projection::Projection;
use crate::search::sync::entries::RefreshEntries;

/// The end of a search.
#[derive(Debug)]
pub(crate) struct SearchEnd {
    pub(crate) result: LdapResult,
    /// The cookie of the next page, empty after the last; `None` without paging.
    pub(crate) cookie: Option<Vec<u8>>,
    /// The number of entries, if known.
    pub(crate) estimate: u32,
    /// Other response controls.
    pub(crate) controls: Vec<(&'static str, Vec<u8>)>,
}

impl SearchEnd {
    pub(crate) fn plain(result: LdapResult) -> SearchEnd {
        SearchEnd {
            result,
            cookie: None,
            estimate: 0,
            controls: Vec::new(),
        }
    }
}

/// The rest of a search: encoded entries, and the end.
#[derive(Debug)]
pub(crate) struct CompleteOutput {
    pub(crate) encoded: Vec<u8>,
    pub(crate) entries: u32,
    pub(crate) end: SearchEnd,
}

impl CompleteOutput {
    /// Makes an end without entries.
    pub(crate) fn end(end: SearchEnd) -> CompleteOutput {
        CompleteOutput {
            encoded: Vec::new(),
            entries: 0,
            end,
        }
    }
}

/// The output that the parts of a search share. It has rare parts in boxes.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) id: MessageId,
    pub(crate) projection: Projection,
    pub(crate) limits: SearchLimits,
    pub(crate) page: Option<Box<Page>>,
    pub(crate) cookie_key: CookieKey,
    /// Present while a sorted search collects entries.
    pub(crate) sorter: Option<Box<Sorter>>,
    pub(crate) sort_keys: Vec<OrderingKey>,
    /// The dereference control.
    pub(crate) dereference: Option<Box<ResolvedDereference>>,
    /// The account usability control.
    pub(crate) usability: Option<Box<AccountPolicies>>,
    /// The states of the entries of a full refresh.
    pub(crate) sync: Option<Box<RefreshEntries>>,
    pub(crate) sent: u32,
    /// The start of the current step, by the clock of time limits.
    pub(crate) now_us: u64,
    /// The number of search references written.
    pub(crate) references: u32,
    /// The last entry written.
    last: SortItem,
}

impl Output {
    pub(crate) fn new(
        id: MessageId,
        projection: Projection,
        limits: SearchLimits,
        cookie_key: CookieKey,
    ) -> Output {
        Output {
            id,
            projection,
            limits,
            page: None,
            cookie_key,
            sorter: None,
            sort_keys: Vec::new(),
            dereference: None,
            usability: None,
            sync: None,
            sent: 0,
            now_us: 0,
            references: 0,
            last: SortItem {
                key: Box::default(),
                at: EntryPosition::default(),
            },
        }
    }

    /// Returns true if a control asks for an answer with each entry.
    pub(crate) fn has_entry_controls(&self) -> bool {
        self.dereference.is_some() || self.usability.is_some()
    }

    /// Returns the end of a full page before another entry.
    pub(crate) fn page_full(&self) -> Option<SearchEnd> {
        let page = self.page.as_ref().filter(|page| self.sent >= page.size)?;
        let mut end = SearchEnd::plain(LdapResult::success());
        end.cookie = Some(page.cookie(&self.last, self.sent, &self.cookie_key));
        Some(end)
    }

    /// Returns the end if the page or the size limit permits no other entry.
    pub(crate) fn full(&self) -> Option<SearchEnd> {
        if let Some(end) = self.page_full() {
            return Some(end);
        }
        let before = self.page.as_ref().map_or(0, |page| page.returned);
        let total = before.saturating_add(self.sent);
        let too_many = self.limits.size_max.is_some_and(|max| total >= max);
        too_many.then(|| self.end(ResultCode::SizeLimitExceeded))
    }

    /// Returns true on every page but the first.
    pub(crate) fn is_continued(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.after.is_some())
    }

    /// Counts an entry that is written.
    pub(crate) fn wrote(&mut self, item: SortItem) {
        self.sent += 1;
        self.last = item;
    }

    /// Writes a search reference. No limit counts it.
    pub(crate) fn reference(&mut self, out: &mut Vec<u8>, urls: &[String]) {
        if !urls.is_empty() {
            self.references += 1;
            encode::search_reference(out, self.id, urls.iter().map(String::as_str), &[]);
        }
    }

    /// Returns the end of the whole search with a code.
    pub(crate) fn end(&self, code: ResultCode) -> SearchEnd {
        let mut end = SearchEnd::plain(LdapResult::new(code));
        let paged = self.page.as_ref().filter(|_| code == ResultCode::Success);
        end.cookie = paged.map(|_| Vec::new());
        end
    }
}
