//! Reading a record without decoding it.

use super::{APART, COUNT_AT, HEADER_LEN, ORDER_AT, PARENT_AT, TABLE_ROW_LEN, VERSION};
use crate::apart::Home;
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
    /// Where the values are that lie apart.
    home: Option<Home<'a>>,
}

impl<'a> Record<'a> {
    /// Checks header and table of a record. Values that lie apart are seen once it is [at home](Self::at).
    ///
    /// # Errors
    /// [`Damage::Record`] when lengths or offsets lead outside.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Record<'a>, Damage> {
        let record = Record::parse_header(bytes).ok_or(Damage::Record)?;
        let mut before = AttributeId(0);
        for row in 0..record.attributes {
            let (id, values) = record.row(row).ok_or(Damage::Record)?;
            let is_short = values.apart.is_none() && values.len() <= CHECKED_VALUES_MAX;
            if id <= before || (is_short && !values.is_sound()) {
                return Err(Damage::Record);
            }
            before = id;
        }
        Ok(record)
    }

    /// The record with all its values: it is the one of an entry in a state of the store.
    pub(crate) fn at(self, home: Home<'a>) -> Record<'a> {
        Record {
            home: Some(home),
            ..self
        }
    }

    /// Checks no more than what says where the names are: for those who want the record's names and its parent only.
    ///
    /// # Errors
    /// [`Damage::Record`] when lengths lead outside.
    pub(crate) fn head_of(bytes: &'a [u8]) -> Result<Record<'a>, Damage> {
        Record::parse_header(bytes).ok_or(Damage::Record)
    }

    fn parse_header(bytes: &'a [u8]) -> Option<Record<'a>> {
        let attributes = usize::from(u16_at(bytes, 2)?);
        let record = Record {
            bytes,
            attributes,
            home: None,
        };
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

    /// The parent, and copies of the RDN in normal form and as the user wrote it.
    pub(crate) fn place_and_name(&self) -> (EntryId, Vec<u8>, Vec<u8>) {
        let (normal, written) = (self.rdn_normal().to_vec(), self.rdn().to_vec());
        (self.parent(), normal, written)
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

    /// All attributes, ascending.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (AttributeId, Values<'a>)> + use<'a> {
        let record = *self;
        (0..record.attributes).map_while(move |row| record.row(row))
    }

    /// The attributes whose values lie apart, ascending.
    pub(crate) fn apart(&self) -> impl Iterator<Item = AttributeId> + use<'a> {
        let is_apart = |values: &Values<'_>| values.apart.is_some();
        self.rows()
            .filter(move |(_, values)| is_apart(values))
            .map(|(id, _)| id)
    }

    /// Header, table and names; what comes behind them are values.
    pub(super) fn head(&self) -> Option<&'a [u8]> {
        let names = self.rdn_len_normal()?.checked_add(self.rdn_len()?)?;
        self.bytes.get(..self.table_end().checked_add(names)?)
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

    #[inline]
    fn table_end(&self) -> usize {
        HEADER_LEN + TABLE_ROW_LEN * self.attributes
    }

    #[inline]
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

    #[inline]
    fn row(&self, row: usize) -> Option<(AttributeId, Values<'a>)> {
        if row >= self.attributes {
            return None;
        }
        let at = HEADER_LEN + TABLE_ROW_LEN * row;
        let count = u32_at(self.bytes, at + COUNT_AT)? as usize;
        let offset = u32_at(self.bytes, at + 8)? as usize;
        if count & APART as usize != 0 {
            return Some((self.id_at(row)?, self.values_apart(row, count)?));
        }
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
        let list = List {
            ends,
            bytes: bytes.get(..used)?,
        };
        Some((self.id_at(row)?, Values { list, apart: None }))
    }

    #[cold]
    fn values_apart(&self, row: usize, count: usize) -> Option<Values<'a>> {
        let apart = Apart {
            home: self.home,
            attribute: self.id_at(row)?,
            len: count & !(APART as usize),
        };
        Some(Values {
            list: List::default(),
            apart: Some(apart),
        })
    }
}

/// The values of one attribute of an entry, lying in the map: one behind the other, or where they are many in blocks.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    list: List<'a>,
    apart: Option<Apart<'a>>,
}

/// Values one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct List<'a> {
    ends: &'a [u8],
    bytes: &'a [u8],
}

/// Values in blocks.
#[derive(Clone, Copy, Debug)]
struct Apart<'a> {
    home: Option<Home<'a>>,
    attribute: AttributeId,
    len: usize,
}

impl<'a> Values<'a> {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.apart {
            None => self.list.ends.len() / 4,
            Some(apart) => apart.len,
        }
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the values are so many that they lie apart from the record.
    #[must_use]
    pub fn are_apart(&self) -> bool {
        self.apart.is_some()
    }

    /// The value at a position; `None` beyond the end, or where the record is damaged. Of values that lie apart those
    /// before it are passed.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&'a [u8]> {
        if self.apart.is_some() {
            return self.iter().nth(position);
        }
        let start = match position.checked_sub(1) {
            None => 0,
            Some(before) => u32_at(self.list.ends, before.checked_mul(4)?)? as usize,
        };
        let end = u32_at(self.list.ends, position.checked_mul(4)?)? as usize;
        self.list.bytes.get(start..end)
    }

    /// The first value.
    #[must_use]
    pub fn first(&self) -> Option<&'a [u8]> {
        self.get(0)
    }

    /// The values in the order in which they were stored.
    #[must_use]
    #[inline]
    pub fn iter(&self) -> ValuesIter<'a> {
        ValuesIter {
            list: self.list,
            position: 0,
            start: 0,
            apart: self.apart,
            next_block: 0,
        }
    }

    /// Appends ends and octets, as they are in a record.
    pub(super) fn copy_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.list.ends);
        out.extend_from_slice(self.list.bytes);
    }

    /// Whether all value ends ascend and stay inside.
    pub(crate) fn is_sound(&self) -> bool {
        self.iter().count() == self.len()
    }

    /// Whether two lists hold the same values in the same order.
    pub(crate) fn same(&self, other: &Values<'_>) -> bool {
        if self.apart.is_none() && other.apart.is_none() {
            return self.list.ends == other.list.ends && self.list.bytes == other.list.bytes;
        }
        self.len() == other.len() && self.iter().eq(other.iter())
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
    list: List<'a>,
    position: usize,
    start: usize,
    apart: Option<Apart<'a>>,
    next_block: u32,
}

impl<'a> Iterator for ValuesIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let Some(end) = u32_at(self.list.ends, self.position * 4) else {
            self.apart?;
            return self.first_of_next_block();
        };
        let value = self.list.bytes.get(self.start..end as usize)?;
        self.position += 1;
        self.start = end as usize;
        Some(value)
    }
}

impl<'a> ValuesIter<'a> {
    #[cold]
    fn first_of_next_block(&mut self) -> Option<&'a [u8]> {
        let Apart {
            home, attribute, ..
        } = self.apart?;
        let home = home?;
        let (number, block) = home
            .blocks
            .block_from(home.entry, attribute, self.next_block)?;
        // There is none behind the last number.
        match number.checked_add(1) {
            Some(next) => self.next_block = next,
            None => self.apart = None,
        }
        let end = u32_at(block.ends, 0)? as usize;
        let value = block.bytes.get(..end)?;
        self.list = List {
            ends: block.ends,
            bytes: block.bytes,
        };
        (self.position, self.start) = (1, end);
        Some(value)
    }
}
