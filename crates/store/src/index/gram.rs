//! Grams: three bytes of a normal form, which substring indexes list.

use super::key::{self, ESCAPE, HEADER_LEN};
use crate::ids::AttributeId;

/// Kind code of the keys of grams.
pub(crate) const CODE: u8 = b's';
/// Marks the start of a normal form in its grams. A value with the same byte may be found too; the
/// filter is tested anyway.
pub(crate) const START: u8 = 2;

/// Marks the end of a normal form. With it the last byte of a value makes a gram of two bytes. So
/// every byte of a value begins some gram.
pub(crate) const END: u8 = 3;

/// Number of bytes of a gram.
pub(super) const GRAM_LEN: usize = 3;

/// Calls `gram` with the grams of a value in normal form, in order. A gram may come more than once.
pub(crate) fn each_gram(normal: &[u8], mut gram: impl FnMut(&[u8])) {
    match normal {
        [] => gram(&[START, END]),
        [single] => {
            gram(&[START, *single, END]);
            gram(&[*single, END]);
        }
        [first, second, ..] => {
            gram(&[START, *first, *second]);
            normal.windows(GRAM_LEN).for_each(&mut gram);
            if let [.., before, last] = normal {
                gram(&[*before, *last, END]);
                gram(&[*last, END]);
            }
        }
    }
}

/// How to find the values that contain a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GramLookup {
    /// In the posting of this gram.
    One(Gram),
    /// In the postings of all grams with this beginning: the piece is shorter than a gram.
    Beginning(Gram),
}

/// A gram, or the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gram {
    bytes: [u8; GRAM_LEN],
    len: usize,
}

impl Gram {
    /// Returns the first bytes of a text, up to the length of a gram.
    fn of(text: &[u8]) -> Gram {
        let mut bytes = [0; GRAM_LEN];
        let positions = bytes.iter_mut().zip(text);
        positions.for_each(|(to, from)| *to = *from);
        Gram {
            bytes,
            len: text.len().min(GRAM_LEN),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// The end of a value that a piece must be at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceEnd {
    Start,
    End,
    /// The piece may be anywhere.
    Any,
}

/// Calls `gram` with the grams that every value with this piece has.
pub(crate) fn each_gram_of_piece(piece: &[u8], at: PieceEnd, mut gram: impl FnMut(GramLookup)) {
    let mut one = |text: &[u8]| gram(GramLookup::One(Gram::of(text)));
    match (piece, at) {
        ([], _) => {}
        ([single], PieceEnd::Start) => gram(GramLookup::Beginning(Gram::of(&[START, *single]))),
        ([single], PieceEnd::End) => one(&[*single, END]),
        ([_] | [_, _], PieceEnd::Any) => gram(GramLookup::Beginning(Gram::of(piece))),
        ([first, second, ..], PieceEnd::Start) => {
            one(&[START, *first, *second]);
            piece.windows(GRAM_LEN).for_each(one);
        }
        ([.., before, last], PieceEnd::End) => {
            piece.windows(GRAM_LEN).for_each(&mut one);
            one(&[*before, *last, END]);
        }
        (_, PieceEnd::Any) => piece.windows(GRAM_LEN).for_each(one),
    }
}

/// As [`key::posting`], for a gram of three bytes without escapes. Most keys of a load are of this
/// form.
pub(crate) fn of_gram(attribute: AttributeId, gram: &[u8]) -> Option<[u8; HEADER_LEN + 4]> {
    let &[a, b, c] = gram else { return None };
    let [high, low] = attribute.key();
    let key = [high, low, CODE, a, b, c, key::END];
    (a.min(b).min(c) > ESCAPE).then_some(key)
}

/// Returns a gram as a number of 24 bits, which sorts as its key. `None` for grams with escapes,
/// and for those shorter than two bytes.
pub(crate) fn gram_code(gram: &[u8]) -> Option<u32> {
    match *gram {
        [a, b, c] if a.min(b).min(c) > ESCAPE => Some(u32::from_be_bytes([0, a, b, c])),
        [a, b] if a.min(b) > ESCAPE => Some(u32::from_be_bytes([0, a, b, key::END])),
        _ => None,
    }
}

/// Returns attribute and code of a gram's posting, if the gram has a code.
pub(crate) fn gram_of(posting: &[u8]) -> Option<(AttributeId, u32)> {
    let (&[high, low, kind], gram) = posting.split_first_chunk()?;
    let (&end, gram) = gram.split_last()?;
    if kind != CODE || end != key::END {
        return None;
    }
    Some((AttributeId::from_key(&[high, low])?, gram_code(gram)?))
}

/// Replaces `out` by the key of a gram's posting.
pub(crate) fn of_gram_code(out: &mut Vec<u8>, attribute: AttributeId, code: u32) {
    key::header(out, attribute, CODE);
    let [_, a, b, c] = code.to_be_bytes();
    out.extend_from_slice(&[a, b, c]);
    if c != key::END {
        out.push(key::END);
    }
}

/// Returns attribute and kind of grams, as [`key::kind_prefix`] does.
pub(crate) fn kind_prefix(attribute: AttributeId) -> [u8; HEADER_LEN] {
    let [high, low] = attribute.key();
    [high, low, CODE]
}

#[cfg(test)]
mod tests {
    use super::super::key::posting;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const A: AttributeId = AttributeId(0xffff);

    fn grams(value: &[u8]) -> BTreeSet<Vec<u8>> {
        let mut found = BTreeSet::new();
        each_gram(value, |gram| {
            found.insert(gram.to_vec());
        });
        found
    }

    fn grams_of_piece(piece: &[u8], at: PieceEnd) -> Vec<GramLookup> {
        let mut found = Vec::new();
        each_gram_of_piece(piece, at, |gram| found.push(gram));
        found
    }

    fn holds(grams: &BTreeSet<Vec<u8>>, lookup: &GramLookup) -> bool {
        match lookup {
            GramLookup::One(gram) => grams.contains(gram.bytes()),
            GramLookup::Beginning(head) => grams.iter().any(|gram| gram.starts_with(head.bytes())),
        }
    }

    proptest! {
        #[test]
        fn every_piece_of_a_value_is_found(value in "[ab]{0,7}", from in 0_usize..8, len in 1_usize..8) {
            let value = value.as_bytes();
            let grams = grams(value);
            let from = from.min(value.len());
            let to = (from + len).min(value.len());
            for lookup in grams_of_piece(&value[from..to], PieceEnd::Any) {
                prop_assert!(holds(&grams, &lookup), "{lookup:?}");
            }
            for lookup in grams_of_piece(&value[..to], PieceEnd::Start) {
                prop_assert!(holds(&grams, &lookup), "{lookup:?}");
            }
            for lookup in grams_of_piece(&value[from..], PieceEnd::End) {
                prop_assert!(holds(&grams, &lookup), "{lookup:?}");
            }
        }

        #[test]
        fn grams_have_the_keys_of_values(gram in prop::collection::vec(0_u8..5, 0..5)) {
            let mut expected = Vec::new();
            posting(&mut expected, A, CODE, &gram);
            if let Some(key) = of_gram(A, &gram) {
                prop_assert_eq!(&key[..], &expected);
            }
            let code = gram_code(&gram);
            prop_assert_eq!(gram_of(&expected), code.map(|code| (A, code)));
            if let Some(code) = code {
                let mut key = Vec::new();
                of_gram_code(&mut key, A, code);
                prop_assert_eq!(key, expected);
            }
        }

        #[test]
        fn codes_of_grams_sort_as_their_keys(
            a in prop::collection::vec(2_u8..5, 2..4),
            b in prop::collection::vec(2_u8..5, 2..4),
        ) {
            let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
            posting(&mut key_a, A, CODE, &a);
            posting(&mut key_b, A, CODE, &b);
            prop_assert_eq!(gram_code(&a).cmp(&gram_code(&b)), key_a.cmp(&key_b));
        }
    }
}
