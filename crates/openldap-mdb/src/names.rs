//! Names: rows of dn2id.
//!
//! ```text
//!   under an id: its own row      length u16 (big-endian) | normal RDN NUL RDN NUL | parent's id
//!                then each child  length u16, top bit set | normal RDN NUL RDN NUL | child's id | entries from it down
//!   under 0:     an unused row, then the topmost entry, whose whole name counts as one RDN
//! ```

use std::collections::HashMap;
use std::rc::Rc;

use fulgurite::{Database, Snapshot};

use crate::error::EntryFault;
use crate::words::{id_of, u64_at};

/// Levels of parents at which a chain counts as a cycle. No directory is that deep.
const DEPTH_MAX: usize = 10_000;
/// Names of parents in the cache.
const NAMES_MAX: usize = 100_000;

/// An entry's own row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OwnRow<'r> {
    pub(crate) rdn: &'r str,
    pub(crate) parent: u64,
}

/// Reads an entry's own row.
pub(crate) fn own_row(row: &[u8]) -> Option<OwnRow<'_>> {
    let (length, rest) = row.split_first_chunk::<2>()?;
    let normal_len = usize::from(u16::from_be_bytes(*length));
    let (_normal, rest) = rest.split_at_checked(normal_len)?;
    let (0, rest) = rest.split_first().map(|(nul, rest)| (*nul, rest))? else {
        return None;
    };
    let (rdn, parent) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
    let rdn = rdn.strip_suffix(&[0])?;
    Some(OwnRow {
        rdn: std::str::from_utf8(rdn).ok()?,
        parent: u64_at(parent, 0)?,
    })
}

/// Names by id, with a cache of parents' names.
pub(crate) struct Names {
    db: Database,
    parents: HashMap<u64, Rc<str>>,
}

impl Names {
    pub(crate) fn new(db: Database) -> Names {
        Names {
            db,
            parents: HashMap::new(),
        }
    }

    /// Returns the name of an entry and its parent's id, which is 0 for the topmost.
    pub(crate) fn of(&mut self, txn: &impl Snapshot, id: u64) -> Result<(String, u64), EntryFault> {
        let row = txn
            .get(self.db, &id.to_ne_bytes())?
            .ok_or(EntryFault::NoName)?;
        let row = own_row(row).ok_or(EntryFault::Name)?;
        if row.parent == 0 {
            return Ok((row.rdn.to_owned(), 0));
        }
        let above = self.above(txn, row.parent)?;
        Ok((format!("{},{above}", row.rdn), row.parent))
    }

    /// Returns the name of a parent. It climbs to the first name in the cache.
    fn above(&mut self, txn: &impl Snapshot, parent: u64) -> Result<Rc<str>, EntryFault> {
        let (mut unnamed, mut id) = (Vec::new(), parent);
        let mut name = loop {
            if let Some(name) = self.parents.get(&id) {
                break Rc::clone(name);
            }
            if unnamed.len() == DEPTH_MAX {
                return Err(EntryFault::Parents);
            }
            let row = txn
                .get(self.db, &id.to_ne_bytes())?
                .ok_or(EntryFault::NoName)?;
            let row = own_row(row).ok_or(EntryFault::Name)?;
            if row.parent == 0 {
                let name = Rc::from(row.rdn);
                self.remember(id, &name);
                break name;
            }
            unnamed.push((id, row.rdn.to_owned()));
            id = row.parent;
        };
        for (id, rdn) in unnamed.into_iter().rev() {
            name = Rc::from(format!("{rdn},{name}"));
            self.remember(id, &name);
        }
        Ok(name)
    }

    fn remember(&mut self, id: u64, name: &Rc<str>) {
        if self.parents.len() >= NAMES_MAX {
            self.parents.clear();
        }
        self.parents.insert(id, Rc::clone(name));
    }
}

/// Returns the ids that have a name, ascending, without 0.
pub(crate) fn next_named(
    txn: &impl Snapshot,
    db: Database,
    after: u64,
) -> Result<Option<u64>, EntryFault> {
    let Some(from) = after.checked_add(1) else {
        return Ok(None);
    };
    let row = txn.cursor(db)?.seek_range(&from.to_ne_bytes())?;
    row.map(|(key, _)| id_of(key).ok_or(EntryFault::Name))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(normal: &str, rdn: &str, parent: u64) -> Vec<u8> {
        let length = u16::try_from(normal.len()).unwrap();
        let mut row = length.to_be_bytes().to_vec();
        row.extend_from_slice(format!("{normal}\0{rdn}\0").as_bytes());
        row.extend_from_slice(&parent.to_ne_bytes());
        row
    }

    #[test]
    fn rows() {
        let bytes = row("ou=a", "OU=A", 7);
        let own = own_row(&bytes).unwrap();
        assert_eq!((own.rdn, own.parent), ("OU=A", 7));
        for end in 0..bytes.len() {
            assert!(own_row(&bytes[..end]).is_none(), "{end}");
        }
        // A child's row has a length with the top bit set.
        let mut child = bytes;
        child[0] |= 0x80;
        assert!(own_row(&child).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _ = own_row(&bytes);
            let _ = crate::entry::outside_value(&bytes);
            let _ = crate::entry::fields(&bytes);
        }
    }
}
