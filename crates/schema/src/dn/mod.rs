//! Distinguished names, resolved against the schema (RFC 4514).

mod error;
mod normal;
mod scan;
mod siblings;

use std::ops::Range;

pub use error::DnError;
pub(crate) use normal::{matches_in_place, normal_ava, normal_value};

use crate::matching::split_uid;
use crate::registry::{AttributeIndex, AttributeType, Schema};
use normal::{Escapes, NormalWriter, escape_into};
use scan::{RawAva, Scan};
pub use siblings::SiblingNames;

/// A distinguished name with its normal form, its pretty form, and its parts; leaf first, as
/// written.
///
/// ```text
/// text    UID = Jane+cn=J\, D , dc=Example
/// pretty  cn=J\2C D+uid=Jane,dc=Example
/// normal  cn=j\2c d+uid=jane,dc=example      (raw `,` occurs only between RDNs)
/// ```
///
/// Names are equal when their normal forms are.
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
    normal: usize,
    pretty: usize,
    ava: usize,
}

#[derive(Clone, Debug)]
struct AvaPart {
    attribute: AttributeIndex,
    value: Range<usize>,
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
    /// Returns the zero-length name: the root DSE.
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

    /// Parses and resolves the string form, with the leniencies of RFC 1779 and 2253. These are
    /// spaces around separators, `;` between RDNs, and quoted values. Like slapd, it refuses `OID.`
    ///
    /// # Errors
    /// [`DnError`]; all of them mean invalidDNSyntax.
    pub fn parse(schema: &Schema, text: &str) -> Result<Dn, DnError> {
        Dn::parse_with_room(schema, text, &Dn::root())
    }

    /// Parses as [`parse`](Self::parse) does, and reserves memory for a name above.
    fn parse_with_room(schema: &Schema, text: &str, above: &Dn) -> Result<Dn, DnError> {
        // Mostly no form is longer than the text, so each needs one allocation.
        let mut dn = Dn::root();
        dn.pretty.reserve(text.len() + 1 + above.pretty.len());
        dn.values.reserve(text.len() + above.values.len());
        let mut writer = NormalWriter::with_capacity(text.len() + 1 + above.normal.len());
        let mut scan = Scan::new(text);
        // The parts of an RDN that has several.
        let mut level: Vec<(&AttributeType, RawAva<'_>)> = Vec::new();
        while let Some(ava) = scan.next().map_err(|broken| {
            DnError::Malformed(format!(
                "{} expected at position {}",
                broken.expected, broken.at
            ))
        })? {
            if level.is_empty() {
                dn.start_rdn(&writer.text);
            }
            let (attribute, pretty) = writer.push(schema, &ava)?;
            match (level.is_empty(), ava.joined) {
                (true, false) => match pretty {
                    Some(text) => dn.push_pretty_ava(attribute, text),
                    None => dn.push_ava(schema, attribute, &ava, false),
                },
                (_, true) => level.push((attribute, ava)),
                (false, false) => {
                    level.push((attribute, ava));
                    dn.push_level_parts(schema, &mut level);
                }
            }
        }
        dn.normal = writer.text;
        Ok(dn)
    }

    /// Appends the parts of one RDN, sorted by type as in the normal form, so that equal names look
    /// alike.
    fn push_level_parts(&mut self, schema: &Schema, level: &mut Vec<(&AttributeType, RawAva<'_>)>) {
        level.sort_by(|(a, _), (b, _)| a.key_name.cmp(&b.key_name));
        for (number, (attribute, ava)) in level.drain(..).enumerate() {
            self.push_ava(schema, attribute, &ava, number > 0);
        }
    }

    /// Parses as [`parse`](Self::parse) does, for bytes of a message.
    ///
    /// # Errors
    /// [`DnError`], also for bytes that are not UTF-8.
    pub fn parse_bytes(schema: &Schema, bytes: &[u8]) -> Result<Dn, DnError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| DnError::Malformed("the name is not UTF-8".to_owned()))?;
        Dn::parse(schema, text)
    }

    fn start_rdn(&mut self, normal: &str) {
        // The separators are not written yet.
        let after_separator = |length: usize| if length == 0 { 0 } else { length + 1 };
        self.rdns.push(RdnStart {
            normal: after_separator(normal.len()),
            pretty: after_separator(self.pretty.len()),
            ava: self.avas.len(),
        });
    }

    fn push_ava(
        &mut self,
        schema: &Schema,
        attribute: &AttributeType,
        ava: &RawAva<'_>,
        joined: bool,
    ) {
        self.start_ava(attribute, joined);
        let value = schema.pretty_value(attribute.index, &ava.value);
        escape_into(&mut self.pretty, &value, Escapes::Pretty);
        self.push_value(attribute.index, &value);
    }

    /// Appends an RDN of one value that is its own pretty form.
    fn push_pretty_ava(&mut self, attribute: &AttributeType, text: &str) {
        self.start_ava(attribute, false);
        self.pretty.push_str(text);
        self.push_value(attribute.index, text.as_bytes());
    }

    /// Writes the separator and the type before a value.
    fn start_ava(&mut self, attribute: &AttributeType, joined: bool) {
        if !self.pretty.is_empty() {
            self.pretty.push(if joined { '+' } else { ',' });
        }
        self.pretty.push_str(attribute.name());
        self.pretty.push('=');
    }

    fn push_value(&mut self, attribute: AttributeIndex, value: &[u8]) {
        let start = self.values.len();
        self.values.extend_from_slice(value);
        self.avas.push(AvaPart {
            attribute,
            value: start..self.values.len(),
        });
    }

    /// Returns the normal form for people: types by their first names, and values in readable
    /// normal forms. Tools print it; keys are made of [`normal`](Self::normal).
    #[must_use]
    pub fn normal_text(&self, schema: &Schema) -> String {
        let mut text = String::with_capacity(self.pretty.len());
        for rdn in self.rdns() {
            for (number, ava) in rdn.avas().enumerate() {
                if !text.is_empty() {
                    text.push(if number > 0 { '+' } else { ',' });
                }
                text.push_str(schema.attribute_at(ava.attribute).name());
                text.push('=');
                escape_into(
                    &mut text,
                    &normal_text_of(schema, ava.attribute, ava.value),
                    Escapes::Pretty,
                );
            }
        }
        text
    }

    /// Returns the key form: equal names have equal text. Types and values are normalised, and
    /// special characters are hex pairs. A raw `,` so occurs only between RDNs, and a raw `+` only
    /// within one.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// Returns the form shown to clients: values as the user wrote them, types by their first
    /// names. The parts of an RDN are sorted by type.
    #[must_use]
    pub fn pretty(&self) -> &str {
        &self.pretty
    }

    /// Returns true if this is the zero-length name.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.rdns.is_empty()
    }

    /// Returns the number of RDNs.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.rdns.len()
    }

    /// Returns the RDNs, leaf first.
    pub fn rdns(&self) -> impl DoubleEndedIterator<Item = Rdn<'_>> + ExactSizeIterator {
        (0..self.rdns.len()).map(move |level| Rdn { dn: self, level })
    }

    /// Returns the leaf RDN; `None` for the root.
    #[must_use]
    pub fn rdn(&self) -> Option<Rdn<'_>> {
        self.rdns().next()
    }

    /// Returns the name above; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Dn> {
        self.ancestor(self.depth().checked_sub(1)?)
    }

    /// Returns the last `depth` RDNs: an ancestor, or the name itself. `None` when the name has
    /// fewer.
    #[must_use]
    pub fn ancestor(&self, depth: usize) -> Option<Dn> {
        let from = self.depth().checked_sub(depth)?;
        Some(self.levels(from..self.depth()))
    }

    /// Returns the leaf RDN alone, as a name of one level; `None` for the root.
    #[must_use]
    pub fn leaf(&self) -> Option<Dn> {
        (!self.is_root()).then(|| self.levels(0..1))
    }

    /// Returns `rdn` (a name of any depth) placed below this name.
    #[must_use]
    pub fn child(&self, rdn: &Dn) -> Dn {
        let mut child = rdn.clone();
        for level in self.rdns() {
            child.push_level(level);
        }
        child
    }

    /// Returns true if this name is `base` or is below it.
    #[must_use]
    pub fn is_within(&self, base: &Dn) -> bool {
        *self == *base || self.is_under(base)
    }

    /// Returns true if this name is properly below `base`.
    #[must_use]
    pub fn is_under(&self, base: &Dn) -> bool {
        normal_is_under(&self.normal, &base.normal)
    }

    fn levels(&self, range: Range<usize>) -> Dn {
        let mut part = Dn::root();
        for level in range {
            part.push_level(Rdn { dn: self, level });
        }
        part
    }

    fn push_level(&mut self, rdn: Rdn<'_>) {
        let normal = std::mem::take(&mut self.normal);
        self.start_rdn(&normal);
        self.normal = normal;
        for (text, level) in [
            (&mut self.normal, rdn.normal()),
            (&mut self.pretty, rdn.pretty()),
        ] {
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(level);
        }
        for ava in rdn.avas() {
            self.push_value(ava.attribute, ava.value);
        }
    }
}

/// Returns a value as its equality rule sees it, if that can be read; else as it is stored.
fn normal_text_of(schema: &Schema, attribute: AttributeIndex, value: &[u8]) -> Vec<u8> {
    let Some(rule) = schema.attribute_at(attribute).equality else {
        return value.to_vec();
    };
    if rule.normalises_names() {
        let (name, uid) = split_uid(value);
        let Ok(name) = Dn::parse_bytes(schema, name) else {
            return value.to_vec();
        };
        let mut text = name.normal_text(schema).into_bytes();
        if let Some(uid) = uid {
            text.push(b'#');
            text.extend_from_slice(uid);
        }
        return text;
    }
    match rule.normalise(schema, value) {
        Ok(normal) if rule.normalises_text() => normal
            .iter()
            .map(|&b| if b == b'\n' { b'$' } else { b })
            .collect(),
        _ => value.to_vec(),
    }
}

/// Returns true if a normal form is properly below another one, as [`Dn::is_under`] does for names.
#[must_use]
pub fn normal_is_under(normal: &str, base: &str) -> bool {
    if base.is_empty() {
        return !normal.is_empty();
    }
    normal
        .strip_suffix(base)
        .is_some_and(|above| above.ends_with(','))
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
    /// Returns the key form of this level.
    #[must_use]
    pub fn normal(&self) -> &'d str {
        self.slice(&self.dn.normal, |start| start.normal)
    }

    /// Returns the form shown to clients.
    #[must_use]
    pub fn pretty(&self) -> &'d str {
        self.slice(&self.dn.pretty, |start| start.pretty)
    }

    /// Returns attributes and values, sorted by type.
    pub fn avas(&self) -> impl Iterator<Item = Ava<'d>> + use<'d> {
        let dn = self.dn;
        let from = dn.rdns.get(self.level).map_or(0, |start| start.ava);
        let to = dn
            .rdns
            .get(self.level + 1)
            .map_or(dn.avas.len(), |start| start.ava);
        dn.avas
            .get(from..to)
            .unwrap_or(&[])
            .iter()
            .map(move |part| Ava {
                attribute: part.attribute,
                value: dn.values.get(part.value.clone()).unwrap_or(&[]),
            })
    }

    fn slice(&self, text: &'d str, start: impl Fn(&RdnStart) -> usize) -> &'d str {
        let from = self.dn.rdns.get(self.level).map_or(0, &start);
        // The next level starts after a comma.
        let to = self
            .dn
            .rdns
            .get(self.level + 1)
            .map_or(text.len(), |next| start(next) - 1);
        text.get(from..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Dn, DnError> {
        Dn::parse(&Schema::standard(), text)
    }

    #[test]
    fn normal_and_pretty() {
        for (text, pretty, normal) in [
            ("", "", ""),
            (
                "UID=Jane + CN=J\\, D , DC=Example",
                "cn=J\\2C D+uid=Jane,dc=Example",
                "cn=j\\2c d+uid=jane,dc=example",
            ),
            ("2.5.4.3=A  B;commonName=C", "cn=A  B,cn=C", "cn=a b,cn=c"),
            ("cn=#04024869", "cn=Hi", "cn=hi"),
            ("cn=\\#x\\ ", "cn=\\23x\\20", "cn=\\23x"),
            ("cn=a=b#c", "cn=a\\3Db#c", "cn=a=b\\23c"),
            ("cn=Lu\\C4\\8Di\\C4\\87", "cn=Lučić", "cn=lučić"),
            (
                "uidNumber=7,cn=x",
                "uidNumber=7,cn=x",
                "uidnumber=\\817,cn=x",
            ),
            (
                "entryUUID=597ae2f6-16a6-1027-98f4-d28b5365dc14",
                "entryUUID=597ae2f6-16a6-1027-98f4-d28b5365dc14",
                "entryuuid=Yz\\e2\\f6\\16\\a6\\10'\\98\\f4ҋSe\\dc\\14",
            ),
        ] {
            let dn = parse(text).unwrap();
            assert_eq!(dn.pretty(), pretty, "{text}");
            assert_eq!(dn.normal(), normal, "{text}");
            assert_eq!(parse(dn.pretty()).unwrap(), dn, "{text}");
        }
    }

    #[test]
    fn normal_form_for_people() {
        let schema = Schema::standard();
        for (text, normal, pretty) in [
            (
                "UID = Jane+CN=J\\, D , DC=Example",
                "cn=j\\2C d+uid=jane,dc=example",
                "cn=J\\2C D+uid=Jane,dc=Example",
            ),
            ("uidNumber=7,cn=X", "uidNumber=7,cn=x", "uidNumber=7,cn=X"),
            ("cn=A  B,o=Ä", "cn=a b,o=ä", "cn=A  B,o=Ä"),
            ("cn=\\#x\\ ", "cn=\\23x", "cn=\\23x\\20"),
            ("cn=a=b#c", "cn=a\\3Db#c", "cn=a\\3Db#c"),
            (
                "cn=\"a, b\",O=\"x\\\"y\"",
                "cn=a\\2C b,o=x\\22y",
                "cn=a\\2C b,o=x\\22y",
            ),
            (
                "postalAddress=A  $ B,cn=x",
                "postalAddress=a$b,cn=x",
                "postalAddress=A  $ B,cn=x",
            ),
            (
                "member=CN\\3DA\\2C dc\\3Db",
                "member=cn\\3Da\\2Cdc\\3Db",
                "member=cn\\3DA\\2Cdc\\3Db",
            ),
            (
                "uniqueMember=cn\\3DA#'01'B",
                "uniqueMember=cn\\3Da#'01'B",
                "uniqueMember=cn\\3DA#'01'B",
            ),
            (
                "ou=X+o=Y+l=Z,c=US",
                "l=z+o=y+ou=x,c=us",
                "l=Z+o=Y+ou=X,c=US",
            ),
            ("cn=\\20 a \\20", "cn=a", "cn=\\20 a \\20"),
            (
                "o=Smith\\; Co\\<x\\>\\+y\\\\z",
                "o=smith\\3B co\\3Cx\\3E\\2By\\5Cz",
                "o=Smith\\3B Co\\3Cx\\3E\\2By\\5Cz",
            ),
        ] {
            let name = Dn::parse(&schema, text).unwrap();
            assert_eq!(
                (name.normal_text(&schema).as_str(), name.pretty()),
                (normal, pretty)
            );
        }
    }

    #[test]
    fn unknown_types_and_bad_values() {
        assert_eq!(
            parse("nosuch=a"),
            Err(DnError::UnknownType("nosuch".to_owned()))
        );
        assert_eq!(
            parse("OID.2.5.4.3=a"),
            Err(DnError::UnknownType("OID.2.5.4.3".to_owned()))
        );
        assert_eq!(parse("cn="), Err(DnError::InvalidValue("cn".to_owned())));
        assert_eq!(
            parse("uidNumber=x"),
            Err(DnError::InvalidValue("uidNumber".to_owned()))
        );
        assert!(matches!(
            parse("cn=a+commonName=b"),
            Err(DnError::Malformed(_))
        ));
        assert!(matches!(parse("cn"), Err(DnError::Malformed(_))));
    }

    #[test]
    fn parts_and_kinship() {
        let dn = parse("cn=a+sn=b,ou=P,dc=x").unwrap();
        let base = parse("DC=X").unwrap();
        assert_eq!(dn.depth(), 3);
        assert_eq!(dn.parent().unwrap().pretty(), "ou=P,dc=x");
        assert_eq!(dn.ancestor(1), Some(base.clone()));
        assert_eq!(dn.ancestor(0), Some(Dn::root()));
        assert_eq!(dn.ancestor(4), None);
        assert_eq!(Dn::root().parent(), None);
        let leaf = dn.leaf().unwrap();
        assert_eq!((leaf.normal(), leaf.depth()), ("cn=a+sn=b", 1));
        assert_eq!(
            dn.rdns().map(|rdn| rdn.normal()).collect::<Vec<_>>(),
            ["cn=a+sn=b", "ou=p", "dc=x"]
        );
        let values: Vec<&[u8]> = dn.rdn().unwrap().avas().map(|ava| ava.value).collect();
        assert_eq!(values, [b"a", b"b"]);
        assert_eq!(
            dn.parent()
                .unwrap()
                .child(&leaf)
                .rdns()
                .nth(1)
                .unwrap()
                .pretty(),
            "ou=P"
        );
        assert_eq!(dn.parent().unwrap().child(&leaf), dn);
        assert!(
            dn.is_under(&base)
                && dn.is_under(&Dn::root())
                && dn.is_within(&dn)
                && !dn.is_under(&dn)
        );
        assert!(!parse("dc=xx").unwrap().is_within(&base));
        assert!(!Dn::root().is_under(&Dn::root()));
    }

    #[test]
    fn in_place_comparison() {
        let schema = Schema::standard();
        let normal = normal_value(&schema, b"uid=jane,ou=my people,dc=example").unwrap();
        let check = |value: &str| matches_in_place(&schema, normal.as_bytes(), value.as_bytes());
        assert_eq!(check("uid=jane,ou=my people,dc=example"), Some(true));
        assert_eq!(
            check("UserID = JANE , OU=My  People,0.9.2342.19200300.100.1.25=EXAMPLE"),
            Some(true)
        );
        assert_eq!(check("uid=jane,ou=my people"), Some(false));
        assert_eq!(check("cn=x,uid=jane,ou=my people,dc=example"), Some(false));
        assert_eq!(check("uid=john,ou=my people,dc=example"), Some(false));
        assert_eq!(check("uid=jan\\65,ou=my people,dc=example"), None);
        assert_eq!(check(""), Some(false));
    }
}
