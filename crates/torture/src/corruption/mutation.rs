//! A change of a file as a value. It can be applied, printed, and shrunk while it still does harm.

use std::fmt;

use super::bases::Base;
use super::fields::Kind;

/// One change of a file's octets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Other octets in place of some.
    Set {
        /// Where.
        at: usize,
        /// What.
        octets: Vec<u8>,
        /// The value before, if the choice depended on it.
        kind: Option<Kind>,
    },
    /// The file ends here.
    Truncate(usize),
    /// One part written over another.
    Copy {
        /// From where.
        from: usize,
        /// To where.
        to: usize,
        /// Octets.
        len: usize,
    },
    /// Two parts exchanged.
    Swap {
        /// The one.
        a: usize,
        /// The other.
        b: usize,
        /// Octets.
        len: usize,
    },
    /// Something behind the end.
    Append(Vec<u8>),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Edit::Set { at, octets, .. } => write(bytes, *at, octets),
            Edit::Truncate(len) => bytes.truncate(*len),
            Edit::Copy { from, to, len } => {
                let part = read(bytes, *from, *len);
                write(bytes, *to, &part);
            }
            Edit::Swap { a, b, len } => {
                let (one, other) = (read(bytes, *a, *len), read(bytes, *b, *len));
                write(bytes, *a, &other);
                write(bytes, *b, &one);
            }
            Edit::Append(octets) => bytes.extend(octets),
        }
    }
}

/// As far as the file reaches.
fn read(bytes: &[u8], at: usize, len: usize) -> Vec<u8> {
    let end = (at + len).min(bytes.len());
    bytes.get(at..end).unwrap_or_default().to_vec()
}

fn write(bytes: &mut [u8], at: usize, octets: &[u8]) {
    for (to, from) in bytes.iter_mut().skip(at).zip(octets) {
        *to = *from;
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::Set { at, octets, kind } => {
                let what = kind.map_or_else(String::new, |kind| format!("{kind:?} "));
                let shown: String = octets.iter().take(48).map(|o| format!("{o:02x}")).collect();
                let more = if octets.len() > 48 { ".." } else { "" };
                write!(f, "{what}at {at}: {} octets, {shown}{more}", octets.len())
            }
            Edit::Truncate(len) => write!(f, "cut to {len} octets"),
            Edit::Copy { from, to, len } => write!(f, "{len} octets from {from} copied to {to}"),
            Edit::Swap { a, b, len } => write!(f, "{len} octets at {a} and {b} exchanged"),
            Edit::Append(octets) => write!(f, "{} octets appended", octets.len()),
        }
    }
}

/// A mutation of one base.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// The base.
    pub base: usize,
    /// The kind of draw.
    pub family: &'static str,
    /// The changes, in order.
    pub edits: Vec<Edit>,
    /// The content of the lock file, if there is one that another process has open.
    pub lock_file: Option<Vec<u8>>,
    /// The seed of the walk's choices.
    pub walk_seed: u64,
}

impl Mutation {
    /// The mutated file.
    #[must_use]
    pub fn bytes(&self, bases: &[Base]) -> Vec<u8> {
        let mut bytes = bases
            .get(self.base)
            .map(|base| base.bytes.clone())
            .unwrap_or_default();
        for edit in &self.edits {
            edit.apply(&mut bytes);
        }
        bytes
    }

    /// Describes the changes for a report.
    #[must_use]
    pub fn describe(&self, bases: &[Base]) -> String {
        let name = bases.get(self.base).map_or("?", |base| &base.name);
        let mut said = format!("{} of {name}, walk {}", self.family, self.walk_seed);
        for edit in &self.edits {
            said += &format!("\n    {edit}");
        }
        if let Some(lock) = &self.lock_file {
            said += &format!("\n    a lock file of {} octets in use", lock.len());
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_stay_inside_the_file() {
        let mut bytes = vec![1, 2, 3, 4, 5, 6];
        let kind = None;
        for edit in [
            Edit::Set {
                at: 5,
                octets: vec![9, 9],
                kind,
            },
            Edit::Copy {
                from: 0,
                to: 4,
                len: 4,
            },
            Edit::Swap { a: 0, b: 2, len: 2 },
            Edit::Append(vec![7]),
            Edit::Set {
                at: 90,
                octets: vec![9],
                kind,
            },
        ] {
            edit.apply(&mut bytes);
        }
        assert_eq!(bytes, [3, 4, 1, 2, 1, 2, 7]);
        Edit::Truncate(2).apply(&mut bytes);
        Edit::Swap { a: 0, b: 9, len: 4 }.apply(&mut bytes);
        assert_eq!(bytes, [3, 4]);
    }
}
