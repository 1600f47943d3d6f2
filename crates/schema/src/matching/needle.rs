//! A piece of text that is looked for in many short values.

use memchr::{memchr, memmem};

use super::prepare::SHORT;

/// Lower-case letters from the most frequent in names on. All other bytes are taken to be rarer.
const FREQUENT: &[u8] = b" aeinrolstdmhcgubkpvfywzjxq";

/// A piece, with the position of the byte that most values lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needle {
    bytes: Box<[u8]>,
    rare_at: usize,
}

impl Needle {
    pub(super) fn new(bytes: Box<[u8]>) -> Needle {
        let rank = |b: &u8| FREQUENT.iter().position(|frequent| frequent == b);
        let rank = |(_, b): &(usize, &u8)| rank(b).unwrap_or(FREQUENT.len());
        let rare = bytes.iter().enumerate().max_by_key(rank);
        let rare_at = rare.map_or(0, |(at, _)| at);
        debug_assert!(rare_at <= bytes.len(), "the byte is in the piece");
        Needle { bytes, rare_at }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the text behind the first occurrence of the piece; `None` if there is none.
    pub(super) fn behind_first_in<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        if text.len() > SHORT {
            // The search below takes the product of both lengths at worst.
            let at = memmem::find(text, &self.bytes)?;
            return text.get(at + self.bytes.len()..);
        }
        let Some(rare) = self.bytes.get(self.rare_at) else {
            return Some(text);
        };
        let mut from = text;
        loop {
            let at = memchr(*rare, from.get(self.rare_at..)?)?;
            from = from.get(at..)?;
            if let Some(behind) = from.strip_prefix(&*self.bytes) {
                return Some(behind);
            }
            from = from.get(1..)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_piece_is_found_where_a_plain_search_finds_it(
            text in "[abe ]{0,40}",
            piece in "[abe ]{0,4}",
            repeated in 1_usize..6,
        ) {
            // Also longer than the values that are searched here.
            let text = text.repeat(repeated);
            let expected = text.split_once(&piece).map(|(_, behind)| behind.as_bytes());
            let needle = Needle::new(piece.as_bytes().into());
            prop_assert_eq!(needle.behind_first_in(text.as_bytes()), expected);
        }
    }

    #[test]
    fn the_rarest_byte_is_looked_for() {
        for (piece, rare_at) in [("", 0), ("stone", 1), ("ada", 1), ("a 7e", 2), ("éa", 1)] {
            let bytes = piece.as_bytes();
            let rank = |b: &u8| FREQUENT.iter().position(|frequent| frequent == b);
            let needle = Needle::new(bytes.into());
            let found = bytes.get(needle.rare_at).map(rank);
            assert_eq!(found, bytes.get(rare_at).map(rank), "{piece}");
        }
    }
}
