//! Names and parents of all entries, from dn2id.

use std::collections::{BTreeSet, HashMap};

use super::record::Record;
use super::rows::Rows;
use crate::error::{BdbError, EntryFault};
use crate::names::own_row;

/// Levels of parents at which a chain counts as a cycle. No directory is that deep.
const DEPTH_MAX: usize = 10_000;
/// The length of a name, in bytes, that is taken for a circle.
const NAME_MAX: usize = 1 << 16;

/// The names of a database.
#[derive(Debug)]
pub(super) enum Names {
    /// RDN and parent of each id. The topmost entry has parent 0, and its whole name as RDN.
    Hierarchical(HashMap<u64, (Box<str>, u64)>),
    /// The id of each normal name.
    Flat(HashMap<Box<str>, u64>),
}

/// Returns the id that a key or a value is.
pub(super) fn id_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

impl Names {
    /// Reads all rows. The first key decides about the backend: an id, or a name with its sign.
    pub(super) fn read(mut rows: Rows) -> Result<Names, BdbError> {
        let mut tree = HashMap::new();
        let mut flat = HashMap::new();
        while let Some((key, value)) = rows.next()? {
            let taken = match key.split_first() {
                Some((b'=' | b'@' | b'%', name)) => take_flat(&mut flat, key.first(), name, &value),
                _ => take_own(&mut tree, &key, &value),
            };
            if taken.is_none() {
                return Err(rows.unknown_row());
            }
        }
        match (tree.is_empty(), flat.is_empty()) {
            (_, true) => Ok(Names::Hierarchical(tree)),
            (true, false) => Ok(Names::Flat(flat)),
            (false, false) => Err(rows.unknown_row()),
        }
    }

    /// Returns the name of an entry and its parent's id, which is 0 for a topmost one.
    pub(super) fn of(&self, id: u64, record: &Record) -> Result<(String, u64), EntryFault> {
        match self {
            Names::Hierarchical(tree) => named(tree, id),
            Names::Flat(flat) => {
                let known = flat.get(record.normal_name.as_str());
                if known != Some(&id) {
                    return Err(EntryFault::NoName);
                }
                let parent = parent(&record.normal_name).and_then(|name| flat.get(name));
                Ok((record.name.clone(), parent.copied().unwrap_or(0)))
            }
        }
    }

    /// Returns all ids that have a name.
    pub(super) fn ids(&self) -> BTreeSet<u64> {
        match self {
            Names::Hierarchical(tree) => tree.keys().copied().collect(),
            Names::Flat(flat) => flat.values().copied().collect(),
        }
    }
}

/// Takes a row of bdb. Other signs than `=` are lists for searches.
fn take_flat(
    flat: &mut HashMap<Box<str>, u64>,
    sign: Option<&u8>,
    name: &[u8],
    value: &[u8],
) -> Option<()> {
    let name = std::str::from_utf8(name.strip_suffix(&[0])?).ok()?;
    let id = id_of(value)?;
    if sign == Some(&b'=') && flat.insert(name.into(), id).is_some() {
        return None;
    }
    Some(())
}

/// Takes a row of hdb. Rows of children say nothing more.
fn take_own(tree: &mut HashMap<u64, (Box<str>, u64)>, key: &[u8], value: &[u8]) -> Option<()> {
    let id = id_of(key)?;
    let is_child = value.first()? & 0x80 != 0;
    // The row of the place above the suffix has no name.
    if is_child || id == 0 {
        return Some(());
    }
    let row = own_row(value)?;
    let row = (row.rdn.into(), u64::from_be(row.parent));
    tree.insert(id, row).is_none().then_some(())
}

fn named(tree: &HashMap<u64, (Box<str>, u64)>, id: u64) -> Result<(String, u64), EntryFault> {
    let (rdn, parent) = tree.get(&id).ok_or(EntryFault::NoName)?;
    let (mut name, mut above) = (rdn.to_string(), *parent);
    for _ in 0..DEPTH_MAX {
        if above == 0 {
            return Ok((name, *parent));
        }
        let (rdn, next) = tree.get(&above).ok_or(EntryFault::NoName)?;
        name.push(',');
        name.push_str(rdn);
        above = *next;
        if name.len() > NAME_MAX {
            break;
        }
    }
    Err(EntryFault::Parents)
}

/// Returns the normal name of the parent.
fn parent(name: &str) -> Option<&str> {
    let mut bytes = name.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b',' => return name.get(at + 1..),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_follow_the_first_comma_that_divides() {
        assert_eq!(parent("cn=a\\2Cb,dc=x"), Some("dc=x"));
        assert_eq!(parent("cn=a\\,b,dc=x,dc=y"), Some("dc=x,dc=y"));
        assert_eq!(parent("dc=x"), None);
    }

    #[test]
    fn rows_of_both_backends_are_taken() {
        let (mut tree, mut flat) = (HashMap::new(), HashMap::new());
        let row = |normal: &str, rdn: &str, parent: u64| {
            let mut row = u16::try_from(normal.len()).unwrap().to_be_bytes().to_vec();
            row.extend_from_slice(format!("{normal}\0{rdn}\0").as_bytes());
            row.extend_from_slice(&parent.to_be_bytes());
            row
        };
        let key = |id: u64| id.to_be_bytes();
        take_own(&mut tree, &key(0), &[0; 12]).unwrap();
        take_own(&mut tree, &key(1), &row("dc=x", "dc=X", 0)).unwrap();
        take_own(&mut tree, &key(4), &row("cn=a", "cn=A", 1)).unwrap();
        assert_eq!(named(&tree, 4).unwrap(), ("cn=A,dc=X".to_owned(), 1));
        assert_eq!(named(&tree, 1).unwrap(), ("dc=X".to_owned(), 0));
        assert!(matches!(named(&tree, 2), Err(EntryFault::NoName)));
        assert_eq!(take_own(&mut tree, &key(5), &[0, 4, b'c']), None);
        tree.insert(7, ("cn=b".into(), 8));
        tree.insert(8, ("cn=c".into(), 7));
        assert!(matches!(named(&tree, 7), Err(EntryFault::Parents)));
        take_flat(&mut flat, Some(&b'='), b"dc=x\0", &key(1)).unwrap();
        take_flat(&mut flat, Some(&b'@'), b"dc=x\0", &key(4)).unwrap();
        assert_eq!(flat.get("dc=x"), Some(&1));
        assert_eq!(take_flat(&mut flat, Some(&b'='), b"dc=x\0", &key(2)), None);
    }
}
