//! Renames of a file: the names that entries have had, and those that they will have.

use super::wanted::{WantedState, Wish};
use fulgurite_client::names::{normal, parent};

/// A rename of an entry and all below it, by names in one spelling.
#[derive(Clone, Debug, PartialEq)]
struct Rename {
    old: String,
    new: String,
}

/// The renames of a file, in its order.
#[derive(Debug, Default)]
pub(super) struct Renames {
    /// All of them, each with the place of its wish.
    of_file: Vec<(usize, Rename)>,
    /// Those that are due up to now.
    planned: Vec<Rename>,
}

impl Renames {
    pub(super) fn of(wishes: &[Wish]) -> Renames {
        let renames = wishes.iter().enumerate().filter_map(|(at, wish)| {
            let WantedState::Renamed(name) = &wish.state else {
                return None;
            };
            let new = new_name(&wish.dn, &name.rdn, name.superior.as_deref());
            let (old, new) = (normal(&wish.dn), normal(&new));
            (old != new).then_some((at, Rename { old, new }))
        });
        Renames {
            of_file: renames.collect(),
            planned: Vec::new(),
        }
    }

    /// Notes a rename that is due.
    pub(super) fn plan(&mut self, old: &str, new: &str) {
        self.planned.push(Rename {
            old: normal(old),
            new: normal(new),
        });
    }

    /// Returns the name that the server has at present for an entry of this name. The planned
    /// renames will have been made then. `None` if they move the entry away.
    pub(super) fn present_name(&self, dn: &str) -> Option<String> {
        let mut name = dn.to_owned();
        for rename in self.planned.iter().rev() {
            if let Some(before) = moved(&name, &rename.new, &rename.old) {
                name = before;
            } else if moved(&name, &rename.old, "").is_some() {
                return None;
            }
        }
        Some(name)
    }

    /// Returns the name that an entry has behind all renames of the file from a place on. `None`
    /// if none of them concerns it.
    pub(super) fn last_name(&self, dn: &str, from: usize) -> Option<String> {
        let mut name = dn.to_owned();
        for (_, rename) in self.of_file.iter().filter(|(at, _)| *at >= from) {
            if let Some(behind) = moved(&name, &rename.old, &rename.new) {
                name = behind;
            }
        }
        (name != dn).then_some(name)
    }
}

/// Returns the name of an entry with another RDN, and perhaps another entry above.
pub(super) fn new_name(dn: &str, rdn: &str, superior: Option<&str>) -> String {
    match superior.map(str::to_owned).or_else(|| parent(dn)) {
        Some(above) => format!("{rdn},{above}"),
        None => rdn.to_owned(),
    }
}

/// Returns the name with another ending, if it is that of `old` or of an entry below.
pub(super) fn moved(name: &str, old: &str, new: &str) -> Option<String> {
    let name = normal(name);
    let before = name.strip_suffix(old)?;
    if before.is_empty() {
        return Some(new.to_owned());
    }
    // A comma of a value is escaped.
    let rdns = before.strip_suffix(',')?;
    let escapes = rdns.len() - rdns.trim_end_matches('\\').len();
    escapes.is_multiple_of(2).then(|| format!("{before}{new}"))
}

#[cfg(test)]
mod tests {
    use super::super::wanted::NewName;
    use super::*;

    fn wish(dn: &str, rdn: &str) -> Wish {
        Wish {
            dn: dn.to_owned(),
            place: String::new(),
            state: WantedState::Renamed(NewName {
                rdn: rdn.to_owned(),
                deletes_old_rdn: true,
                superior: None,
            }),
        }
    }

    #[test]
    fn names_follow_the_renames_above_them() {
        let mut renames = Renames::of(&[wish("ou=A,dc=x", "ou=b"), wish("ou=b,dc=x", "ou=c")]);
        let last = |dn, from| renames.last_name(dn, from);
        assert_eq!(
            last("uid=1,ou=a,dc=x", 0).as_deref(),
            Some("uid=1,ou=c,dc=x")
        );
        assert_eq!(last("ou=b,dc=x", 1).as_deref(), Some("ou=c,dc=x"));
        assert_eq!(last("uid=1,ou=a,dc=x", 1), None);
        assert_eq!(last("uid=1,ou=aa,dc=x", 0), None);
        renames.plan("ou=A,dc=x", "ou=b,dc=x");
        renames.plan("ou=b,dc=x", "ou=c,dc=x");
        let present = |dn| renames.present_name(dn);
        assert_eq!(
            present("uid=1,ou=c,dc=x").as_deref(),
            Some("uid=1,ou=a,dc=x")
        );
        assert_eq!(present("uid=1,ou=a,dc=x"), None);
        assert_eq!(present("uid=1,ou=b,dc=x"), None);
        assert_eq!(
            present("uid=1,ou=d,dc=x").as_deref(),
            Some("uid=1,ou=d,dc=x")
        );
    }

    #[test]
    fn a_comma_of_a_value_ends_no_name() {
        assert_eq!(moved("cn=1\\,ou=a,dc=x", "ou=a,dc=x", "ou=b,dc=x"), None);
        let below = moved("cn=1\\\\,ou=a,dc=x", "ou=a,dc=x", "ou=b,dc=x");
        assert_eq!(below.as_deref(), Some("cn=1\\5c,ou=b,dc=x"));
    }
}
