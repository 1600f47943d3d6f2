//! Paged results (RFC 2696): the cookie itself holds the position of a page's end.
//!
//! ```text
//!   version u8 | returned u32 | part u16 | region u32 | entry id u64 | began u64 | search [8] | sort key ... | mac [16]
//! ```
//!
//! - *returned*: the number of entries on all pages.
//! - *part*, *region*, *entry id*: the position of the last entry, in the order if there is a sort
//!   key.
//! - *began*: the time of the first page's snapshot in microseconds, as in CSNs.
//! - *search*: a hash of the request and the requester.
//! - *mac*: HMAC-SHA-256, cut to 16 bytes, with a key that the database keeps. A client cannot make
//!   a cookie.
//!
//! The server keeps nothing between pages. A connection may have any number of paged searches, and
//! a cookie outlives its connection and the server. Entry ids never change, so the next page
//! continues in any later snapshot of the same database. (The greatest id may be assigned again
//! after its deletion; such an entry may be skipped.)
//!
//! The cookie reveals nothing. Because ids also count hidden entries, a key stream derived from the
//! mac encrypts the rest. It grants nothing: each page checks all rights. A changed entry before
//! the end of the page is not returned again. One behind it is returned in its newest state. In
//! sorted searches the sort key is the position, so new and deleted entries shift nothing.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_store::EntryId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::sort::{EntryPosition, SortItem};
use crate::core::cookie::CookieKey;
use crate::core::result::{OpResult, refuse};

/// The hash of a search. A cookie continues only its own search.
pub(crate) type SearchHash = [u8; 8];

/// The page that a search returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The number of entries on the page at most.
    pub(crate) size: u32,
    /// The last entry of the previous page; `None` on the first page.
    pub(crate) after: Option<SortItem>,
    /// The number of entries on all previous pages.
    pub(crate) returned: u32,
    began_us: u64,
    search: SearchHash,
}

const VERSION: u8 = 3;
const MAC_LEN: usize = 16;
/// The length of sort keys up to which a cookie holds them. Longer keys are replaced by the number
/// of entries returned.
const KEY_MAX: usize = 1024;

impl Page {
    /// Reads the control of a request. `now_us` is the beginning of a search without a cookie.
    pub(crate) fn of(
        control: &PagedResults<'_>,
        search: SearchHash,
        now_us: u64,
        key: &CookieKey,
    ) -> OpResult<Page> {
        let mut page = Page {
            size: control.size,
            after: None,
            returned: 0,
            began_us: now_us,
            search,
        };
        if control.cookie.is_empty() {
            return Ok(page);
        }
        let (cookie, mac) = control
            .cookie
            .len()
            .checked_sub(MAC_LEN)
            .and_then(|len| control.cookie.split_at_checked(len))
            .ok_or_else(invalid)?;
        let mut plain = cookie.to_vec();
        encipher(&mut plain, mac, key);
        seal(&plain, key)
            .verify_truncated_left(mac)
            .map_err(|_| invalid())?;
        let asked = page.read(&plain).ok_or_else(invalid)?;
        if asked != search {
            return Err(refuse(
                ResultCode::UnwillingToPerform,
                "paged results cookie is invalid or old",
            ));
        }
        Ok(page)
    }

    fn read(&mut self, cookie: &[u8]) -> Option<SearchHash> {
        let (version, rest) = cookie.split_first()?;
        let (returned, rest) = rest.split_first_chunk()?;
        let (part, rest) = rest.split_first_chunk()?;
        let (region, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        let (began, rest) = rest.split_first_chunk()?;
        let (search, key) = rest.split_first_chunk()?;
        self.returned = u32::from_be_bytes(*returned);
        self.began_us = u64::from_be_bytes(*began);
        self.after = Some(SortItem {
            key: key.into(),
            at: EntryPosition {
                part: u16::from_be_bytes(*part),
                region: u32::from_be_bytes(*region),
                id: EntryId(u64::from_be_bytes(*id)),
            },
        });
        (*version == VERSION).then_some(*search)
    }

    /// Returns the cookie that continues after this page.
    pub(crate) fn cookie(&self, last: &SortItem, on_page: u32, key: &CookieKey) -> Vec<u8> {
        let mut cookie = vec![VERSION];
        cookie.extend_from_slice(&self.returned.saturating_add(on_page).to_be_bytes());
        cookie.extend_from_slice(&last.at.part.to_be_bytes());
        cookie.extend_from_slice(&last.at.region.to_be_bytes());
        cookie.extend_from_slice(&last.at.id.0.to_be_bytes());
        cookie.extend_from_slice(&self.began_us.to_be_bytes());
        cookie.extend_from_slice(&self.search);
        if last.key.len() <= KEY_MAX {
            cookie.extend_from_slice(&last.key);
        }
        let mac = seal(&cookie, key).finalize().into_bytes();
        let mac = mac.get(..MAC_LEN).unwrap_or_default();
        encipher(&mut cookie, mac, key);
        cookie.extend_from_slice(mac);
        cookie
    }
}

/// Hashes the fields that must stay the same from page to page.
pub(crate) fn search_hash<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> SearchHash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut out = SearchHash::default();
    let digest = hash.finalize();
    out.iter_mut()
        .zip(digest)
        .for_each(|(out, byte)| *out = byte);
    out
}

fn seal(cookie: &[u8], key: &CookieKey) -> Hmac<Sha256> {
    keyed(b'a', cookie, key)
}

/// Encrypts or decrypts with the key stream of a mac.
fn encipher(cookie: &mut [u8], mac: &[u8], key: &CookieKey) {
    for (number, block) in cookie.chunks_mut(32).enumerate() {
        let mut stream = keyed(b'e', mac, key);
        stream.update(&(number as u64).to_be_bytes());
        let stream = stream.finalize().into_bytes();
        block
            .iter_mut()
            .zip(stream)
            .for_each(|(byte, key)| *byte ^= key);
    }
}

fn keyed(purpose: u8, text: &[u8], key: &CookieKey) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(&[purpose]);
    mac.update(text);
    mac
}

fn invalid() -> LdapResult {
    refuse(ResultCode::ProtocolError, "paged results cookie is invalid")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CookieKey = [7; 32];

    fn read(cookie: &[u8], search: &str, key: &CookieKey) -> OpResult<Page> {
        let control = PagedResults { size: 5, cookie };
        Page::of(&control, search_hash([search.as_bytes()]), 42, key)
    }

    #[test]
    fn cookies_continue_their_own_search_only() {
        let first = read(b"", "a", &KEY).expect("a first page");
        assert_eq!((first.size, &first.after, first.returned), (5, &None, 0));
        let last = SortItem {
            key: b"sort".as_slice().into(),
            at: EntryPosition {
                part: 1,
                region: 70_000,
                id: EntryId(77),
            },
        };
        let cookie = first.cookie(&last, 10, &KEY);
        let page = read(&cookie, "a", &KEY).expect("a second page");
        assert_eq!((page.after, page.returned), (Some(last), 10));
        assert_eq!(page.began_us, 42);
        let code = |cookie: &[u8], search, key| read(cookie, search, key).map_err(|r| r.code);
        assert_eq!(
            code(&cookie, "b", &KEY).err(),
            Some(ResultCode::UnwillingToPerform)
        );
        let invalid = Some(ResultCode::ProtocolError);
        assert_eq!(code(&cookie, "a", &[8; 32]).err(), invalid);
        assert_eq!(code(&cookie[1..], "a", &KEY).err(), invalid);
        assert_eq!(code(b"x", "a", &KEY).err(), invalid);
        let id = 77_u64.to_be_bytes();
        assert!(!cookie.windows(id.len()).any(|part| part == id));
        for at in 0..cookie.len() {
            let mut spoilt = cookie.clone();
            spoilt[at] ^= 1;
            assert_eq!(code(&spoilt, "a", &KEY).err(), invalid, "byte {at}");
        }
    }

    #[test]
    fn fields_of_a_search_hash_are_separated() {
        assert_ne!(
            search_hash([&b"ab"[..], b"c"]),
            search_hash([&b"a"[..], b"bc"])
        );
    }
}
