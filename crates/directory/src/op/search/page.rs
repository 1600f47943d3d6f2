//! Paged results (RFC 2696): where a page ended, written into the cookie itself.
//!
//! ```text
//!   last entry id u64 | entries returned on all pages u32 | check sum of the search u64      big-endian
//! ```
//!
//! Nothing is kept between pages, so any number of paged searches may be under way on a connection, and a cookie
//! outlives connection and server. It grants nothing: rights are looked at anew on every page. The check sum only
//! keeps a client from continuing one search with the cookie of another.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{ResultCode, SearchRequest};
use fulgurite_store::EntryId;

use crate::answer::{Answer, refuse};

/// The page a search is to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Entries on the page at most.
    pub(crate) size: u32,
    /// Where the page before ended; zero on the first.
    pub(crate) after: EntryId,
    /// Entries on all pages before.
    pub(crate) returned: u32,
    checksum: u64,
}

const COOKIE_LEN: usize = 20;

impl Page {
    /// Reads the control of a request.
    pub(crate) fn of(control: &PagedResults<'_>, search: &SearchRequest<'_>) -> Answer<Page> {
        let mut page = Page {
            size: control.size,
            after: EntryId(0),
            returned: 0,
            checksum: checksum(search),
        };
        if !control.cookie.is_empty() {
            let (after, returned, checksum) = parse(control.cookie).ok_or_else(invalid)?;
            if checksum != page.checksum {
                return Err(invalid());
            }
            page.after = after;
            page.returned = returned;
        }
        Ok(page)
    }

    /// The cookie that continues after this page.
    pub(crate) fn cookie(&self, last: EntryId, on_page: u32) -> Vec<u8> {
        let mut cookie = Vec::with_capacity(COOKIE_LEN);
        cookie.extend_from_slice(&last.0.to_be_bytes());
        cookie.extend_from_slice(&self.returned.saturating_add(on_page).to_be_bytes());
        cookie.extend_from_slice(&self.checksum.to_be_bytes());
        cookie
    }
}

fn parse(cookie: &[u8]) -> Option<(EntryId, u32, u64)> {
    let (after, rest) = cookie.split_first_chunk()?;
    let (returned, rest) = rest.split_first_chunk()?;
    Some((
        EntryId(u64::from_be_bytes(*after)),
        u32::from_be_bytes(*returned),
        u64::from_be_bytes(rest.try_into().ok()?),
    ))
}

fn invalid() -> fulgurite_ldap::LdapResult {
    refuse(
        ResultCode::UnwillingToPerform,
        "paged results cookie is invalid",
    )
}

/// FNV-1a over what has to stay the same from page to page.
fn checksum(search: &SearchRequest<'_>) -> u64 {
    let filter = search.filter.to_string();
    let scope = [search.scope.number()];
    [search.base, &scope, filter.as_bytes()]
        .into_iter()
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |sum: u64, &octet| {
            (sum ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_ldap::{Filter, Scope};

    fn request(base: &str) -> SearchRequest<'_> {
        SearchRequest::new(base, Scope::Subtree, Filter::present("cn"))
    }

    #[test]
    fn cookies_continue_their_own_search_only() {
        let first = PagedResults {
            size: 10,
            cookie: b"",
        };
        let page = Page::of(&first, &request("dc=a")).expect("a first page");
        assert_eq!((page.size, page.after, page.returned), (10, EntryId(0), 0));
        let cookie = page.cookie(EntryId(77), 10);
        let next = PagedResults {
            size: 5,
            cookie: &cookie,
        };
        let page = Page::of(&next, &request("dc=a")).expect("a second page");
        assert_eq!((page.size, page.after, page.returned), (5, EntryId(77), 10));
        for (cookie, base) in [
            (&cookie[..], "dc=b"),
            (&cookie[1..], "dc=a"),
            (b"x", "dc=a"),
        ] {
            let refused = Page::of(&PagedResults { size: 5, cookie }, &request(base));
            assert_eq!(
                refused.map_err(|result| result.code),
                Err(ResultCode::UnwillingToPerform)
            );
        }
    }
}
