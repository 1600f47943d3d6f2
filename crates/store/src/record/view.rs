//! Reading a record without decoding it.

use std::ops::Range;

use super::values::Values;
use super::{APART, HEADER_LEN, PARENT_AT, PARTED, ROW_LEN, VERSION, WIDE, WIDE_ROW_LEN};
use crate::apart::Home;
use crate::bytes::{u16_at, u32_at, u64_at};
use crate::error::Damage;
use crate::ids::{AttributeId, EntryId};
use fulgurite_ber::{Reader, Tag};

/// A record in the map whose rows have been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    bytes: &'a [u8],
    /// Numbers of the attributes, two octets each.
    numbers: &'a [u8],
    rows: &'a [u8],
    /// Where the values are that lie apart.
    home: Option<Home<'a>>,
}

/// What a row says.
struct Row {
    start: usize,
    /// Octets before the values.
    head: usize,
    /// Number of values, with [`APART`].
    count: usize,
}

impl<'a> Record<'a> {
    /// Checks the header and that the attributes lie one behind the other in the record; not what is within them. Values
    /// that lie apart are seen once it is [at home](Self::at).
    ///
    /// # Errors
    /// [`Damage::Record`] when lengths or offsets lead outside.
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Record<'a>, Damage> {
        let record = Record::parse_header(bytes).ok_or(Damage::Record)?;
        record.check_rows().ok_or(Damage::Record)?;
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

    #[inline]
    fn parse_header(bytes: &'a [u8]) -> Option<Record<'a>> {
        let (header, rest) = bytes.split_at_checked(HEADER_LEN)?;
        let count = usize::from(u16_at(header, 2)?);
        let (numbers, rest) = rest.split_at_checked(2 * count)?;
        let is_wide = header.get(1)? & WIDE != 0;
        let (rows, rest) = if is_wide {
            let (_, rest) = rest.split_at_checked(2 * count)?;
            rest.split_at_checked(WIDE_ROW_LEN * count)?
        } else {
            rest.split_at_checked(ROW_LEN * count)?
        };
        let names = (u32_at(header, 16)? as usize).checked_add(u32_at(header, 20)? as usize)?;
        let sound = header.first() == Some(&VERSION)
            && u32_at(header, 4)? as usize == bytes.len()
            && names <= rest.len();
        sound.then_some(Record {
            bytes,
            numbers,
            rows,
            home: None,
        })
    }

    fn check_rows(&self) -> Option<()> {
        let names = self.rdn_len_normal() + self.rdn_len();
        let mut end = self.names_at() + names;
        let check = |Row { start, head, .. }: Row| {
            // A head that reaches into the next attribute is not there.
            let sound = start >= end && start.checked_add(head)? <= self.bytes.len();
            end = start.checked_add(head)?;
            sound.then_some(())
        };
        if self.is_wide() {
            let (rows, _) = self.rows.as_chunks();
            rows.iter().map(wide_row).try_for_each(check)
        } else {
            let (rows, _) = self.rows.as_chunks();
            rows.iter().map(row).try_for_each(check)
        }
    }

    /// Id of the parent, [`EntryId::ABOVE`] for a suffix.
    #[inline]
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
        let start = self.names_at();
        let end = start + self.rdn_len_normal();
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// RDN as the user wrote it.
    #[inline]
    pub(crate) fn rdn(&self) -> &'a [u8] {
        let start = self.names_at() + self.rdn_len_normal();
        let end = start + self.rdn_len();
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Number of attributes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / 2
    }

    /// Values of one attribute description.
    #[inline]
    pub(crate) fn values(&self, id: AttributeId) -> Option<Values<'a>> {
        Some(self.row(self.place(id)?)?.1)
    }

    /// Where an attribute stands among all.
    #[inline]
    pub(super) fn place(&self, id: AttributeId) -> Option<usize> {
        if self.is_wide() {
            return self.search(id);
        }
        let wanted = id.0.to_le_bytes();
        let (numbers, _) = self.numbers.as_chunks();
        numbers.iter().position(|number| *number == wanted)
    }

    /// All attributes in the order in which they were stored.
    #[inline]
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (AttributeId, Values<'a>)> + use<'a> {
        let record = *self;
        (0..record.len()).map_while(move |place| record.row(place))
    }

    /// The numbers of all attributes in the order in which they were stored.
    #[inline]
    pub(crate) fn ids(&self) -> impl Iterator<Item = AttributeId> + use<'a> {
        let (numbers, _) = self.numbers.as_chunks();
        let id = |number: &[u8; 2]| AttributeId(u16::from_le_bytes(*number));
        numbers.iter().map(id)
    }

    /// The attributes whose values lie apart.
    pub(crate) fn apart(&self) -> impl Iterator<Item = AttributeId> + use<'a> {
        self.attributes()
            .filter(|(_, values)| values.are_apart())
            .map(|(id, _)| id)
    }

    /// Numbers of the attributes, two octets each, in the order in which they were stored.
    #[inline]
    pub(crate) fn numbers(&self) -> &'a [u8] {
        self.numbers
    }

    /// Whether values lie apart.
    #[inline]
    pub(crate) fn is_parted(&self) -> bool {
        self.bytes.get(1).is_some_and(|flags| flags & PARTED != 0)
    }

    /// Some attributes, one behind the other, as they stand in an answer: they lie in the record. `None` if one of them
    /// is bare or its values lie apart.
    #[inline]
    pub(crate) fn run(&self, places: Range<usize>) -> Option<&'a [u8]> {
        let has_head = if self.is_wide() {
            let (rows, _) = self.rows.as_chunks();
            let mut rows = rows.get(places.clone())?.iter();
            rows.all(|octets| wide_row(octets).head != 0)
        } else {
            let (rows, _) = self.rows.as_chunks();
            let mut rows = rows.get(places.clone())?.iter();
            rows.all(|octets| row(octets).head != 0)
        };
        let start = self.row_at(places.start)?.start;
        let run = self.bytes.get(start..self.end_before(places.end)?);
        run.filter(|_| has_head)
    }

    /// What lies there of an attribute, and how many octets of it are before the values.
    pub(super) fn octets(&self, place: usize) -> Option<(&'a [u8], usize)> {
        let Row { start, head, .. } = self.row_at(place)?;
        let octets = self.bytes.get(start..self.end_before(place + 1)?)?;
        Some((octets, head))
    }

    /// The whole check, for verification: each attribute is there once, is found, has the description that `text` gives
    /// its number, and as many values as it says, each whole.
    pub(crate) fn is_sound<'t>(&self, text: impl Fn(AttributeId) -> Option<&'t str>) -> bool {
        let mut ids: Vec<AttributeId> = self.attributes().map(|(id, _)| id).collect();
        ids.sort_unstable();
        let apart = || self.apart().next().is_some();
        let names_end = self.names_at() + self.rdn_len_normal() + self.rdn_len();
        ids.len() == self.len()
            && self.row_at(0).map_or(self.bytes.len(), |row| row.start) == names_end
            && ids.windows(2).all(|pair| pair.first() != pair.last())
            && ids.iter().all(|id| self.values(*id).is_some())
            && self.is_parted() == apart()
            && (0..self.len()).all(|place| self.is_attribute_sound(place, &text) == Some(true))
    }

    fn is_attribute_sound<'t>(
        &self,
        place: usize,
        text: impl Fn(AttributeId) -> Option<&'t str>,
    ) -> Option<bool> {
        let (id, values) = self.row(place)?;
        let (octets, head) = self.octets(place)?;
        if values.are_apart() || head == 0 {
            let alone = !values.are_apart() || octets.is_empty() && head == 0;
            return Some(alone && values.is_sound());
        }
        let mut reader = Reader::new(octets);
        let mut attribute = reader.nested(Tag::SEQUENCE).ok()?;
        let description = attribute.octet_string().ok()?;
        let set = attribute.expect(Tag::SET).ok()?;
        let whole = reader.is_empty() && attribute.is_empty() && octets.len() - head == set.len();
        let named = text(id).is_none_or(|text| text.is_empty() || text.as_bytes() == description);
        Some(whole && named && values.is_sound())
    }

    #[inline]
    fn is_wide(&self) -> bool {
        self.rows.len() != self.numbers.len() * (ROW_LEN / 2)
    }

    fn rdn_len_normal(&self) -> usize {
        u32_at(self.bytes, 16).unwrap_or(0) as usize
    }

    fn rdn_len(&self) -> usize {
        u32_at(self.bytes, 20).unwrap_or(0) as usize
    }

    #[inline]
    fn names_at(&self) -> usize {
        let ascending = if self.is_wide() {
            self.numbers.len()
        } else {
            0
        };
        HEADER_LEN + self.numbers.len() + ascending + self.rows.len()
    }

    /// The place of an attribute among many.
    fn search(&self, id: AttributeId) -> Option<usize> {
        let ascending = self.bytes.get(HEADER_LEN + self.numbers.len()..)?;
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let place = usize::from(u16_at(ascending, 2 * middle)?);
            let found = self.id_at(place)?;
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

    #[inline]
    fn id_at(&self, place: usize) -> Option<AttributeId> {
        Some(AttributeId(u16_at(self.numbers, 2 * place)?))
    }

    #[inline]
    fn row_at(&self, place: usize) -> Option<Row> {
        if self.is_wide() {
            let (rows, _) = self.rows.as_chunks();
            rows.get(place).map(wide_row)
        } else {
            let (rows, _) = self.rows.as_chunks();
            rows.get(place).map(row)
        }
    }

    /// Where the attributes before a place end.
    #[inline]
    fn end_before(&self, place: usize) -> Option<usize> {
        if place == self.len() {
            return Some(self.bytes.len());
        }
        Some(self.row_at(place)?.start)
    }

    /// The attribute at a place.
    #[inline]
    pub(super) fn row(&self, place: usize) -> Option<(AttributeId, Values<'a>)> {
        let id = self.id_at(place)?;
        let Row { start, head, count } = self.row_at(place)?;
        if count & APART as usize != 0 {
            let len = count & !(APART as usize);
            return Some((id, Values::apart(self.home, id, len)));
        }
        let elements = self.bytes.get(start + head..self.end_before(place + 1)?)?;
        Some((id, Values::together(elements, count)))
    }
}

#[inline]
fn row(&[low, high, head, count]: &[u8; ROW_LEN]) -> Row {
    Row {
        start: usize::from(u16::from_le_bytes([low, high])),
        head: usize::from(head),
        count: usize::from(count),
    }
}

fn wide_row(row: &[u8; WIDE_ROW_LEN]) -> Row {
    let number = |at| u32_at(row, at).unwrap_or(0) as usize;
    Row {
        start: number(0),
        head: number(4),
        count: number(8),
    }
}
