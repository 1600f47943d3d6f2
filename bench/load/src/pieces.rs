//! Pieces of names for substring searches, drawn at random positions, with the matches of each.
//!
//! ```text
//!   cn values -> runs of four characters, sorted: which values have each
//!   draw: a value, a length of 4 to 12, a position -> a piece -> the values with its rarest run -> matches
//! ```

use anyhow::{Context as _, ensure};

use crate::targets::{Targets, splitmix};

/// The shortest and the longest piece, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=12;
/// The length of the runs that find values.
const RUN: usize = 4;
/// Draws that may be rejected before each accepted one.
const REJECTED_MAX: u64 = 10_000;

/// The position of a piece in its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Initial,
    Any,
    Final,
}

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// As written in the value.
    pub(crate) text: String,
    /// Entries that have it in this position of a value.
    pub(crate) matches: u64,
}

/// The pieces of a run.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) position: Position,
    list: Vec<Piece>,
    /// Draws that matched too many entries.
    pub(crate) rejected: u64,
}

/// The rules of drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) position: Position,
    pub(crate) seed: u64,
    pub(crate) count: u64,
    /// A piece with more matches is drawn again.
    pub(crate) matches_max: u64,
}

impl Pieces {
    /// Draws pieces from the cn values.
    ///
    /// # Errors
    /// Values without pieces that match few enough entries.
    pub(crate) fn draw(targets: &Targets, draw: Draw) -> anyhow::Result<Pieces> {
        let corpus = Corpus::new(targets);
        let mut random = Random(draw.seed);
        let mut pieces = Pieces {
            position: draw.position,
            list: Vec::new(),
            rejected: 0,
        };
        ensure!(
            !corpus.values.is_empty(),
            "no entry has a cn of 4 or more bytes"
        );
        let mut drawn = 0;
        while (pieces.list.len() as u64) < draw.count {
            drawn += 1;
            ensure!(
                drawn <= draw.count.saturating_mul(REJECTED_MAX),
                "too few pieces match at most {} entries",
                draw.matches_max
            );
            let Some(text) = corpus.piece(draw.position, &mut random) else {
                continue;
            };
            match corpus.matches(&text, draw.position, draw.matches_max) {
                Some(matches) => pieces.list.push(Piece { text, matches }),
                None => pieces.rejected += 1,
            }
        }
        Ok(pieces)
    }

    /// Returns the piece of the `n`th request.
    pub(crate) fn of(&self, n: u64) -> Option<&Piece> {
        let at = n.checked_rem(self.list.len() as u64)?;
        usize::try_from(at).ok().and_then(|at| self.list.get(at))
    }

    /// Returns true if a value has the piece in its position. Letters match in either case.
    pub(crate) fn has(&self, value: &str, piece: &Piece) -> bool {
        let (value, text) = (value.to_ascii_lowercase(), piece.text.to_ascii_lowercase());
        holds(&value, &text, self.position)
    }
}

fn holds(value: &str, text: &str, position: Position) -> bool {
    match position {
        Position::Initial => value.starts_with(text),
        Position::Any => value.contains(text),
        Position::Final => value.ends_with(text),
    }
}

/// All values, and which of them have each run of four bytes.
struct Corpus<'t> {
    /// The entry's number, the value, and the value in lower case. Entries ascend.
    values: Vec<(u32, &'t str, String)>,
    /// A run in the upper half, the number of a value in the lower one.
    runs: Vec<u64>,
}

impl<'t> Corpus<'t> {
    fn new(targets: &'t Targets) -> Corpus<'t> {
        let mut values = Vec::new();
        for (number, named) in (0_u32..).zip(targets.named()) {
            let long = named
                .cns
                .iter()
                .filter(|cn| cn.len() >= RUN && cn.is_ascii());
            values.extend(long.map(|cn| (number, cn.as_str(), cn.to_ascii_lowercase())));
        }
        let mut runs = Vec::new();
        for (number, (_, _, value)) in (0_u64..).zip(&values) {
            runs.extend(
                value
                    .as_bytes()
                    .windows(RUN)
                    .map(|run| key(run) << 32 | number),
            );
        }
        runs.sort_unstable();
        runs.dedup();
        Corpus { values, runs }
    }

    /// Draws a piece; `None` if it begins or ends with a space, which is not compared.
    fn piece(&self, position: Position, random: &mut Random) -> Option<String> {
        let value = self.values.get(random.below(self.values.len()))?.1;
        let span = LENGTHS.end() - LENGTHS.start() + 1;
        let len = (LENGTHS.start() + random.below(span)).min(value.len());
        let start = match position {
            Position::Initial => 0,
            Position::Any => random.below(value.len() - len + 1),
            Position::Final => value.len() - len,
        };
        let text = value.get(start..start + len)?;
        (text.trim() == text).then(|| text.to_owned())
    }

    /// Counts the entries that match a piece; `None` if there are more than `max`.
    fn matches(&self, text: &str, position: Position, max: u64) -> Option<u64> {
        let text = text.to_ascii_lowercase();
        let rarest = text.as_bytes().windows(RUN).map(|run| self.with(key(run)));
        let (mut matches, mut last) = (0, None);
        for run in rarest.min_by_key(|values| values.len())? {
            let number = usize::try_from(run & u64::from(u32::MAX)).ok()?;
            let (entry, _, value) = self.values.get(number)?;
            if last != Some(*entry) && holds(value, &text, position) {
                last = Some(*entry);
                matches += 1;
                if matches > max {
                    return None;
                }
            }
        }
        Some(matches)
    }

    /// Returns the values that have a run.
    fn with(&self, run: u64) -> &[u64] {
        let from = self.runs.partition_point(|at| at >> 32 < run);
        let to = self.runs.partition_point(|at| at >> 32 <= run);
        self.runs.get(from..to).unwrap_or_default()
    }
}

fn key(run: &[u8]) -> u64 {
    run.iter().fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let count = count.max(1) as u64;
        usize::try_from(splitmix(self.0) % count).unwrap_or(0)
    }
}

/// Returns the positions in which a kind of question looks for pieces.
pub(crate) fn position_of(kind: crate::options::Kind) -> Option<Position> {
    use crate::options::Kind;
    match kind {
        Kind::SubstringInitial => Some(Position::Initial),
        Kind::SubstringAny => Some(Position::Any),
        Kind::SubstringFinal => Some(Position::Final),
        _ => None,
    }
}

/// Draws the pieces that the options ask for.
///
/// # Errors
/// As [`Pieces::draw`].
pub(crate) fn drawn(
    arguments: &crate::options::Arguments,
    targets: &Targets,
) -> anyhow::Result<Option<Pieces>> {
    let Some(position) = position_of(arguments.workload) else {
        return Ok(None);
    };
    let draw = Draw {
        position,
        seed: arguments.seed,
        count: arguments.requests.clamp(1, 1_000_000),
        matches_max: arguments.matches_max,
    };
    Pieces::draw(targets, draw)
        .map(Some)
        .context("cannot draw substrings")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LDIF: &str = "dn: cn=Ada Stone,dc=x\nuid: ada\ncn: Ada Stone\ncn: Stone, Ada of the harbour\n\n\
        dn: cn=Bo Stonefield,dc=x\nuid: bo\ncn: Bo Stonefield\n\n\
        dn: cn=stones,dc=x\ncn: STONES\n\n";

    fn draw(position: Position, seed: u64) -> Draw {
        Draw {
            position,
            seed,
            count: 300,
            matches_max: 100,
        }
    }

    #[test]
    fn pieces_know_their_matches() {
        let targets = Targets::parse(LDIF.as_bytes()).unwrap();
        for position in [Position::Initial, Position::Any, Position::Final] {
            let pieces = Pieces::draw(&targets, draw(position, 7)).unwrap();
            let mut lengths = std::collections::BTreeSet::new();
            for piece in &pieces.list {
                lengths.insert(piece.text.len());
                let has = |cns: &[String]| cns.iter().any(|cn| pieces.has(cn, piece));
                let matches = targets.named().filter(|named| has(&named.cns)).count();
                assert_eq!(piece.matches, matches as u64, "{piece:?}");
                assert!(piece.matches > 0 && piece.text.trim() == piece.text);
            }
            assert!(lengths.first() == Some(&4) && lengths.last() == Some(&12));
        }
    }

    #[test]
    fn a_seed_draws_the_same_pieces_again() {
        let targets = Targets::parse(LDIF.as_bytes()).unwrap();
        let list = |seed| {
            Pieces::draw(&targets, draw(Position::Any, seed))
                .unwrap()
                .list
        };
        assert_eq!(list(3), list(3));
        assert_ne!(list(3), list(4));
    }

    #[test]
    fn pieces_with_many_matches_are_drawn_again() {
        let targets = Targets::parse(LDIF.as_bytes()).unwrap();
        let rule = Draw {
            matches_max: 1,
            ..draw(Position::Any, 1)
        };
        let pieces = Pieces::draw(&targets, rule).unwrap();
        assert!(pieces.rejected > 0);
        assert!(pieces.list.iter().all(|piece| piece.matches == 1));
        let none = Draw {
            matches_max: 0,
            ..rule
        };
        assert!(Pieces::draw(&targets, none).is_err());
    }
}
