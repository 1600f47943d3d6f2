//! Owned results of a search.

use fulgurite_ldap::{Control, Controls, SearchEntry};

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// DN text, as the server writes it.
    pub dn: String,
    /// Attribute descriptions with their values, in the server's order.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

impl Entry {
    /// The values of an attribute, whose description is compared without case; none if absent.
    #[must_use]
    pub fn values(&self, description: &str) -> &[Vec<u8>] {
        self.attributes
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(description))
            .map_or(&[], |(_, values)| values)
    }

    /// The first value of an attribute as text, bytes that are not UTF-8 replaced.
    #[must_use]
    pub fn first(&self, description: &str) -> Option<String> {
        self.values(description)
            .first()
            .map(|value| String::from_utf8_lossy(value).into_owned())
    }
}

impl From<&SearchEntry<'_>> for Entry {
    fn from(entry: &SearchEntry<'_>) -> Self {
        Entry {
            dn: text(entry.dn),
            attributes: entry
                .attributes
                .iter()
                .map(|attribute| {
                    (
                        text(attribute.description),
                        attribute.values.iter().map(<[u8]>::to_vec).collect(),
                    )
                })
                .collect(),
        }
    }
}

/// A control of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedControl {
    /// The OID of the control.
    pub oid: String,
    /// True if the control is critical.
    pub critical: bool,
    /// Its value.
    pub value: Option<Vec<u8>>,
}

impl OwnedControl {
    pub(crate) fn all(controls: &Controls<'_>) -> Vec<OwnedControl> {
        controls.iter().map(OwnedControl::from).collect()
    }
}

impl From<Control<'_>> for OwnedControl {
    fn from(control: Control<'_>) -> Self {
        OwnedControl {
            oid: text(control.oid),
            critical: control.critical,
            value: control.value.map(<[u8]>::to_vec),
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
