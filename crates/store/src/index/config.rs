//! Which attributes are indexed, and for what: the administrator's words.

use std::fmt;
use std::str::FromStr;

use crate::error::OpenError;

/// What an index of an attribute can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexKinds {
    /// `pres`: has it a value?
    pub presence: bool,
    /// `eq`: equality, ordering, and `initial*`. `approx` means the same.
    pub equality: bool,
    /// `sub`: substrings anywhere.
    pub substring: bool,
}

/// One kind of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// `eq`.
    Equality,
    /// `pres`.
    Presence,
    /// `sub`.
    Substring,
}

impl IndexKind {
    /// All of them.
    pub(crate) const ALL: [IndexKind; 3] = [
        IndexKind::Equality,
        IndexKind::Presence,
        IndexKind::Substring,
    ];

    /// The word for it: `eq`, `pres`, `sub`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            IndexKind::Equality => "eq",
            IndexKind::Presence => "pres",
            IndexKind::Substring => "sub",
        }
    }

    pub(crate) fn named(word: &str) -> Option<IndexKind> {
        IndexKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl IndexKinds {
    /// Whether a kind is among them.
    #[must_use]
    pub fn has(self, kind: IndexKind) -> bool {
        match kind {
            IndexKind::Equality => self.equality,
            IndexKind::Presence => self.presence,
            IndexKind::Substring => self.substring,
        }
    }

    pub(crate) fn set(&mut self, kind: IndexKind, on: bool) {
        match kind {
            IndexKind::Equality => self.equality = on,
            IndexKind::Presence => self.presence = on,
            IndexKind::Substring => self.substring = on,
        }
    }

    /// Adds the kinds of `other`.
    pub(crate) fn merge(&mut self, other: IndexKinds) {
        self.presence |= other.presence;
        self.equality |= other.equality;
        self.substring |= other.substring;
    }
}

/// One attribute and its indexes; as text `mail:eq,sub`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// Name or OID of the attribute type.
    pub attribute: String,
    /// What is indexed.
    pub kinds: IndexKinds,
}

impl IndexSpec {
    /// The indexes of a store for which none were asked: what people look up in directories of persons, groups
    /// and Unix accounts.
    #[must_use]
    pub fn defaults() -> Vec<IndexSpec> {
        let eq = IndexKinds {
            equality: true,
            ..IndexKinds::default()
        };
        let all = IndexKinds {
            presence: true,
            equality: true,
            substring: true,
        };
        let mut specs = Vec::new();
        for (names, kinds) in [
            (
                &[
                    "objectClass",
                    "member",
                    "uniqueMember",
                    "memberUid",
                    "uidNumber",
                    "gidNumber",
                ][..],
                eq,
            ),
            (&["entryUUID", "entryCSN"], eq),
            (&["uid", "mail", "cn", "sn", "givenName"], all),
        ] {
            specs.extend(names.iter().map(|name| IndexSpec {
                attribute: (*name).to_owned(),
                kinds,
            }));
        }
        specs
    }
}

impl FromStr for IndexSpec {
    type Err = OpenError;

    /// Reads `attribute:kind,kind`; kinds are `eq`, `pres`, `sub` and `approx`, and `eq` when none is given.
    fn from_str(text: &str) -> Result<IndexSpec, OpenError> {
        let wrong = |reason| OpenError::Index {
            text: text.to_owned(),
            reason,
        };
        let (attribute, list) = text.split_once(':').unwrap_or((text, "eq"));
        if attribute.trim().is_empty() {
            return Err(wrong("names no attribute"));
        }
        let mut kinds = IndexKinds::default();
        for kind in list.split(',') {
            match kind.trim() {
                "pres" => kinds.presence = true,
                "eq" | "approx" => kinds.equality = true,
                "sub" | "subinitial" | "subany" | "subfinal" => kinds.substring = true,
                _ => return Err(wrong("the kinds of index are eq, pres, sub and approx")),
            }
        }
        Ok(IndexSpec {
            attribute: attribute.trim().to_owned(),
            kinds,
        })
    }
}

impl fmt::Display for IndexSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.attribute, self.kinds)
    }
}

impl fmt::Display for IndexKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (self.equality, "eq"),
            (self.presence, "pres"),
            (self.substring, "sub"),
        ];
        let names: Vec<&str> = names
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| *name)
            .collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_there_and_back() {
        for (text, printed) in [
            ("uid:eq", "uid:eq"),
            ("mail:sub,eq", "mail:eq,sub"),
            ("cn", "cn:eq"),
            (" sn : approx , pres", "sn:eq,pres"),
        ] {
            assert_eq!(text.parse::<IndexSpec>().unwrap().to_string(), printed);
        }
        for text in ["uid:", "uid:hash", ":eq", ""] {
            assert!(text.parse::<IndexSpec>().is_err(), "{text}");
        }
    }
}
