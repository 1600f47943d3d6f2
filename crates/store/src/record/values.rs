//! The values of an attribute, read from element to element.

use super::overflow::OverflowLocation;
use crate::ids::AttributeId;
use fulgurite_ber::{Reader, Tag};

/// The values of one attribute of an entry, in the map: in the record, or in blocks of overflow
/// values.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The one value, or the bytes of the elements.
    bytes: &'a [u8],
    len: usize,
    form: Form<'a>,
}

/// How the values are stored.
#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    /// One value without a header.
    One,
    Elements,
    Overflow(OverflowValues<'a>),
}

/// Values in blocks outside the record.
#[derive(Clone, Copy, Debug)]
struct OverflowValues<'a> {
    location: Option<OverflowLocation<'a>>,
    attribute: AttributeId,
}

impl<'a> Values<'a> {
    /// Makes the list of one value.
    #[inline]
    pub(super) fn one(value: &'a [u8]) -> Values<'a> {
        Values {
            bytes: value,
            len: 1,
            form: Form::One,
        }
    }

    /// Makes the list of `len` values, stored as elements.
    #[inline]
    pub(super) fn elements(elements: &'a [u8], len: usize) -> Values<'a> {
        Values {
            bytes: elements,
            len,
            form: Form::Elements,
        }
    }

    /// Makes the list of `len` values in blocks.
    pub(super) fn overflow(
        location: Option<OverflowLocation<'a>>,
        attribute: AttributeId,
        len: usize,
    ) -> Values<'a> {
        Values {
            bytes: &[],
            len,
            form: Form::Overflow(OverflowValues {
                location,
                attribute,
            }),
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if the values are stored outside the record, because they are many.
    #[must_use]
    pub fn are_overflow(&self) -> bool {
        matches!(self.form, Form::Overflow(_))
    }

    /// Returns the value at a position. `None` beyond the end, and in a damaged record. The cost
    /// grows with the position.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&'a [u8]> {
        self.iter().nth(position)
    }

    /// Returns the first value.
    #[must_use]
    pub fn first(&self) -> Option<&'a [u8]> {
        self.iter().next()
    }

    /// Returns the values in stored order.
    #[must_use]
    #[inline]
    pub fn iter(&self) -> ValuesIter<'a> {
        ValuesIter {
            rest: self.bytes,
            form: self.form,
            next_block: 0,
            is_over: false,
        }
    }

    /// Returns the values from a position of an [iterator](ValuesIter::resume_position) over them.
    #[must_use]
    pub fn iter_from(&self, position: ValuesPosition) -> ValuesIter<'a> {
        let mut iter = self.iter();
        let Some(rest) = position.rest else {
            return iter;
        };
        iter.next_block = position.next_block;
        iter.is_over = position.is_over;
        let elements = match self.form {
            Form::One => return iter,
            Form::Elements => self.bytes,
            Form::Overflow(_) if rest == 0 => return iter,
            Form::Overflow(overflow) => {
                let number = match position.is_over {
                    true => u32::MAX,
                    false => position.next_block.saturating_sub(1),
                };
                let block = overflow.block_from(number);
                block.map_or(&[][..], |(_, elements)| elements)
            }
        };
        let done = elements.len().saturating_sub(rest);
        iter.rest = elements.get(done..).unwrap_or_default();
        iter
    }

    /// Returns the values as a SET contains them, an OCTET STRING each. `None` for overflow values,
    /// and for one value without a header.
    #[must_use]
    pub fn encoded(&self) -> Option<&'a [u8]> {
        matches!(self.form, Form::Elements).then_some(self.bytes)
    }

    /// Returns true if the number of values is as announced and no bytes follow them.
    pub(crate) fn is_sound(&self) -> bool {
        let mut values = self.iter();
        values.by_ref().count() == self.len && values.rest.is_empty()
    }

    /// Returns true if two lists hold the same values in the same order.
    pub(crate) fn same(&self, other: &Values<'_>) -> bool {
        match (self.form, other.form) {
            (Form::One, Form::One) | (Form::Elements, Form::Elements) => self.bytes == other.bytes,
            _ => self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl<'a> IntoIterator for Values<'a> {
    type Item = &'a [u8];
    type IntoIter = ValuesIter<'a>;

    fn into_iter(self) -> ValuesIter<'a> {
        self.iter()
    }
}

/// Iterator over [`Values`]; a damaged element ends it.
#[derive(Clone, Debug)]
pub struct ValuesIter<'a> {
    rest: &'a [u8],
    form: Form<'a>,
    next_block: u32,
    is_over: bool,
}

/// A position of a [`ValuesIter`]. It holds for the same values in the same state of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValuesPosition {
    next_block: u32,
    is_over: bool,
    /// The bytes of the elements that follow in the record or the block; `None` at the beginning.
    rest: Option<usize>,
}

impl<'a> OverflowValues<'a> {
    /// Returns the first block from a number on, and its elements.
    fn block_from(self, number: u32) -> Option<(u32, &'a [u8])> {
        let location = self.location?;
        let source = location.source;
        source.block_from(location.entry, self.attribute, number)
    }
}

impl<'a> Iterator for ValuesIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        match self.form {
            Form::One if self.is_over => None,
            Form::One => {
                self.is_over = true;
                Some(std::mem::take(&mut self.rest))
            }
            Form::Overflow(overflow) if self.rest.is_empty() => self.first_of_next_block(overflow),
            Form::Elements | Form::Overflow(_) => take_element(&mut self.rest),
        }
    }
}

impl<'a> ValuesIter<'a> {
    /// Returns the present position.
    #[must_use]
    pub fn resume_position(&self) -> ValuesPosition {
        ValuesPosition {
            next_block: self.next_block,
            is_over: self.is_over,
            rest: Some(self.rest.len()),
        }
    }

    #[cold]
    fn first_of_next_block(&mut self, overflow: OverflowValues<'a>) -> Option<&'a [u8]> {
        if self.is_over {
            return None;
        }
        let (number, elements) = overflow.block_from(self.next_block)?;
        // No block follows the last number.
        match number.checked_add(1) {
            Some(next) => self.next_block = next,
            None => self.is_over = true,
        }
        self.rest = elements;
        take_element(&mut self.rest)
    }
}

/// Takes an OCTET STRING off the front and returns its contents; `None` if there is no complete
/// one.
#[inline]
pub(crate) fn take_element<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    if let [0x04, len @ 0..0x80, behind @ ..] = *rest {
        let (value, behind) = behind.split_at_checked(usize::from(*len))?;
        *rest = behind;
        return Some(value);
    }
    take_long_element(rest)
}

fn take_long_element<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let mut reader = Reader::new(rest);
    let value = reader.expect(Tag::OCTET_STRING).ok()?;
    *rest = reader.remaining();
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iterator_continues_at_its_position() {
        let elements = b"\x04\x01a\x04\x00\x04\x02bc";
        for values in [Values::one(b"a"), Values::elements(elements, 3)] {
            for taken in 0..=values.len() + 1 {
                let mut iter = values.iter();
                let before = iter.by_ref().take(taken).count();
                let rest: Vec<&[u8]> = values.iter_from(iter.resume_position()).collect();
                let all: Vec<&[u8]> = values.iter().collect();
                assert_eq!(rest, all[before..]);
            }
            let start = ValuesPosition::default();
            assert_eq!(values.iter_from(start).count(), values.len());
        }
    }
}
