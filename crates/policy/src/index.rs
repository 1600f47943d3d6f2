//! Kinds of index that an attribute may have.

use std::fmt;

/// One kind of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexKind {
    /// Answers `(a=v)` and, if the attribute's rule has an ordering, `(a>=v)` and `(a<=v)`.
    Equality,
    /// Answers `(a=*)`.
    Presence,
    /// Answers `(a=*part*)`.
    Substring,
    /// Answers `(a~=v)`. For values without sounds, which `~=` compares by equality, a store keeps
    /// an equality index instead.
    Approximate,
}

impl IndexKind {
    /// Every kind, in the order in which lists name them.
    pub const ALL: [IndexKind; 4] = [
        IndexKind::Equality,
        IndexKind::Presence,
        IndexKind::Substring,
        IndexKind::Approximate,
    ];

    /// Returns the words of a kind; the first is the one that is written.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            IndexKind::Equality => &["eq", "equality"],
            IndexKind::Presence => &["pres", "presence"],
            IndexKind::Substring => &[
                "sub",
                "substr",
                "substring",
                "subinitial",
                "subany",
                "subfinal",
            ],
            IndexKind::Approximate => &["approx"],
        }
    }

    /// Returns the word that is written: `eq`, `pres`, `sub`, `approx`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self.words() {
            [first, ..] => first,
            [] => "",
        }
    }

    /// Returns the kind of a word, in any case of letters.
    #[must_use]
    pub fn named(word: &str) -> Option<IndexKind> {
        let known = |kind: &IndexKind| {
            let mut words = kind.words().iter();
            words.any(|known| known.eq_ignore_ascii_case(word))
        };
        IndexKind::ALL.into_iter().find(known)
    }
}

/// The kinds of index of one attribute, as the configuration names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "a set whose members have names"
)]
pub struct IndexKinds {
    /// [`IndexKind::Equality`].
    pub equality: bool,
    /// [`IndexKind::Presence`].
    pub presence: bool,
    /// [`IndexKind::Substring`].
    pub substring: bool,
    /// [`IndexKind::Approximate`].
    pub approximate: bool,
    /// Values with language tags do not count as values of the attribute.
    pub no_lang: bool,
    /// Values of subtypes do not count as values of the attribute.
    pub no_subtypes: bool,
}

impl IndexKinds {
    /// Returns true if the kind is among them.
    #[must_use]
    pub const fn has(self, kind: IndexKind) -> bool {
        match kind {
            IndexKind::Equality => self.equality,
            IndexKind::Presence => self.presence,
            IndexKind::Substring => self.substring,
            IndexKind::Approximate => self.approximate,
        }
    }

    /// Adds or removes a kind.
    pub const fn set(&mut self, kind: IndexKind, on: bool) {
        match kind {
            IndexKind::Equality => self.equality = on,
            IndexKind::Presence => self.presence = on,
            IndexKind::Substring => self.substring = on,
            IndexKind::Approximate => self.approximate = on,
        }
    }

    /// Adds the kind of a word, in any case of letters. Returns false if there is none.
    pub fn add(&mut self, word: &str) -> bool {
        match word.to_ascii_lowercase().as_str() {
            "nolang" => self.no_lang = true,
            "nosubtypes" => self.no_subtypes = true,
            word => match IndexKind::named(word) {
                Some(kind) => self.set(kind, true),
                None => return false,
            },
        }
        true
    }

    /// Returns true if no index is kept.
    #[must_use]
    pub fn is_none(self) -> bool {
        !IndexKind::ALL.into_iter().any(|kind| self.has(kind))
    }
}

impl fmt::Display for IndexKinds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return out.write_str("none");
        }
        let kinds = IndexKind::ALL.into_iter().filter(|kind| self.has(*kind));
        let tags = [(self.no_lang, "nolang"), (self.no_subtypes, "nosubtypes")];
        let tags = tags.into_iter().filter(|(set, _)| *set);
        let words: Vec<&str> = kinds
            .map(IndexKind::word)
            .chain(tags.map(|(_, word)| word))
            .collect();
        out.write_str(&words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_case_and_written_in_one_order() {
        let mut kinds = IndexKinds::default();
        for word in ["SUBANY", "nolang", "approx", "eq"] {
            assert!(kinds.add(word), "{word}");
        }
        assert_eq!(kinds.to_string(), "eq,sub,approx,nolang");
        assert!(!kinds.add("fast"));
        assert_eq!(IndexKinds::default().to_string(), "none");
    }
}
