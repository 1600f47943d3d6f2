//! Reading a record without decoding it.

use super::layout::{
    HAS_OVERFLOW, HEADER_LEN, LONG_NAMES, OVERFLOW_BIT, PARENT_AT, SAME_NAME, VERSION,
    WIDE_NUMBERS, WIDE_ROW_LEN, WIDE_ROWS,
};
use super::overflow::OverflowLocation;
use super::row::{AttributeRow, WideRow};
use super::values::Values;
use crate::bytes::{u16_at, u32_at, u64_at};
use crate::error::Damage;
use crate::ids::{AttributeId, EntryId};

/// A record in the map whose rows have been checked. It is copied often, so it has offsets rather
/// than slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    bytes: &'a [u8],
    /// How to reach the overflow values.
    overflow: Option<OverflowLocation<'a>>,
    /// Offset of the number of attributes and of their numbers, behind the names.
    shape_at: u32,
    rows_at: u32,
    values_at: u32,
    len: u16,
    flags: u8,
}

/// Iterator over the attributes of a record, in their order.
#[derive(Clone, Debug)]
pub(crate) struct AttributeIter<'a> {
    record: Record<'a>,
    place: usize,
    rows: &'a [u8],
    values: &'a [u8],
}

impl<'a> Record<'a> {
    /// Checks the header and the bounds of the attributes, not the values. Overflow values are
    /// readable once the record is [complete](Self::with_overflow).
    ///
    /// # Errors
    /// [`Damage::Record`] if lengths or offsets lead outside.
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Record<'a>, Damage> {
        Record::parse_whole(bytes).ok_or(Damage::Record)
    }

    /// Completes the record with the access to its overflow values.
    pub(crate) fn with_overflow(self, overflow: OverflowLocation<'a>) -> Record<'a> {
        Record {
            overflow: Some(overflow),
            ..self
        }
    }

    /// Checks only the part up to the names. The result has names and a parent, but no attributes.
    ///
    /// # Errors
    /// [`Damage::Record`] if lengths lead outside.
    pub(crate) fn parse_names(bytes: &'a [u8]) -> Result<Record<'a>, Damage> {
        let header = Record::parse_fixed_part(bytes).ok_or(Damage::Record)?;
        Ok(header.0)
    }

    /// Returns the record without its attributes, and the bytes behind its names.
    #[inline]
    fn parse_fixed_part(bytes: &'a [u8]) -> Option<(Record<'a>, &'a [u8])> {
        let &[version, flags, ..] = bytes.first_chunk::<HEADER_LEN>()?;
        let [(_, rdn_end), (_, normal_end)] = names_of(bytes, flags)?;
        let end = rdn_end.max(normal_end);
        let rest = bytes.get(end..)?;
        let at = u32::try_from(end).ok()?;
        let record = Record {
            bytes,
            overflow: None,
            shape_at: at,
            rows_at: at,
            values_at: at,
            len: 0,
            flags,
        };
        (version == VERSION).then_some((record, rest))
    }

    #[inline]
    fn parse_whole(bytes: &'a [u8]) -> Option<Record<'a>> {
        let (header, rest) = Record::parse_fixed_part(bytes)?;
        if header.is_wide() {
            return header.with_wide_rows(rest);
        }
        let len = *rest.first()?;
        let number_len = if header.flags & WIDE_NUMBERS != 0 {
            2
        } else {
            1
        };
        let mut after = rest.get(1 + usize::from(len) * number_len..)?;
        let rows_len = after.len();
        let values_len = AttributeRow::pass(&mut after, len)?;
        let rows_at = bytes.len() - rows_len;
        (values_len == after.len() as u64).then_some(Record {
            rows_at: u32::try_from(rows_at).ok()?,
            values_at: u32::try_from(bytes.len() - after.len()).ok()?,
            len: u16::from(len),
            ..header
        })
    }

    #[cold]
    fn with_wide_rows(self, rest: &'a [u8]) -> Option<Record<'a>> {
        let len = u16_at(rest, 0)?;
        let count = usize::from(len);
        let values = rest.get(2 + (4 + WIDE_ROW_LEN) * count..)?;
        let values_at = u32::try_from(self.bytes.len() - values.len()).ok()?;
        let record = Record {
            rows_at: u32::try_from(self.bytes.len() - rest.len() + 2 + 2 * count).ok()?,
            values_at,
            len,
            ..self
        };
        let mut end = 0;
        let ascend = record.wide_rows().iter().map(WideRow::of).all(|row| {
            let sound = (end..=values.len()).contains(&row.offset);
            end = row.offset;
            sound
        });
        ascend.then_some(record)
    }

    /// Returns the id of the parent, [`EntryId::ROOT`] for a suffix.
    #[inline]
    pub(crate) fn parent(&self) -> EntryId {
        // The shift removes the two bytes before the id.
        EntryId(u64_at(self.bytes, 0).unwrap_or(0) >> (8 * PARENT_AT))
    }

    /// Returns the parent, and copies of the RDN in normal form and as the user wrote it.
    pub(crate) fn place_and_name(&self) -> (EntryId, Vec<u8>, Vec<u8>) {
        let (normal, written) = (self.rdn_normal().to_vec(), self.rdn().to_vec());
        (self.parent(), normal, written)
    }

    /// Returns the normal form of the RDN.
    pub(crate) fn rdn_normal(&self) -> &'a [u8] {
        let names = names_of(self.bytes, self.flags);
        let name = names.and_then(|[_, (from, end)]| self.bytes.get(from..end));
        name.unwrap_or_default()
    }

    /// Returns the RDN as the user wrote it.
    #[inline]
    pub(crate) fn rdn(&self) -> &'a [u8] {
        let names = names_of(self.bytes, self.flags);
        let name = names.and_then(|[(from, end), _]| self.bytes.get(from..end));
        name.unwrap_or_default()
    }

    /// Returns the number of attributes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Returns the number of attributes and their numbers in stored order, as bytes; see
    /// [`ids_of`].
    #[inline]
    pub(crate) fn shape(&self) -> &'a [u8] {
        self.between(self.shape_at, self.rows_at)
    }

    /// Returns the rows.
    #[inline]
    pub(super) fn rows(&self) -> &'a [u8] {
        self.between(self.rows_at, self.values_at)
    }

    /// Returns the bytes that the rows describe.
    #[inline]
    pub(super) fn value_bytes(&self) -> &'a [u8] {
        self.bytes
            .get(self.values_at as usize..)
            .unwrap_or_default()
    }

    #[inline]
    fn between(&self, from: u32, to: u32) -> &'a [u8] {
        let range = self.bytes.get(from as usize..to as usize);
        range.unwrap_or_default()
    }

    /// Returns the values of one attribute description.
    #[inline]
    pub(crate) fn values(&self, id: AttributeId) -> Option<Values<'a>> {
        if self.is_wide() {
            return self.wide_values(self.search(id)?);
        }
        let place = match (self.flags & WIDE_NUMBERS, u8::try_from(id.0)) {
            (0, Ok(wanted)) => self.short_numbers().iter().position(|n| *n == wanted)?,
            (0, Err(_)) => return None,
            _ => self.ids().position(|number| number == id)?,
        };
        let (row, values) = self.row_at(place)?;
        self.values_of(row, values, id)
    }

    /// Returns all attributes in stored order.
    #[inline]
    pub(crate) fn attributes(&self) -> AttributeIter<'a> {
        AttributeIter {
            record: *self,
            place: 0,
            rows: self.rows(),
            values: self.value_bytes(),
        }
    }

    /// Returns the numbers of all attributes in stored order.
    #[inline]
    pub(crate) fn ids(&self) -> impl Iterator<Item = AttributeId> + use<'a> {
        ids_of(self.shape())
    }

    /// Returns the attributes with overflow values.
    pub(crate) fn overflow_attributes(&self) -> impl Iterator<Item = AttributeId> + use<'a> {
        self.attributes()
            .filter(|(_, values)| values.are_overflow())
            .map(|(id, _)| id)
    }

    /// Returns true if some attribute has overflow values.
    #[inline]
    pub(crate) fn has_overflow(&self) -> bool {
        self.flags & HAS_OVERFLOW != 0
    }

    /// Returns true if it is easily seen that no attribute has more than `max` values.
    pub(crate) fn has_few_values(&self, max: usize) -> bool {
        !self.is_wide() && max > 0 && AttributeRow::have_few_values(self.rows(), self.len(), max)
    }

    /// Checks the whole record, for verification. Each attribute occurs once, is found, and has the
    /// number of values that it announces.
    pub(crate) fn is_sound(&self) -> bool {
        let mut ids: Vec<AttributeId> = self.attributes().map(|(id, _)| id).collect();
        ids.sort_unstable();
        let has_overflow = self.overflow_attributes().next().is_some();
        let begins = || self.wide_rows().first().map(WideRow::of);
        ids.len() == self.len()
            && ids.windows(2).all(|pair| pair.first() != pair.last())
            && ids.iter().all(|id| self.values(*id).is_some())
            && self.has_overflow() == has_overflow
            && self.attributes().all(|(_, values)| values.is_sound())
            && (!self.is_wide() || begins().is_none_or(|row| row.offset == 0))
            && self.flags & !(WIDE_ROWS | HAS_OVERFLOW | WIDE_NUMBERS | LONG_NAMES | SAME_NAME) == 0
            && self.flags & (WIDE_ROWS | WIDE_NUMBERS) != WIDE_ROWS | WIDE_NUMBERS
    }

    #[inline]
    pub(super) fn is_wide(&self) -> bool {
        self.flags & WIDE_ROWS != 0
    }

    /// Returns the attribute numbers of a record with one byte for each.
    #[inline]
    fn short_numbers(&self) -> &'a [u8] {
        self.shape().get(1..).unwrap_or_default()
    }

    /// Returns the row at a position, and the values from there on.
    #[inline]
    fn row_at(&self, place: usize) -> Option<(AttributeRow, &'a [u8])> {
        let mut rows = self.rows();
        let at = AttributeRow::pass(&mut rows, u8::try_from(place).ok()?)?;
        let values = self.value_bytes().get(usize::try_from(at).ok()?..)?;
        Some((AttributeRow::take(&mut rows)?, values))
    }

    #[inline]
    fn values_of(
        &self,
        row: AttributeRow,
        values: &'a [u8],
        id: AttributeId,
    ) -> Option<Values<'a>> {
        match row {
            AttributeRow::One(len) => Some(Values::one(values.get(..len)?)),
            AttributeRow::Elements(count, len) => Some(Values::elements(values.get(..len)?, count)),
            AttributeRow::Overflow(count) => Some(Values::overflow(self.overflow, id, count)),
            AttributeRow::Same(place, nth) => self.same(place, nth).map(Values::one),
        }
    }

    /// Returns a value that is stored at an earlier position.
    pub(super) fn same(&self, place: usize, nth: usize) -> Option<&'a [u8]> {
        let there = match self.row_at(place)? {
            (AttributeRow::One(len), values) => Values::one(values.get(..len)?),
            (AttributeRow::Elements(count, len), values) => {
                Values::elements(values.get(..len)?, count)
            }
            _ => return None,
        };
        there.get(nth)
    }

    fn wide_rows(&self) -> &'a [[u8; WIDE_ROW_LEN]] {
        let rows = self.rows().get(2 * self.len()..).unwrap_or_default();
        rows.as_chunks().0
    }

    #[cold]
    fn wide_values(&self, place: usize) -> Option<Values<'a>> {
        let WideRow { offset, values } = self.wide_rows().get(place).map(WideRow::of)?;
        let id = AttributeId(u16_at(self.shape(), 2 + 2 * place)?);
        let count = (values & !OVERFLOW_BIT) as usize;
        if values & OVERFLOW_BIT != 0 {
            return Some(Values::overflow(self.overflow, id, count));
        }
        let next = self.wide_rows().get(place + 1).map(WideRow::of);
        let end = next.map_or(self.value_bytes().len(), |row| row.offset);
        Some(Values::elements(
            self.value_bytes().get(offset..end)?,
            count,
        ))
    }

    /// Returns the position of an attribute among many.
    fn search(&self, id: AttributeId) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let place = usize::from(u16_at(self.rows(), 2 * middle)?);
            let found = AttributeId(u16_at(self.shape(), 2 + 2 * place)?);
            if found == id {
                return Some(place);
            }
            if found < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        None
    }
}

impl<'a> Iterator for AttributeIter<'a> {
    type Item = (AttributeId, Values<'a>);

    #[inline]
    fn next(&mut self) -> Option<(AttributeId, Values<'a>)> {
        let record = &self.record;
        let place = self.place;
        if place == record.len() {
            return None;
        }
        self.place += 1;
        if record.is_wide() {
            let id = AttributeId(u16_at(record.shape(), 2 + 2 * place)?);
            return Some((id, record.wide_values(place)?));
        }
        let id = match record.flags & WIDE_NUMBERS {
            0 => AttributeId(u16::from(*record.shape().get(1 + place)?)),
            _ => AttributeId(u16_at(record.shape(), 1 + 2 * place)?),
        };
        let row = AttributeRow::take(&mut self.rows)?;
        let values = record.values_of(row, self.values, id)?;
        self.values = self.values.get(row.len()..)?;
        Some((id, values))
    }
}

/// Returns the bounds of the RDN and of its normal form. They may be outside a damaged record.
#[inline]
fn names_of(bytes: &[u8], flags: u8) -> Option<[(usize, usize); 2]> {
    let (written, normal, at) = if flags & LONG_NAMES == 0 {
        let (written, normal) = (*bytes.get(HEADER_LEN)?, *bytes.get(HEADER_LEN + 1)?);
        (usize::from(written), usize::from(normal), 1)
    } else {
        let written = u32_at(bytes, HEADER_LEN)?;
        let normal = u32_at(bytes, HEADER_LEN + 4).unwrap_or(0);
        (written as usize, normal as usize, 4)
    };
    if flags & SAME_NAME != 0 {
        let name = (HEADER_LEN + at, (HEADER_LEN + at).checked_add(written)?);
        return Some([name, name]);
    }
    let from = HEADER_LEN + 2 * at;
    let middle = from.checked_add(written)?;
    Some([(from, middle), (middle, middle.checked_add(normal)?)])
}

/// Returns the numbers in a [shape](Record::shape). Their count and the length of the shape say how
/// long each number is.
#[inline]
pub(crate) fn ids_of(shape: &[u8]) -> impl Iterator<Item = AttributeId> + use<'_> {
    let count = shape.first().map_or(0, |count| usize::from(*count));
    let is_small = shape.len() == 1 + count;
    let is_wide = !is_small && shape.len() != 1 + 2 * count;
    let bytes = shape.get(if is_wide { 2 } else { 1 }..).unwrap_or_default();
    bytes
        .chunks(if is_small { 1 } else { 2 })
        .map(|number| match *number {
            [low] => AttributeId(u16::from(low)),
            [low, high, ..] => AttributeId(u16::from_le_bytes([low, high])),
            [] => AttributeId(0),
        })
}
