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

/// Every kind with its words, in the order of the enum; the first word is the one that is written.
const WORDS: &[(IndexKind, &[&str])] = &[
    (IndexKind::Equality, &["eq", "equality"]),
    (IndexKind::Presence, &["pres", "presence"]),
    (
        IndexKind::Substring,
        &[
            "sub",
            "substr",
            "substring",
            "subinitial",
            "subany",
            "subfinal",
        ],
    ),
    (IndexKind::Approximate, &["approx"]),
];

impl IndexKind {
    /// Every kind, in the order in which lists name them.
    pub const ALL: [IndexKind; WORDS.len()] = {
        assert!(
            WORDS.len() <= u16::BITS as usize,
            "a set has a bit for each kind"
        );
        let mut all = [IndexKind::Equality; WORDS.len()];
        let mut at = 0;
        while at < WORDS.len() {
            all[at] = WORDS[at].0;
            assert!(
                all[at] as usize == at,
                "the words have the order of the enum"
            );
            at += 1;
        }
        all
    };

    /// Returns the words of a kind; the first is the one that is written.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        WORDS[self as usize].1
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

    /// Returns the words of all kinds for messages, with commas between them.
    #[must_use]
    pub fn all_words() -> String {
        IndexKind::ALL.map(IndexKind::word).join(", ")
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexKinds(u16);

impl IndexKinds {
    /// Makes a set of some kinds.
    #[must_use]
    pub fn of(kinds: &[IndexKind]) -> IndexKinds {
        let mut set = IndexKinds::default();
        kinds.iter().for_each(|kind| set.set(*kind, true));
        set
    }

    /// Returns true if a kind is in the set.
    #[must_use]
    #[inline]
    pub const fn has(self, kind: IndexKind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }

    /// Returns true if no kind is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds or removes a kind.
    pub const fn set(&mut self, kind: IndexKind, on: bool) {
        let bit = 1 << kind as u16;
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }

    /// Adds the kinds of `other`.
    pub const fn merge(&mut self, other: IndexKinds) {
        self.0 |= other.0;
    }

    /// Returns the kinds of the set, in the order in which lists name them.
    pub fn iter(self) -> impl Iterator<Item = IndexKind> {
        let kinds = IndexKind::ALL.into_iter();
        kinds.filter(move |kind| self.has(*kind))
    }
}

impl fmt::Display for IndexKinds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.iter().map(IndexKind::word).collect();
        out.write_str(&words.join(","))
    }
}

/// The indexes of one attribute, as the configuration names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexSelection {
    /// The kinds of index.
    pub kinds: IndexKinds,
    /// Values with language tags do not count as values of the attribute.
    pub no_lang: bool,
    /// Values of subtypes do not count as values of the attribute.
    pub no_subtypes: bool,
}

impl IndexSelection {
    /// Returns true if the kind is among them.
    #[must_use]
    pub const fn has(self, kind: IndexKind) -> bool {
        self.kinds.has(kind)
    }

    /// Adds the kind of a word, in any case of letters. Returns false if there is none.
    pub fn add(&mut self, word: &str) -> bool {
        match word.to_ascii_lowercase().as_str() {
            "nolang" => self.no_lang = true,
            "nosubtypes" => self.no_subtypes = true,
            word => match IndexKind::named(word) {
                Some(kind) => self.kinds.set(kind, true),
                None => return false,
            },
        }
        true
    }

    /// Returns true if no index is kept.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.kinds.is_empty()
    }
}

impl fmt::Display for IndexSelection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return out.write_str("none");
        }
        let tags = [(self.no_lang, "nolang"), (self.no_subtypes, "nosubtypes")];
        let tags = tags.into_iter().filter(|(set, _)| *set);
        let words: Vec<&str> = self
            .kinds
            .iter()
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
        let mut kinds = IndexSelection::default();
        for word in ["SUBANY", "nolang", "approx", "eq"] {
            assert!(kinds.add(word), "{word}");
        }
        assert_eq!(kinds.to_string(), "eq,sub,approx,nolang");
        assert!(!kinds.add("fast"));
        assert_eq!(IndexSelection::default().to_string(), "none");
    }
}
