//! Parents before children, for entries that several connections add.

use std::collections::HashMap;

use crate::remote::entries::NamedValues;
use crate::remote::names::{normal, parent};

/// Entries under way at most. They are in memory.
const UNDER_WAY_MAX: usize = 8192;

/// An entry to add.
#[derive(Debug)]
pub(super) struct NewEntry {
    /// Its name, as written.
    pub(super) dn: String,
    pub(super) attributes: Vec<NamedValues>,
    /// The file and line it comes from.
    pub(super) place: String,
    /// Its name in one spelling.
    pub(super) key: String,
}

impl NewEntry {
    pub(super) fn new(dn: &str, attributes: Vec<NamedValues>, place: String) -> NewEntry {
        NewEntry {
            dn: dn.to_owned(),
            attributes,
            place,
            key: normal(dn),
        }
    }
}

/// The entries under way: sent, or behind an entry under way.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// For each entry under way those that wait for it: its children.
    waiting: HashMap<String, Vec<NewEntry>>,
    /// Entries among them that have been sent.
    sent: usize,
}

impl Order {
    /// Takes an entry. Returns it if it need not wait.
    pub(super) fn take(&mut self, entry: NewEntry) -> Option<NewEntry> {
        // An entry that comes twice waits for the first one.
        let is_second = self.waiting.contains_key(&entry.key);
        let before = match is_second {
            true => Some(entry.key.clone()),
            false => parent(&entry.key),
        };
        if !is_second {
            self.waiting.insert(entry.key.clone(), Vec::new());
        }
        match before.and_then(|before| self.waiting.get_mut(&before)) {
            Some(behind) => {
                behind.push(entry);
                None
            }
            None => {
                self.sent += 1;
                Some(entry)
            }
        }
    }

    /// Notes the answer to an entry. Returns those that waited for it, to be sent now.
    pub(super) fn done(&mut self, key: &str) -> Vec<NewEntry> {
        let behind = self.waiting.remove(key).unwrap_or_default();
        self.sent -= 1;
        let (seconds, children): (Vec<_>, Vec<_>) =
            behind.into_iter().partition(|entry| entry.key == key);
        self.sent += children.len();
        let mut ready = children;
        for second in seconds {
            ready.extend(self.take(second));
        }
        ready
    }

    /// Forgets the entries that have not been sent.
    pub(super) fn drop_waiting(&mut self) {
        self.waiting.values_mut().for_each(Vec::clear);
    }

    /// Returns the number of entries that have been sent and not answered.
    pub(super) const fn under_way(&self) -> usize {
        self.sent
    }

    /// Returns true if no entry should be read at the moment.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= UNDER_WAY_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_wait_for_their_parents() {
        let mut order = Order::default();
        let entry = |dn: &str| NewEntry::new(dn, Vec::new(), String::new());
        let sent = |entry: Option<NewEntry>| entry.map(|entry| entry.dn);
        assert_eq!(sent(order.take(entry("dc=x"))).as_deref(), Some("dc=x"));
        assert_eq!(sent(order.take(entry("ou=a,DC=X"))), None);
        assert_eq!(sent(order.take(entry("cn=b,ou=a,dc=x"))).as_deref(), None);
        assert_eq!(sent(order.take(entry("dc=y"))).as_deref(), Some("dc=y"));
        let ready: Vec<String> = order.done("dc=x").into_iter().map(|one| one.dn).collect();
        assert_eq!(ready, ["ou=a,DC=X"]);
        assert_eq!(sent(order.take(entry("cn=c,ou=a,dc=x"))), None);
        let mut ready: Vec<String> = order
            .done("ou=a,dc=x")
            .into_iter()
            .map(|one| one.dn)
            .collect();
        ready.sort();
        assert_eq!(ready, ["cn=b,ou=a,dc=x", "cn=c,ou=a,dc=x"]);
        assert_eq!(sent(order.take(entry("cn=B,ou=a,dc=x"))), None);
        assert_eq!(order.under_way(), 3);
        let again = order.done("cn=b,ou=a,dc=x");
        assert_eq!(again.len(), 1, "the second one goes behind the first");
        assert_eq!(sent(order.take(entry("cn=d,cn=c,ou=a,dc=x"))), None);
        order.drop_waiting();
        assert!(order.done("cn=c,ou=a,dc=x").is_empty());
        assert_eq!(order.under_way(), 2);
        assert!(!order.is_full());
    }
}
