//! The accounts that a login name means.

use std::collections::HashMap;
use std::sync::Mutex;

use fulgurite_client::names::{child, filter_value, is_dn, normal};
use fulgurite_client::{Client, Scope};

use crate::ldap::{list, suffixes};
use crate::sessions::lock;

/// Names that are remembered at most.
const REMEMBERED_MAX: usize = 1000;

/// The accounts of a login name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoginAccounts {
    /// The names to bind as, in turn. Those after the first are only there if the server shows
    /// nothing to strangers.
    Names(Vec<String>),
    /// Several accounts have the name. No password is tried, because a wrong one would count for
    /// each of them.
    Several,
}

/// The accounts that short names have led to. They spare failed binds at other names.
///
/// A failed login changes nothing here. Otherwise a stranger could send the next attempts of a name
/// to other accounts.
#[derive(Debug, Default)]
pub(crate) struct KnownAccounts(Mutex<HashMap<String, String>>);

impl KnownAccounts {
    fn get(&self, name: &str) -> Option<String> {
        lock(&self.0).get(&name.to_lowercase()).cloned()
    }

    /// Remembers the account of a login.
    pub(crate) fn remember(&self, name: &str, dn: &str) {
        let mut known = lock(&self.0);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(name.to_lowercase(), dn.to_owned());
    }
}

/// Returns the accounts of a login name: the DN itself, or those of a short name.
///
/// The server may show nothing to strangers. Then the account of an earlier login is tried, or the
/// usual names.
pub(crate) fn accounts(client: &mut Client, known: &KnownAccounts, name: &str) -> LoginAccounts {
    if is_dn(name) {
        return LoginAccounts::Names(vec![name.to_owned()]);
    }
    let suffixes = suffixes(client).unwrap_or_default();
    for attribute in ["uid", "mail"] {
        let filter = format!("({attribute}={})", filter_value(name));
        let mut found = Vec::new();
        for suffix in &suffixes {
            // A refused search is like an empty one.
            let listing = list(client, (suffix, Scope::Subtree), &filter, &["1.1"]);
            let entries = listing.into_iter().flat_map(|listing| listing.entries);
            found.extend(entries.map(|entry| entry.dn));
        }
        found.sort_unstable();
        found.dedup_by_key(|dn| normal(dn));
        match found.len() {
            0 => {}
            1 => return LoginAccounts::Names(found),
            _ => return LoginAccounts::Several,
        }
    }
    let known = known.get(name).map(|dn| vec![dn]);
    LoginAccounts::Names(known.unwrap_or_else(|| usual_names(name, &suffixes)))
}

/// Returns the names that accounts usually have.
fn usual_names(name: &str, suffixes: &[String]) -> Vec<String> {
    let data = suffixes
        .iter()
        .filter(|suffix| !suffix.to_ascii_lowercase().starts_with("cn="));
    let names = data.flat_map(|suffix| {
        let people = child("ou", "people", suffix);
        [child("uid", name, &people), child("cn", name, suffix)]
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_remembered_in_any_case() {
        let known = KnownAccounts::default();
        known.remember("Ada", "uid=ada,dc=com");
        assert_eq!(known.get("ADA").as_deref(), Some("uid=ada,dc=com"));
        assert_eq!(known.get("bjorn"), None);
        for number in 0..=REMEMBERED_MAX {
            known.remember(&number.to_string(), "cn=x");
        }
        assert!(lock(&known.0).len() <= REMEMBERED_MAX);
    }

    #[test]
    fn usual_names_are_those_of_data() {
        let suffixes = ["dc=a".to_owned(), "cn=accesslog".to_owned()];
        assert_eq!(
            usual_names("x,y", &suffixes),
            ["uid=x\\2Cy,ou=people,dc=a", "cn=x\\2Cy,dc=a"]
        );
    }
}
