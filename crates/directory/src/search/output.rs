//! Where a search's entries go: to the client at once, a page of them, or first into order.

use fulgurite_ldap::{LdapResult, MessageId, ResultCode, encode};

use super::page::Page;
use super::sort::{EntryPosition, OrderingKey, SortItem, Sorter};
use crate::core::cookie::CookieKey;
use crate::request::limits::SearchLimits;
use crate::rights::projection::Projection;

/// How a search came to its end.
#[derive(Debug)]
pub(crate) struct SearchEnd {
    pub(crate) result: LdapResult,
    /// Where the next page begins, empty after the last; `None` for a search that is not paged.
    pub(crate) cookie: Option<Vec<u8>>,
    /// How many entries there are, where that is known.
    pub(crate) estimate: u32,
    /// Response controls besides.
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

/// All that is left of a search: entries that are encoded already, and the end.
#[derive(Debug)]
pub(crate) struct CompleteOutput {
    pub(crate) encoded: Vec<u8>,
    pub(crate) entries: u32,
    pub(crate) end: SearchEnd,
}

impl CompleteOutput {
    /// An end without entries.
    pub(crate) fn end(end: SearchEnd) -> CompleteOutput {
        CompleteOutput {
            encoded: Vec::new(),
            entries: 0,
            end,
        }
    }
}

/// What the parts of a search share.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) id: MessageId,
    pub(crate) projection: Projection,
    pub(crate) limits: SearchLimits,
    pub(crate) page: Option<Page>,
    pub(crate) cookie_key: CookieKey,
    /// Set while entries are collected to be sorted.
    pub(crate) sorter: Option<Sorter>,
    pub(crate) sort_keys: Vec<OrderingKey>,
    pub(crate) sent: u32,
    /// When the step under way began, by the clock that time limits go by.
    pub(crate) now_us: u64,
    /// Search references written.
    pub(crate) references: u32,
    /// The entry written last.
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
            sent: 0,
            now_us: 0,
            references: 0,
            last: SortItem {
                key: Box::default(),
                at: EntryPosition::default(),
            },
        }
    }

    /// The end of a page that is full, now that there is more.
    pub(crate) fn page_full(&self) -> Option<SearchEnd> {
        let page = self.page.as_ref().filter(|page| self.sent >= page.size)?;
        let mut end = SearchEnd::plain(LdapResult::success());
        end.cookie = Some(page.cookie(&self.last, self.sent, &self.cookie_key));
        Some(end)
    }

    /// The end, if one entry more is one too many.
    pub(crate) fn full(&self) -> Option<SearchEnd> {
        if let Some(end) = self.page_full() {
            return Some(end);
        }
        let before = self.page.as_ref().map_or(0, |page| page.returned);
        let total = before.saturating_add(self.sent);
        let too_many = self.limits.size_max.is_some_and(|max| total >= max);
        too_many.then(|| self.end(ResultCode::SizeLimitExceeded))
    }

    /// Whether this is not the first page.
    pub(crate) fn is_continued(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.after.is_some())
    }

    /// Counts an entry that has been written.
    pub(crate) fn wrote(&mut self, item: SortItem) {
        self.sent += 1;
        self.last = item;
    }

    /// Writes a search reference, which counts against no limit.
    pub(crate) fn reference(&mut self, out: &mut Vec<u8>, urls: &[String]) {
        if !urls.is_empty() {
            self.references += 1;
            encode::search_reference(out, self.id, urls.iter().map(String::as_str), &[]);
        }
    }

    /// The end of everything, or for a reason.
    pub(crate) fn end(&self, code: ResultCode) -> SearchEnd {
        let mut end = SearchEnd::plain(LdapResult::new(code));
        let paged = self.page.as_ref().filter(|_| code == ResultCode::Success);
        end.cookie = paged.map(|_| Vec::new());
        end
    }
}
