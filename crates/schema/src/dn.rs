//! Distinguished names, resolved against the schema (RFC 4514).

use std::ops::Range;
use thiserror::Error;

use crate::registry::{AttributeIndex, Schema};

/// Why a text is no distinguished name of this directory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DnError {
    /// The text breaks the grammar.
    #[error("invalid DN: {0}")]
    Malformed(String),
    /// An RDN names an attribute type that is not defined.
    #[error("invalid DN: {0}: attribute type undefined")]
    UnknownType(String),
    /// A value breaks the syntax of its attribute type.
    #[error("invalid DN: {0}: invalid value")]
    InvalidValue(String),
}

/// A distinguished name with its normal form, its pretty form, and its parts; leaf first, as written.
///
/// ```text
/// text    UID = Jane+cn=J\, D , dc=Example
/// pretty  uid=Jane+cn=J\2C D,dc=Example
/// normal  cn=j\2c d+uid=jane,dc=example      (raw `,` occurs only between RDNs)
/// ```
#[derive(Clone, Debug)]
pub struct Dn {
    normal: String,
    pretty: String,
    /// Where each RDN starts, leaf first.
    rdns: Vec<RdnStart>,
    avas: Vec<AvaPart>,
    values: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct RdnStart {
    normal: u32,
    pretty: u32,
    ava: u32,
}

#[derive(Clone, Debug)]
struct AvaPart {
    attribute: AttributeIndex,
    value: Range<u32>,
}

/// One level of a [`Dn`].
#[derive(Clone, Copy, Debug)]
pub struct Rdn<'d> {
    dn: &'d Dn,
    level: usize,
}

/// One attribute and value of an RDN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ava<'d> {
    /// The attribute type.
    pub attribute: AttributeIndex,
    /// The value, unescaped, as the user wrote it.
    pub value: &'d [u8],
}

impl Dn {
    /// The zero-length name: the root DSE.
    #[must_use]
    pub fn root() -> Dn {
        Dn {
            normal: String::new(),
            pretty: String::new(),
            rdns: Vec::new(),
            avas: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Parses and resolves the string form, with the leniencies of RFC 1779 and 2253.
    ///
    /// # Errors
    /// [`DnError`]; all of them mean invalidDNSyntax.
    pub fn parse(_schema: &Schema, _text: &str) -> Result<Dn, DnError> {
        todo!()
    }

    /// The key form: equal names have equal text. Types and values normalised, specials as hex pairs, so that
    /// a raw `,` occurs only between RDNs.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// The form shown to clients: values as the user wrote them, attribute types by their first names.
    #[must_use]
    pub fn pretty(&self) -> &str {
        &self.pretty
    }

    /// Whether this is the zero-length name.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.rdns.is_empty()
    }

    /// Number of RDNs.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.rdns.len()
    }

    /// RDNs, leaf first.
    pub fn rdns(&self) -> impl DoubleEndedIterator<Item = Rdn<'_>> + ExactSizeIterator {
        (0..self.rdns.len()).map(move |level| Rdn { dn: self, level })
    }

    /// The leaf RDN; `None` for the root.
    #[must_use]
    pub fn rdn(&self) -> Option<Rdn<'_>> {
        self.rdns().next()
    }

    /// The name above; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Dn> {
        todo!()
    }

    /// The last `depth` RDNs: an ancestor, or the name itself.
    #[must_use]
    pub fn ancestor(&self, _depth: usize) -> Option<Dn> {
        todo!()
    }

    /// The leaf RDN alone, as a name of one level; `None` for the root.
    #[must_use]
    pub fn leaf(&self) -> Option<Dn> {
        todo!()
    }

    /// `self` above: `rdn` (of any depth) placed below this name.
    #[must_use]
    pub fn child(&self, _rdn: &Dn) -> Dn {
        todo!()
    }

    /// Whether this name is `base` or lies below it.
    #[must_use]
    pub fn is_within(&self, base: &Dn) -> bool {
        *self == *base || self.is_under(base)
    }

    /// Whether this name lies properly below `base`.
    #[must_use]
    pub fn is_under(&self, base: &Dn) -> bool {
        normal_is_under(&self.normal, &base.normal)
    }
}

/// [`Dn::is_under`] on normal forms alone.
#[must_use]
pub fn normal_is_under(normal: &str, base: &str) -> bool {
    if base.is_empty() {
        return !normal.is_empty();
    }
    normal.len() > base.len()
        && normal.ends_with(base)
        && normal.as_bytes().get(normal.len() - base.len() - 1) == Some(&b',')
}

impl PartialEq for Dn {
    fn eq(&self, other: &Dn) -> bool {
        self.normal == other.normal
    }
}

impl Eq for Dn {}

impl std::hash::Hash for Dn {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.normal.hash(state);
    }
}

impl std::fmt::Display for Dn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.pretty)
    }
}

impl<'d> Rdn<'d> {
    /// The key form of this level.
    #[must_use]
    pub fn normal(&self) -> &'d str {
        todo!()
    }

    /// The form shown to clients.
    #[must_use]
    pub fn pretty(&self) -> &'d str {
        todo!()
    }

    /// Attributes and values in the order written.
    pub fn avas(&self) -> impl Iterator<Item = Ava<'d>> + use<'d> {
        let dn = self.dn;
        let from = dn.rdns.get(self.level).map_or(0, |r| r.ava as usize);
        let to = dn
            .rdns
            .get(self.level + 1)
            .map_or(dn.avas.len(), |r| r.ava as usize);
        dn.avas
            .get(from..to)
            .unwrap_or(&[])
            .iter()
            .map(move |part| Ava {
                attribute: part.attribute,
                value: dn
                    .values
                    .get(part.value.start as usize..part.value.end as usize)
                    .unwrap_or(&[]),
            })
    }
}
