//! The entries a workload asks for, read from the LDIF that was loaded.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Entries with a uid, and all entries with a cn.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    people: Vec<Target>,
    named: Vec<NamedEntry>,
}

/// An entry with its cn values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedEntry {
    pub(crate) dn: String,
    pub(crate) cns: Vec<String>,
}

/// The lines of an entry that matter, as read so far.
#[derive(Default)]
struct Lines {
    target: Target,
    cns: Vec<String>,
}

/// One entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) dn: String,
    pub(crate) uid: String,
    pub(crate) mail: String,
    /// The last one of its cn.
    pub(crate) word: String,
}

impl Targets {
    pub(crate) fn read(path: &Path) -> io::Result<Targets> {
        Targets::parse(BufReader::new(File::open(path)?))
    }

    /// Takes plain `dn:`, `uid:`, `mail:` and `cn:` lines, folded or not. Skips entries with an
    /// encoded name or uid.
    pub(crate) fn parse(mut ldif: impl BufRead) -> io::Result<Targets> {
        let mut targets = Targets::default();
        let mut entry = Lines::default();
        let mut line = String::new();
        let mut next = String::new();
        loop {
            let end = ldif.read_line(&mut next)? == 0;
            if let Some(continued) = next.strip_prefix(' ') {
                line.push_str(continued.trim_end_matches(['\r', '\n']));
            } else {
                targets.take_line(&line, &mut entry);
                line.clear();
                line.push_str(next.trim_end_matches(['\r', '\n']));
            }
            if end {
                targets.end(&mut entry);
                return Ok(targets);
            }
            next.clear();
        }
    }

    fn take_line(&mut self, line: &str, entry: &mut Lines) {
        if line.is_empty() {
            self.end(entry);
            return;
        }
        let Some((name, value)) = line.split_once(": ") else {
            return;
        };
        let target = &mut entry.target;
        let (field, value) = match name {
            "dn" => (&mut target.dn, value),
            "uid" => (&mut target.uid, value),
            "mail" => (&mut target.mail, value),
            "cn" => {
                entry.cns.push(value.to_owned());
                let word = value.rsplit(' ').next().unwrap_or(value);
                (&mut target.word, word)
            }
            _ => return,
        };
        // The first of several values.
        if field.is_empty() {
            value.clone_into(field);
        }
    }

    /// Keeps an entry that is complete.
    fn end(&mut self, entry: &mut Lines) {
        let Lines { target, cns } = std::mem::take(entry);
        if !target.dn.is_empty() && !cns.is_empty() {
            let dn = target.dn.clone();
            self.named.push(NamedEntry { dn, cns });
        }
        if !target.dn.is_empty() && !target.uid.is_empty() {
            self.people.push(target);
        }
    }

    /// Returns all entries with a cn.
    pub(crate) fn named(&self) -> impl Iterator<Item = &NamedEntry> {
        self.named.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// The `n`th request's entry: all in turn, scattered by the seed.
    pub(crate) fn pick(&self, seed: u64, n: u64) -> Option<&Target> {
        let count = self.people.len() as u64;
        let scattered = splitmix(seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        usize::try_from(scattered.checked_rem(count)?)
            .ok()
            .and_then(|index| self.people.get(index))
    }
}

pub(crate) const fn splitmix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_with_a_uid_are_taken() {
        let ldif = "version: 1\n\ndn: dc=x\ndc: x\n\ndn: uid=ada,\n ou=people,dc=x\nuid: ada\nuid: a2\nmail: ada@x\ncn: Ada Stone\n\n\
                    dn: uid=bob,dc=x\r\nuid: bob\r\n";
        let targets = Targets::parse(ldif.as_bytes()).unwrap();
        let expected = [
            ("uid=ada,ou=people,dc=x", "ada", "ada@x", "Stone"),
            ("uid=bob,dc=x", "bob", "", ""),
        ];
        assert_eq!(
            targets.people,
            expected.map(|(dn, uid, mail, word)| Target {
                dn: dn.into(),
                uid: uid.into(),
                mail: mail.into(),
                word: word.into(),
            })
        );
        let names: Vec<_> = targets.named().map(|named| named.cns.as_slice()).collect();
        assert_eq!(names, [["Ada Stone"]]);
        assert!(targets.pick(1, 12345).is_some());
        assert_eq!(Targets::default().pick(1, 1), None);
    }
}
