//! Substrings assertions (RFC 4518, section 2.6: initial, any and final variants).

use super::invalid::InvalidValue;
use super::needle::Needle;
use super::prepare::compact;

/// Prepares one piece of a substrings assertion for the normal forms of a family of rules.
pub(super) type PreparePiece = fn(&[u8]) -> Result<Piece, InvalidValue>;

/// A prepared piece.
#[derive(Debug)]
pub(super) enum Piece {
    /// Text of a form in which spaces are significant.
    Spaced(String),
    /// Bytes of a form without significant spaces.
    Exact(Vec<u8>),
}

/// A substrings assertion prepared for the normal forms of one family of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubstringAssertion {
    pieces: Pieces,
    /// The same with marked spaces, when a piece begins or ends with a space that counts.
    spaced: Option<Pieces>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pieces {
    initial: Option<Box<[u8]>>,
    any: Vec<Needle>,
    final_: Option<Box<[u8]>>,
}

/// The position of a piece in the assertion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Initial,
    Any,
    Final,
}

impl SubstringAssertion {
    /// Returns the required start of the normal form. Without outer spaces, so it is a necessary
    /// condition: an index may use it, [`matches`](Self::matches) decides.
    #[must_use]
    pub fn initial(&self) -> Option<&[u8]> {
        self.pieces.initial.as_deref()
    }

    /// Returns the pieces that the normal form must contain, in this order and without overlap,
    /// without outer spaces.
    pub fn any(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.any.iter().map(Needle::bytes)
    }

    /// Returns the required end of the normal form, without outer spaces.
    #[must_use]
    pub fn final_(&self) -> Option<&[u8]> {
        self.pieces.final_.as_deref()
    }

    /// Returns true if a value, given in its rule's normal form, matches.
    #[must_use]
    pub fn matches(&self, value_normal: &[u8]) -> bool {
        match &self.spaced {
            None => self.pieces.found_in(value_normal),
            Some(spaced) => spaced.found_in(&mark_spaces(value_normal)),
        }
    }

    /// Prepares the pieces of a filter for values in `form`.
    pub(super) fn prepare<'p>(
        prepare: PreparePiece,
        initial: Option<&'p [u8]>,
        any: impl Iterator<Item = &'p [u8]> + Clone,
        final_: Option<&'p [u8]>,
    ) -> Result<SubstringAssertion, InvalidValue> {
        let given = initial
            .map(|piece| (Position::Initial, piece))
            .into_iter()
            .chain(any.map(|piece| (Position::Any, piece)))
            .chain(final_.map(|piece| (Position::Final, piece)));
        let mut prepared = PieceBuilder {
            prepare,
            pieces: Pieces::default(),
            spaced: None,
            spaces_count: false,
        };
        for (place, piece) in given.clone() {
            prepared.add(place, piece)?;
        }
        if prepared.spaces_count {
            // Few assertions need marked spaces, and only the whole assertion shows whether one
            // does.
            prepared.spaced = Some(Pieces::default());
            prepared.pieces = Pieces::default();
            for (place, piece) in given {
                prepared.add(place, piece)?;
            }
        }
        Ok(SubstringAssertion {
            pieces: prepared.pieces,
            spaced: prepared.spaced,
        })
    }
}

impl Pieces {
    fn found_in(&self, value: &[u8]) -> bool {
        let Some(rest) = value.strip_prefix(self.initial.as_deref().unwrap_or(b"")) else {
            return false;
        };
        let Some(mut rest) = rest.strip_suffix(self.final_.as_deref().unwrap_or(b"")) else {
            return false;
        };
        for piece in &self.any {
            let Some(behind) = piece.behind_first_in(rest) else {
                return false;
            };
            rest = behind;
        }
        true
    }

    fn put(&mut self, place: Position, piece: Vec<u8>) {
        let piece = piece.into_boxed_slice();
        match place {
            Position::Initial => self.initial = Some(piece),
            // Most assertions have one such piece at most.
            Position::Any if self.any.is_empty() => self.any = vec![Needle::new(piece)],
            Position::Any => self.any.push(Needle::new(piece)),
            Position::Final => self.final_ = Some(piece),
        }
    }
}

struct PieceBuilder {
    prepare: PreparePiece,
    pieces: Pieces,
    /// Where they are wanted.
    spaced: Option<Pieces>,
    /// True if a space at an end of a piece counts.
    spaces_count: bool,
}

impl PieceBuilder {
    fn add(&mut self, place: Position, piece: &[u8]) -> Result<(), InvalidValue> {
        match (self.prepare)(piece)? {
            Piece::Spaced(text) => self.add_text(place, text),
            Piece::Exact(bytes) => self.pieces.put(place, bytes),
        }
        Ok(())
    }

    fn add_text(&mut self, place: Position, text: String) {
        let blank = text.bytes().all(|b| b == b' ');
        let leading = place != Position::Initial && text.starts_with(' ');
        let trailing = place != Position::Final && text.ends_with(' ');
        let core = if blank {
            String::new()
        } else if text.contains(' ') {
            compact(&text)
        } else {
            text
        };
        self.spaces_count |= blank || leading || trailing;
        if let Some(pieces) = &mut self.spaced {
            pieces.put(place, spaced(&core, place, (blank, leading, trailing)));
        }
        self.pieces.put(place, core.into_bytes());
    }
}

/// Returns a piece in the marked form of RFC 4518.
fn spaced(core: &str, place: Position, (blank, leading, trailing): (bool, bool, bool)) -> Vec<u8> {
    let mut spaced = Vec::with_capacity(core.len() + 2);
    if blank {
        spaced.push(b' ');
    } else {
        if leading || place == Position::Initial {
            spaced.push(b' ');
        }
        spaced.extend_from_slice(core.replace(' ', "  ").as_bytes());
        if trailing || place == Position::Final {
            spaced.push(b' ');
        }
    }
    spaced
}

/// Returns a compact normal form in the marked form of RFC 4518. Inner spaces occur twice, and each
/// line has one space at each end.
fn mark_spaces(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() + 8);
    for (number, line) in compact.split(|&b| b == b'\n').enumerate() {
        if number > 0 {
            out.push(b'\n');
        }
        out.push(b' ');
        if line != b" " {
            for &b in line {
                out.push(b);
                if b == b' ' {
                    out.push(b);
                }
            }
        }
        out.push(b' ');
    }
    out
}
