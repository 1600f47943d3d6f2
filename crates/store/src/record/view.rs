//! Reading a record without decoding it.

use super::{HEADER_LEN, ORDER_AT, PARENT_AT, TABLE_ROW_LEN, VERSION};
use crate::bytes::{u16_at, u32_at, u64_at};
use crate::error::Damage;
use crate::ids::{AttributeId, EntryId};

/// Value ends of attributes with at most this many values are checked when a record is opened, so that opening
/// a group of 100,000 members stays cheap for readers who never look at the members.
const CHECKED_VALUES_MAX: usize = 64;

/// A record in the map whose table has been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    bytes: &'a [u8],
    attributes: usize,
}

impl<'a> Record<'a> {
    /// Checks header and table of a record.
    ///
    /// # Errors
    /// [`Damage::Record`] when lengths or offsets lead outside.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Record<'a>, Damage> {
        let record = Record::parse_header(bytes).ok_or(Damage::Record)?;
        let mut before = AttributeId(0);
        for row in 0..record.attributes {
            let (id, values) = record.row(row).ok_or(Damage::Record)?;
            if id <= before || (values.len() <= CHECKED_VALUES_MAX && !values.is_sound()) {
                return Err(Damage::Record);
            }
            before = id;
        }
        Ok(record)
    }

    fn parse_header(bytes: &'a [u8]) -> Option<Record<'a>> {
        let attributes = usize::from(u16_at(bytes, 2)?);
        let record = Record { bytes, attributes };
        let names_end = record
            .table_end()
            .checked_add(record.rdn_len_normal()?)?
            .checked_add(record.rdn_len()?)?;
        let sound = bytes.first() == Some(&VERSION)
            && u32_at(bytes, 4)? as usize == bytes.len()
            && bytes.len() >= HEADER_LEN
            && names_end <= bytes.len();
        sound.then_some(record)
    }

    /// Id of the parent, [`EntryId::ABOVE`] for a suffix.
    pub(crate) fn parent(&self) -> EntryId {
        EntryId(u64_at(self.bytes, PARENT_AT).unwrap_or(0))
    }

    /// Normal form of the RDN.
    pub(crate) fn rdn_normal(&self) -> &'a [u8] {
        let start = self.table_end();
        let end = start + self.rdn_len_normal().unwrap_or(0);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// RDN as the user wrote it.
    pub(crate) fn rdn(&self) -> &'a [u8] {
        let start = self.table_end() + self.rdn_len_normal().unwrap_or(0);
        let end = start + self.rdn_len().unwrap_or(0);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Values of one attribute description.
    pub(crate) fn values(&self, id: AttributeId) -> Option<Values<'a>> {
        let (mut low, mut high) = (0, self.attributes);
        while low < high {
            let middle = low.midpoint(high);
            if self.id_at(middle)? < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let (found, values) = self.row(low)?;
        (found == id).then_some(values)
    }

    /// All attributes in the order in which they were stored.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (AttributeId, Values<'a>)> + use<'a> {
        let record = *self;
        (0..record.attributes).filter_map(move |place| record.row(record.row_shown(place)?))
    }

    /// Whether every value end of every attribute is sound, and each attribute is shown once: the whole check, for
    /// verification.
    pub(crate) fn is_sound(&self) -> bool {
        let mut shown = vec![false; self.attributes];
        for place in 0..self.attributes {
            let row = self.row_shown(place).and_then(|row| shown.get_mut(row));
            match row {
                Some(seen @ false) => *seen = true,
                _ => return false,
            }
        }
        self.attributes().all(|(_, values)| values.is_sound())
    }

    fn rdn_len_normal(&self) -> Option<usize> {
        Some(u32_at(self.bytes, 16)? as usize)
    }

    fn rdn_len(&self) -> Option<usize> {
        Some(u32_at(self.bytes, 20)? as usize)
    }

    fn table_end(&self) -> usize {
        HEADER_LEN + TABLE_ROW_LEN * self.attributes
    }

    fn id_at(&self, row: usize) -> Option<AttributeId> {
        Some(AttributeId(u16_at(
            self.bytes,
            HEADER_LEN + TABLE_ROW_LEN * row,
        )?))
    }

    /// The row that is shown at a place.
    fn row_shown(&self, place: usize) -> Option<usize> {
        let order = u16_at(self.bytes, HEADER_LEN + TABLE_ROW_LEN * place + ORDER_AT)?;
        Some(usize::from(order))
    }

    fn row(&self, row: usize) -> Option<(AttributeId, Values<'a>)> {
        if row >= self.attributes {
            return None;
        }
        let at = HEADER_LEN + TABLE_ROW_LEN * row;
        let count = u32_at(self.bytes, at + 4)? as usize;
        let offset = u32_at(self.bytes, at + 8)? as usize;
        if offset < self.table_end() {
            return None;
        }
        let ends = self
            .bytes
            .get(offset..offset.checked_add(count.checked_mul(4)?)?)?;
        let bytes = self.bytes.get(offset + ends.len()..)?;
        let used = if count == 0 {
            0
        } else {
            u32_at(ends, ends.len() - 4)? as usize
        };
        Some((
            self.id_at(row)?,
            Values {
                ends,
                bytes: bytes.get(..used)?,
            },
        ))
    }
}

/// The values of one attribute of an entry, lying in the map.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    ends: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Values<'a> {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() / 4
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value at a position; `None` beyond the end, or where the record is damaged.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&'a [u8]> {
        let start = match position.checked_sub(1) {
            None => 0,
            Some(before) => u32_at(self.ends, before.checked_mul(4)?)? as usize,
        };
        let end = u32_at(self.ends, position.checked_mul(4)?)? as usize;
        self.bytes.get(start..end)
    }

    /// The first value.
    #[must_use]
    pub fn first(&self) -> Option<&'a [u8]> {
        self.get(0)
    }

    /// The values in the order in which they were stored.
    #[must_use]
    pub fn iter(&self) -> ValuesIter<'a> {
        ValuesIter {
            values: *self,
            position: 0,
            start: 0,
        }
    }

    /// Whether all value ends ascend and stay inside.
    pub(crate) fn is_sound(&self) -> bool {
        self.iter().count() == self.len()
    }

    /// Whether two lists hold the same values in the same order.
    pub(crate) fn same(&self, other: &Values<'_>) -> bool {
        self.ends == other.ends && self.bytes == other.bytes
    }
}

impl<'a> IntoIterator for Values<'a> {
    type Item = &'a [u8];
    type IntoIter = ValuesIter<'a>;

    fn into_iter(self) -> ValuesIter<'a> {
        self.iter()
    }
}

/// Iterator over [`Values`]; a damaged value end ends it.
#[derive(Clone, Debug)]
pub struct ValuesIter<'a> {
    values: Values<'a>,
    position: usize,
    start: usize,
}

impl<'a> Iterator for ValuesIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = u32_at(self.values.ends, self.position * 4)? as usize;
        let value = self.values.bytes.get(self.start..end)?;
        self.position += 1;
        self.start = end;
        Some(value)
    }
}
