//! Pieces of the staff's cn values, drawn at random positions, for counts of substring searches.
//!
//! The load generator draws its own from the LDIF. These are always the same, so that counts are.

use super::staff;
use crate::workload::data::mix;

/// The shortest piece, and the number of different lengths.
const LEN_MIN: u64 = 4;
const LENS: u64 = 9;

/// A piece that finds more entries is drawn again.
const MATCHES_MAX: usize = 100;

/// A piece, and the number of entries that match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) matches: usize,
}

/// Returns `count` pieces of 4 to 12 letters, in lower case.
pub(super) fn pieces(people: u64, count: usize) -> Vec<Piece> {
    let mut names: Vec<Vec<String>> = Vec::new();
    for cns in staff::cns(people) {
        names.push(cns.into_iter().map(|cn| cn.to_lowercase()).collect());
    }
    let mut draws = (0..).filter_map(|number| drawn(&names, number));
    std::iter::from_fn(|| draws.next()).take(count).collect()
}

/// Draws one piece. `None` if it begins or ends with a space, or if too many entries match.
fn drawn(names: &[Vec<String>], number: u64) -> Option<Piece> {
    let below = |purpose: u64, count: u64| mix(number ^ (purpose << 40)) % count.max(1);
    let cns = names.get(below(1, names.len() as u64) as usize)?;
    let cn = cns.get(below(2, cns.len() as u64) as usize)?;
    let len = (LEN_MIN + below(3, LENS)).min(cn.len() as u64);
    let start = below(4, cn.len() as u64 - len + 1);
    let text = cn.get(start as usize..(start + len) as usize)?;
    if text.trim() != text {
        return None;
    }
    let has = |cns: &&Vec<String>| cns.iter().any(|cn| cn.contains(text));
    let matches = names.iter().filter(has).take(MATCHES_MAX + 1).count();
    (matches <= MATCHES_MAX).then(|| Piece {
        text: text.to_owned(),
        matches,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_short_and_found() {
        let pieces = pieces(300, 40);
        assert_eq!(pieces.len(), 40);
        let lens: Vec<usize> = pieces.iter().map(|piece| piece.text.len()).collect();
        assert!(lens.iter().all(|len| (4..=12).contains(len)), "{lens:?}");
        assert!(lens.iter().min() < lens.iter().max());
        assert!(
            pieces
                .iter()
                .all(|piece| (1..=100).contains(&piece.matches))
        );
        assert!(pieces.iter().any(|piece| piece.matches > 1));
    }
}
