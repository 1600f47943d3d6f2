//! Entries: records of id2entry.
//!
//! ```text
//!   number of attributes | number of values, with one more for each list
//!   name | normal name                                                      empty in hdb
//!   per attribute: its description | number of values | the values | number of normal forms | these
//!   a number:      a length of BER: below 128 one byte, else 128 + n and n bytes, big-endian
//!   a text:        its length as a number, its bytes, NUL
//! ```

use crate::entry::Attribute;

/// A record as it is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The name; empty in hdb.
    pub(super) name: String,
    /// The normal name; empty in hdb.
    pub(super) normal_name: String,
    pub(super) attributes: Vec<Attribute>,
}

/// Reads a record; `None` if its parts do not fit into it, or do not fill it.
pub(super) fn record(bytes: &[u8]) -> Option<Record> {
    let mut rest = Rest(bytes);
    let (attribute_count, value_count) = (rest.number()?, rest.number()?);
    let (name, normal_name) = (rest.string()?, rest.string()?);
    let (mut attributes, mut values_found) = (Vec::new(), 0_usize);
    for _ in 0..attribute_count {
        let description = rest.string().filter(|text| !text.is_empty())?;
        let count = rest.number()?;
        let values = rest.texts(count)?.into_iter().map(<[u8]>::to_vec);
        let normal = rest.number()?;
        if normal != 0 && normal != count {
            return None;
        }
        // This project computes normal forms when it needs them.
        rest.texts(normal)?;
        let normal = if normal == 0 { 0 } else { normal + 1 };
        values_found = values_found.checked_add(count + 1 + normal)?;
        attributes.push(Attribute {
            description,
            values: values.collect(),
        });
    }
    let is_whole = rest.0.is_empty() && values_found == value_count;
    is_whole.then_some(Record {
        name,
        normal_name,
        attributes,
    })
}

/// The bytes that are not read yet.
struct Rest<'r>(&'r [u8]);

impl<'r> Rest<'r> {
    fn take(&mut self, len: usize) -> Option<&'r [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        let &[first] = self.take(1)? else {
            return None;
        };
        if first < 0x80 {
            return Some(usize::from(first));
        }
        let bytes = usize::from(first & 0x7f);
        // A record has less than 2^32 bytes.
        if bytes == 0 || bytes > 4 {
            return None;
        }
        let bytes = self.take(bytes)?.iter();
        Some(bytes.fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn text(&mut self) -> Option<&'r [u8]> {
        let len = self.number()?;
        let text = self.take(len)?;
        (self.take(1)? == [0]).then_some(text)
    }

    fn texts(&mut self, count: usize) -> Option<Vec<&'r [u8]>> {
        (0..count).map(|_| self.text()).collect()
    }

    fn string(&mut self) -> Option<String> {
        let text = std::str::from_utf8(self.text()?).ok()?;
        Some(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(to: &mut Vec<u8>, number: usize) {
        let bytes = number.to_be_bytes();
        let bytes = &bytes[number.leading_zeros() as usize / 8..];
        match bytes {
            [] => to.push(0),
            [one] if *one < 0x80 => to.push(*one),
            bytes => {
                to.push(0x80 + bytes.len() as u8);
                to.extend_from_slice(bytes);
            }
        }
    }

    fn text(to: &mut Vec<u8>, text: &[u8]) {
        number(to, text.len());
        to.extend_from_slice(text);
        to.push(0);
    }

    fn write(record: &Record, with_normal: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let lists = if with_normal { 2 } else { 1 };
        let values = record.attributes.iter().map(|one| one.values.len() + 1);
        number(&mut bytes, record.attributes.len());
        number(&mut bytes, values.sum::<usize>() * lists);
        text(&mut bytes, record.name.as_bytes());
        text(&mut bytes, record.normal_name.as_bytes());
        for attribute in &record.attributes {
            text(&mut bytes, attribute.description.as_bytes());
            for list in 0..2 {
                let values = if list < lists {
                    &attribute.values[..]
                } else {
                    &[]
                };
                number(&mut bytes, values.len());
                values.iter().for_each(|value| text(&mut bytes, value));
            }
        }
        bytes
    }

    #[test]
    fn a_record_of_slapd_is_read() {
        // slapd 2.4.57, back-hdb, shortened to two attributes.
        let bytes = b"\x02\x09\x00\x00\x00\x00\x0bobjectClass\x00\x02\x06domain\x00\x03top\x00\x00\
            \x02dc\x00\x02\x07Example\x00\x01x\x00\x02\x07example\x00\x01x\x00";
        let read = record(bytes).unwrap();
        assert_eq!((read.name.as_str(), read.attributes.len()), ("", 2));
        assert_eq!(read.attributes[0].values, [&b"domain"[..], b"top"]);
        assert_eq!(read.attributes[1].values, [&b"Example"[..], b"x"]);
    }

    fn records() -> impl Strategy<Value = Record> {
        let values =
            proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..5);
        let attribute = ("[a-z]{1,9}", values).prop_map(|(description, values)| Attribute {
            description,
            values,
        });
        let attributes = proptest::collection::vec(attribute, 0..5);
        ("[a-z=,]{0,200}", attributes).prop_map(|(name, attributes)| Record {
            normal_name: name.clone(),
            name,
            attributes,
        })
    }

    proptest! {
        #[test]
        fn written_records_are_read_back(made in records(), with_normal: bool) {
            let bytes = write(&made, with_normal);
            prop_assert_eq!(record(&bytes), Some(made));
        }

        #[test]
        fn mutated_records_are_refused_or_read(
            made in records(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index,
        ) {
            let mut bytes = write(&made, true);
            let position = at.index(bytes.len());
            prop_assert_eq!(record(&bytes[..cut.index(bytes.len())]), None);
            bytes[position] = byte;
            let _ = record(&bytes);
        }
    }
}
