//! The entries a workload asks for, read from the LDIF that was loaded.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Entries with a uid.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

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
    fn parse(mut ldif: impl BufRead) -> io::Result<Targets> {
        let mut targets = Targets::default();
        let mut entry = Target::default();
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

    fn take_line(&mut self, line: &str, entry: &mut Target) {
        if line.is_empty() {
            self.end(entry);
            return;
        }
        let Some((name, value)) = line.split_once(": ") else {
            return;
        };
        let (place, value) = match name {
            "dn" => (&mut entry.dn, value),
            "uid" => (&mut entry.uid, value),
            "mail" => (&mut entry.mail, value),
            "cn" => (&mut entry.word, value.rsplit(' ').next().unwrap_or(value)),
            _ => return,
        };
        // The first of several values.
        if place.is_empty() {
            value.clone_into(place);
        }
    }

    /// Keeps an entry that is complete.
    fn end(&mut self, entry: &mut Target) {
        let entry = std::mem::take(entry);
        if !entry.dn.is_empty() && !entry.uid.is_empty() {
            self.0.push(entry);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The `n`th request's entry: all in turn, scattered by the seed.
    pub(crate) fn pick(&self, seed: u64, n: u64) -> Option<&Target> {
        let count = self.0.len() as u64;
        let scattered = splitmix(seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        usize::try_from(scattered.checked_rem(count)?)
            .ok()
            .and_then(|index| self.0.get(index))
    }
}

const fn splitmix(mut x: u64) -> u64 {
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
            targets.0,
            expected.map(|(dn, uid, mail, word)| Target {
                dn: dn.into(),
                uid: uid.into(),
                mail: mail.into(),
                word: word.into(),
            })
        );
        assert!(targets.pick(1, 12345).is_some());
        assert_eq!(Targets::default().pick(1, 1), None);
    }
}
