//! The entries a workload asks for, read from the LDIF that was loaded.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Entries with a uid.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

/// One entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) dn: String,
    pub(crate) uid: String,
    /// The first of its addresses behind the uid; empty without one.
    pub(crate) mail: String,
    /// The first of its names behind the uid, likewise.
    pub(crate) cn: String,
}

impl Targets {
    pub(crate) fn read(path: &Path) -> io::Result<Targets> {
        Targets::parse(BufReader::new(File::open(path)?))
    }

    /// Takes plain `dn:`, `uid:`, `cn:` and `mail:` lines, folded or not; entries with encoded names are left out.
    fn parse(mut ldif: impl BufRead) -> io::Result<Targets> {
        let mut targets = Targets::default();
        let (mut dn, mut inside) = (None, false);
        let mut line = String::new();
        let mut next = String::new();
        loop {
            let end = ldif.read_line(&mut next)? == 0;
            if let Some(continued) = next.strip_prefix(' ') {
                line.push_str(continued.trim_end_matches(['\r', '\n']));
            } else {
                targets.take_line(&line, &mut dn, &mut inside);
                line.clear();
                line.push_str(next.trim_end_matches(['\r', '\n']));
            }
            if end {
                return Ok(targets);
            }
            next.clear();
        }
    }

    /// `dn` is the name of the entry at hand until its uid is known, `inside` whether it is known.
    fn take_line(&mut self, line: &str, dn: &mut Option<String>, inside: &mut bool) {
        if let Some(name) = line.strip_prefix("dn: ") {
            *dn = Some(name.to_owned());
        } else if line.is_empty() {
            (*dn, *inside) = (None, false);
        } else if let Some(uid) = line.strip_prefix("uid: ")
            && let Some(dn) = dn.take()
        {
            self.0.push(Target {
                dn,
                uid: uid.to_owned(),
                mail: String::new(),
                cn: String::new(),
            });
            *inside = true;
        } else if let Some(target) = self.0.last_mut().filter(|_| *inside) {
            for (prefix, value) in [("mail: ", &mut target.mail), ("cn: ", &mut target.cn)] {
                if let Some(text) = line.strip_prefix(prefix)
                    && value.is_empty()
                {
                    text.clone_into(value);
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same among those with a plain cn: the `n`th request's entry or one of those behind it.
    pub(crate) fn pick_named(&self, seed: u64, n: u64) -> Option<&Target> {
        (n..n.saturating_add(100))
            .filter_map(|n| self.pick(seed, n))
            .find(|target| !target.cn.is_empty())
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
        let ldif = "version: 1\n\ndn: dc=x\ndc: x\n\ndn: uid=ada,\n ou=people,dc=x\nuid: ada\nuid: a2\ncn: Ada\nmail: a@x\nmail: b@x\n\n\
                    dn: uid=bob,dc=x\r\nuid: bob\r\n\ndn: ou=y,dc=x\nmail: c@x\n";
        let targets = Targets::parse(ldif.as_bytes()).unwrap();
        let expected = [
            ("uid=ada,ou=people,dc=x", "ada", "a@x", "Ada"),
            ("uid=bob,dc=x", "bob", "", ""),
        ];
        assert_eq!(
            targets.0,
            expected.map(|(dn, uid, mail, cn)| Target {
                dn: dn.into(),
                uid: uid.into(),
                mail: mail.into(),
                cn: cn.into(),
            })
        );
        assert!(targets.pick(1, 12345).is_some());
        assert_eq!(Targets::default().pick(1, 1), None);
    }
}
