//! A quick look at a request: may a log of operations want it?
//!
//! It comes before each operation, and most of them are in no log. So it parses no name, and the
//! databases without a log pay nothing for those that have one.

use fulgurite_ldap::{Message, Request};

use crate::core::databases::Databases;
use crate::core::logged_operations::{LoggedKind, LoggedKinds};
use crate::features::set::Features;

/// The operations that some log may want.
#[derive(Debug, Default)]
pub(crate) struct LogGate {
    kinds: LoggedKinds,
    /// Suffixes of databases without a log that are above no database with one.
    unlogged: Vec<String>,
}

impl LogGate {
    /// Makes the gate of some databases. `has_logs` is false if successful updates are all that
    /// they log.
    pub(crate) fn new(databases: &Databases, features: &[Features], has_logs: bool) -> LogGate {
        if !has_logs {
            return LogGate::default();
        }
        let pairs = || databases.iter().zip(features);
        let logged = || pairs().filter(|(_, features)| features.access_log.is_some());
        let mut kinds = LoggedKinds::default();
        for log in features.iter().filter_map(|one| one.access_log.as_ref()) {
            kinds.add(log.operations.everywhere);
            let below = log.operations.below.iter();
            below.for_each(|(some, _)| kinds.add(*some));
        }
        let without = pairs().filter(|(_, features)| features.access_log.is_none());
        let suffixes = without.flat_map(|(database, _)| database.suffixes());
        let unlogged = suffixes.filter(|suffix| {
            let mut others = logged().flat_map(|(database, _)| database.suffixes());
            !others.any(|other| other.is_within(suffix))
        });
        LogGate {
            kinds,
            unlogged: unlogged.map(|suffix| suffix.pretty().to_owned()).collect(),
        }
    }

    /// Returns false if no log wants this operation for sure.
    #[inline]
    pub(crate) fn may_want(&self, message: &Message<'_>) -> bool {
        if self.kinds.is_empty() {
            return false;
        }
        let kind = LoggedKind::of(message.request.operation());
        kind.is_some_and(|kind| self.kinds.contains(kind))
            && !target_of(&message.request).is_some_and(|target| self.is_unlogged(target))
    }

    /// Returns true if the name is in a database without a log for sure.
    fn is_unlogged(&self, name: &[u8]) -> bool {
        let mut suffixes = self.unlogged.iter();
        suffixes.any(|suffix| ends_in(name, suffix.as_bytes()))
    }
}

/// Returns the name that an operation is about.
pub(crate) fn target_of<'m>(request: &Request<'m>) -> Option<&'m [u8]> {
    Some(match request {
        Request::Bind(bind) => bind.name,
        Request::Search(search) => search.base,
        Request::Modify(modify) => modify.dn,
        Request::Add(add) => add.dn,
        Request::Delete(delete) => delete.dn,
        Request::ModifyDn(rename) => rename.dn,
        Request::Compare(compare) => compare.dn,
        Request::Unbind | Request::Abandon(_) | Request::Extended(_) => return None,
    })
}

/// Returns true if the last parts of a name are spelled like this for sure. Escaped and quoted
/// names are not looked at, because a comma may be part of a value there.
fn ends_in(name: &[u8], suffix: &[u8]) -> bool {
    match name.strip_suffix(suffix) {
        None => false,
        Some(_) if suffix.is_empty() => false,
        Some([]) => true,
        // Without an early end, so that many bytes are tested at once.
        Some(above) => above.ends_with(b",") && !above.iter().fold(false, is_special),
    }
}

fn is_special(found: bool, byte: &u8) -> bool {
    found | (*byte == b'\\') | (*byte == b'"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_surely_elsewhere_are_unlogged() {
        let gate = LogGate {
            unlogged: vec![
                "dc=example,dc=com".to_owned(),
                "o=a\\,b".to_owned(),
                String::new(),
            ],
            ..LogGate::default()
        };
        for (name, expected) in [
            ("dc=example,dc=com", true),
            ("uid=a,ou=b+cn=c,dc=example,dc=com", true),
            ("dc=Example,dc=com", false),
            ("adc=example,dc=com", false),
            ("cn=a\\,dc=example,dc=com", false),
            ("cn=\"a,dc=example,dc=com", false),
            ("cn=\\41,o=a\\,b", false),
            ("cn=a,o=a\\,b", true),
            ("o=a\\,b", true),
            ("dc=com", false),
            ("", false),
        ] {
            assert_eq!(gate.is_unlogged(name.as_bytes()), expected, "{name}");
        }
    }
}
