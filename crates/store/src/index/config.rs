//! Settings of indexes, as the administrator writes them.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::error::OpenError;
use fulgurite_policy::{IndexKind, IndexKinds};

/// An attribute and its kinds of index; as text `mail:eq,sub`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// Name or OID of the attribute type.
    pub attribute: String,
    /// The kinds of index.
    pub kinds: IndexKinds,
}

impl IndexSpec {
    /// Returns the indexes of a store without settings: for common look-ups of persons, groups and
    /// Unix accounts.
    #[must_use]
    pub fn defaults() -> Vec<IndexSpec> {
        let eq = IndexKinds::of(&[IndexKind::Equality]);
        let all = IndexKinds::of(&[
            IndexKind::Equality,
            IndexKind::Presence,
            IndexKind::Substring,
        ]);
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

static KNOWN_KINDS: LazyLock<String> =
    LazyLock::new(|| format!("the kinds of index are {}", IndexKind::all_words()));

impl FromStr for IndexSpec {
    type Err = OpenError;

    /// Reads `attribute:kind,kind`. Without kinds it means `eq`.
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
            match IndexKind::named(kind.trim()) {
                Some(kind) => kinds.set(kind, true),
                None => return Err(wrong(&KNOWN_KINDS)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_parsed_and_printed() {
        for (text, printed) in [
            ("uid:eq", "uid:eq"),
            ("mail:sub,eq", "mail:eq,sub"),
            ("cn", "cn:eq"),
            (" sn : approx , pres", "sn:pres,approx"),
        ] {
            assert_eq!(text.parse::<IndexSpec>().unwrap().to_string(), printed);
        }
        for text in ["uid:", "uid:hash", ":eq", ""] {
            assert!(text.parse::<IndexSpec>().is_err(), "{text}");
        }
    }
}
