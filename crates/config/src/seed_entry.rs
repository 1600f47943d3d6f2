//! An entry that a start adds, as plain data.

use crate::Origin;

/// An attribute description with its values.
pub type NamedValues = (String, Vec<Vec<u8>>);

/// An entry that a start adds if there is none of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedEntry {
    /// Its name.
    pub dn: String,
    /// Attribute descriptions with their values.
    pub attributes: Vec<NamedValues>,
    /// The place that asks for it.
    pub origin: Origin,
}

impl SeedEntry {
    pub(crate) fn new(dn: &str, classes: &[&str], origin: Origin) -> SeedEntry {
        let entry = SeedEntry {
            dn: dn.to_owned(),
            attributes: Vec::new(),
            origin,
        };
        classes
            .iter()
            .fold(entry, |entry, class| entry.with("objectClass", class))
    }

    /// Returns the entry with one more value.
    pub(crate) fn with(mut self, attribute: &str, value: &str) -> SeedEntry {
        self.push(attribute, value.as_bytes());
        self
    }

    pub(crate) fn push(&mut self, attribute: &str, value: &[u8]) {
        let same = |(name, _): &&mut (String, _)| name.eq_ignore_ascii_case(attribute);
        match self.attributes.iter_mut().find(same) {
            Some((_, values)) => values.push(value.to_vec()),
            None => self
                .attributes
                .push((attribute.to_owned(), vec![value.to_vec()])),
        }
    }
}
