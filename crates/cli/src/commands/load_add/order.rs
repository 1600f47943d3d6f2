//! Parents before children, for entries that several connections add.
//!
//! ```text
//!   take --> sent --> done: its children that waited, and those that had come before it
//!     '----> behind an entry under way, until that is done
//!   orphan: the server lacks its parent --> held until the parent is there, or the end
//! ```

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::hash::RandomState;

use fulgurite_client::names::{normal, parent};
use fulgurite_ldap::{AddRequest, PartialAttribute, Request, UpdateBuf};

/// Entries under way at most: sent, or behind one that is. They are in memory.
const UNDER_WAY_MAX: usize = 1 << 14;

/// An entry to add.
#[derive(Debug)]
pub(super) struct NewEntry {
    /// The request that adds it.
    request: UpdateBuf,
    /// The file and line it comes from.
    pub(super) place: String,
    /// Its name in one spelling.
    pub(super) key: String,
    /// The number of times that the server was too busy for it.
    pub(super) times_busy: u32,
    /// True if it was sent again after its parent had come.
    is_second_try: bool,
}

impl NewEntry {
    /// Makes an entry of its attributes, each with its values.
    pub(super) fn new(dn: &str, attributes: &[(&str, Vec<&[u8]>)], place: String) -> NewEntry {
        let attributes = attributes
            .iter()
            .map(|(name, values)| PartialAttribute::new(name, values));
        let request = UpdateBuf::add(&AddRequest {
            dn: dn.as_bytes(),
            attributes: attributes.collect(),
        });
        NewEntry {
            request,
            place,
            key: normal(dn),
            times_busy: 0,
            is_second_try: false,
        }
    }

    /// Returns the request that adds it.
    pub(super) fn request(&self) -> Request<'_> {
        self.request.message().request
    }

    /// Returns its name, as written.
    pub(super) fn dn(&self) -> String {
        match self.request() {
            Request::Add(add) => String::from_utf8_lossy(add.dn).into_owned(),
            _ => String::new(),
        }
    }

    /// Returns its bytes in memory, about.
    fn bytes(&self) -> usize {
        let texts = self.request.bytes() + self.place.len() + self.key.len();
        size_of::<NewEntry>() + texts
    }
}

/// The entries under way: sent, or behind an entry under way.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// For each entry under way those that wait for it: its children.
    waiting: HashMap<String, Vec<NewEntry>>,
    /// Entries among them that have been sent.
    sent: usize,
    /// Entries whose parent is not there yet, by the name of the parent, each with its refusal.
    orphans: HashMap<String, Vec<(NewEntry, String)>>,
    /// Their bytes in memory, about.
    orphan_bytes: usize,
    /// Hashes of the names that are there. A false one costs a second try.
    present: HashSet<u64>,
    hasher: RandomState,
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

    /// Notes that an entry is there. Returns those that waited for it, to be sent now.
    pub(super) fn added(&mut self, key: &str) -> Vec<NewEntry> {
        self.present.insert(self.hasher.hash_one(key));
        let mut ready = self.done(key);
        for (mut orphan, refusal) in self.orphans.remove(key).unwrap_or_default() {
            self.orphan_bytes -= orphan.bytes() + refusal.len();
            orphan.is_second_try = true;
            ready.extend(self.take(orphan));
        }
        ready
    }

    /// Holds an entry back whose parent the server lacks. Returns the entries to be sent now: those
    /// that waited for it, or itself if its parent has come meanwhile. An error is a refusal.
    pub(super) fn orphan(
        &mut self,
        mut entry: NewEntry,
        refusal: String,
    ) -> Result<Vec<NewEntry>, (String, String)> {
        let Some(parent) = parent(&entry.key).filter(|_| !entry.is_second_try) else {
            return Err((entry.key, refusal));
        };
        let mut ready = self.done(&entry.key);
        if self.present.contains(&self.hasher.hash_one(&parent)) {
            entry.is_second_try = true;
            ready.extend(self.take(entry));
        } else {
            self.orphan_bytes += entry.bytes() + refusal.len();
            self.orphans
                .entry(parent)
                .or_default()
                .push((entry, refusal));
        }
        Ok(ready)
    }

    /// Returns the refusals of the entries whose parents have not come.
    pub(super) fn refusals(&mut self) -> Vec<String> {
        self.orphan_bytes = 0;
        let orphans = std::mem::take(&mut self.orphans).into_values().flatten();
        let mut refusals: Vec<String> = orphans.map(|(_, refusal)| refusal).collect();
        refusals.sort();
        refusals
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

    /// Returns the bytes of entries whose parents have not come, about.
    pub(super) const fn orphan_bytes(&self) -> usize {
        self.orphan_bytes
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
    fn orphans_wait_for_parents_that_come_later() {
        let mut order = Order::default();
        let entry = |dn: &str| NewEntry::new(dn, &[], format!("line of {dn}"));
        let names = |ready: Vec<NewEntry>| {
            let mut names: Vec<String> = ready.into_iter().map(|one| one.dn()).collect();
            names.sort();
            names
        };
        let sent = |order: &mut Order, dn: &str| order.take(entry(dn)).expect("no wait");
        let child = sent(&mut order, "cn=c,ou=a,dc=x");
        let other = sent(&mut order, "cn=d,ou=a,dc=x");
        let lost = sent(&mut order, "cn=e,ou=none,dc=x");
        assert_eq!(
            order.take(entry("cn=f,cn=c,ou=a,dc=x")).map(|one| one.dn()),
            None
        );
        // The grandchild goes out, comes back, and waits for the child.
        let ready = order.orphan(child, "no parent".to_owned()).unwrap();
        let [grandchild] = <[NewEntry; 1]>::try_from(ready).unwrap();
        assert_eq!(
            names(order.orphan(grandchild, "no parent".to_owned()).unwrap()),
            [""; 0]
        );
        assert_eq!(
            names(order.orphan(lost, "no unit".to_owned()).unwrap()),
            [""; 0]
        );
        assert!(order.orphan_bytes() > 3 * size_of::<NewEntry>());
        sent(&mut order, "ou=a,dc=x");
        assert_eq!(names(order.added("ou=a,dc=x")), ["cn=c,ou=a,dc=x"]);
        // Its parent has come before its refusal has.
        let ready = order.orphan(other, "no parent".to_owned()).unwrap();
        let [again] = <[NewEntry; 1]>::try_from(ready).unwrap();
        assert_eq!(
            names(order.added("cn=c,ou=a,dc=x")),
            ["cn=f,cn=c,ou=a,dc=x"]
        );
        let (key, text) = order.orphan(again, "still none".to_owned()).unwrap_err();
        assert_eq!((&*key, &*text), ("cn=d,ou=a,dc=x", "still none"));
        order.done(&key);
        order.added("cn=f,cn=c,ou=a,dc=x");
        assert_eq!(order.under_way(), 0);
        assert_eq!(order.refusals(), ["no unit"]);
        assert_eq!(order.orphan_bytes(), 0);
        assert!(order.refusals().is_empty());
    }

    #[test]
    fn children_wait_for_their_parents() {
        let mut order = Order::default();
        let entry = |dn: &str| NewEntry::new(dn, &[], String::new());
        let sent = |entry: Option<NewEntry>| entry.map(|entry| entry.dn());
        assert_eq!(sent(order.take(entry("dc=x"))).as_deref(), Some("dc=x"));
        assert_eq!(sent(order.take(entry("ou=a,DC=X"))), None);
        assert_eq!(sent(order.take(entry("cn=b,ou=a,dc=x"))).as_deref(), None);
        assert_eq!(sent(order.take(entry("dc=y"))).as_deref(), Some("dc=y"));
        let ready: Vec<String> = order.done("dc=x").into_iter().map(|one| one.dn()).collect();
        assert_eq!(ready, ["ou=a,DC=X"]);
        assert_eq!(sent(order.take(entry("cn=c,ou=a,dc=x"))), None);
        let mut ready: Vec<String> = order
            .done("ou=a,dc=x")
            .into_iter()
            .map(|one| one.dn())
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
