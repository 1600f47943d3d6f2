//! Names of one parent: the parent is parsed once.
//!
//! ```text
//!   uid=jane,ou=People,dc=example      parsed; "ou=People,dc=example" is remembered
//!   uid=john,ou=People,dc=example      only "uid=john" is parsed
//! ```

use super::{AvaPart, Dn, RdnStart};
use crate::dn::DnError;
use crate::registry::Schema;

/// Length in bytes of a parent's text up to which it is remembered.
const PARENT_BYTES_MAX: usize = 512;

/// Parses names as [`Dn::parse`] does, and remembers the last parent. Clients mostly name children
/// of few entries, so this is the hot path of operations on one entry.
#[derive(Debug)]
pub struct SiblingNames<'s> {
    schema: &'s Schema,
    /// The parent's text behind the first comma, as written.
    text: String,
    parent: Dn,
}

impl<'s> SiblingNames<'s> {
    /// Remembers no parent yet.
    #[must_use]
    pub fn new(schema: &'s Schema) -> SiblingNames<'s> {
        SiblingNames {
            schema,
            text: String::new(),
            parent: Dn::root(),
        }
    }

    /// Returns true if names are resolved against this schema.
    #[must_use]
    pub fn are_of(&self, schema: &Schema) -> bool {
        std::ptr::eq(self.schema, schema)
    }

    /// Parses and resolves the string form.
    ///
    /// # Errors
    /// As [`Dn::parse`].
    pub fn parse(&mut self, text: &str) -> Result<Dn, DnError> {
        let Some((rdn, above)) = split_plain(text) else {
            return Dn::parse(self.schema, text);
        };
        if !self.parent.is_root()
            && self.text == above
            && let Ok(name) = Dn::parse_with_room(self.schema, rdn, &self.parent)
            && name.depth() == 1
        {
            return Ok(name.below(&self.parent));
        }
        // The whole text gives the error, with its position.
        let name = Dn::parse(self.schema, text)?;
        if above.len() <= PARENT_BYTES_MAX
            && let Some(parent) = name.parent().filter(|parent| !parent.is_root())
        {
            self.text.clear();
            self.text.push_str(above);
            self.parent = parent;
        }
        Ok(name)
    }
}

/// Splits at the comma behind the first RDN. Returns `None` without a comma. The same holds if a
/// character before it may quote it, or separates RDNs too.
fn split_plain(text: &str) -> Option<(&str, &str)> {
    let is_special = |byte: &u8| matches!(byte, b',' | b';' | b'\\' | b'"' | b'#');
    let at = text.as_bytes().iter().position(is_special)?;
    let (rdn, above) = text.split_at_checked(at)?;
    Some((rdn, above.strip_prefix(',')?))
}

impl Dn {
    /// Returns this name, of one level, placed below another name that is not the root.
    fn below(mut self, parent: &Dn) -> Dn {
        debug_assert!(self.depth() == 1 && !parent.is_root(), "a comma separates");
        for (text, above) in [
            (&mut self.normal, &parent.normal),
            (&mut self.pretty, &parent.pretty),
        ] {
            text.reserve_exact(1 + above.len());
            text.push(',');
        }
        let (normal, pretty) = (self.normal.len(), self.pretty.len());
        let (avas, values) = (self.avas.len(), self.values.len());
        self.normal.push_str(&parent.normal);
        self.pretty.push_str(&parent.pretty);
        self.values.extend_from_slice(&parent.values);
        self.rdns.extend(parent.rdns.iter().map(|start| RdnStart {
            normal: normal + start.normal,
            pretty: pretty + start.pretty,
            ava: avas + start.ava,
        }));
        self.avas.extend(parent.avas.iter().map(|part| AvaPart {
            attribute: part.attribute,
            value: values + part.value.start..values + part.value.end,
        }));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of which some share a parent, and some only look as if they did.
    const TEXTS: &[&str] = &[
        "uid=jane,ou=People,dc=example,dc=com",
        "UID = John ,ou=People,dc=example,dc=com",
        "uid=a+cn=b,ou=People,dc=example,dc=com",
        "cn=a\\,ou=People,dc=example,dc=com",
        "cn=\"a,ou=People,dc=example,dc=com",
        "cn=\"a\",ou=People,dc=example,dc=com",
        "cn=a;ou=b,ou=People,dc=example,dc=com",
        "cn=#040141,ou=People,dc=example,dc=com",
        ",ou=People,dc=example,dc=com",
        " ,ou=People,dc=example,dc=com",
        "uid,ou=People,dc=example,dc=com",
        "uid=,ou=People,dc=example,dc=com",
        "nope=x,ou=People,dc=example,dc=com",
        "uid=x+,ou=People,dc=example,dc=com",
        "uid=x, OU = people+l=b , dc=example",
        "uid=y, OU = people+l=b , dc=example",
        "uid=y,",
        "uid=z,",
        "uid=z, ",
        "dc=com",
        "",
        "uid=x,ou=Pe\\2cople,dc=com",
        "uid=y,ou=Pe\\2cople,dc=com",
    ];

    fn parts(dn: &Dn) -> Vec<Vec<(u32, Vec<u8>)>> {
        let avas = |rdn: super::super::Rdn<'_>| {
            let parts = rdn.avas().map(|ava| (ava.attribute.0, ava.value.to_vec()));
            parts.collect()
        };
        dn.rdns().map(avas).collect()
    }

    #[test]
    fn a_remembered_parent_changes_no_name_and_no_error() {
        let schema = Schema::standard();
        let mut names = SiblingNames::new(&schema);
        // Each text follows each other one.
        for first in TEXTS {
            for text in TEXTS {
                let _ = names.parse(first);
                let found = names.parse(text);
                let expected = Dn::parse(&schema, text);
                assert_eq!(
                    found.as_ref().map_err(ToString::to_string),
                    expected.as_ref().map_err(ToString::to_string),
                    "{first:?} {text:?}"
                );
                let (Ok(found), Ok(expected)) = (found, expected) else {
                    continue;
                };
                assert_eq!(found.pretty(), expected.pretty());
                assert_eq!(found.normal(), expected.normal());
                assert_eq!(parts(&found), parts(&expected), "{first:?} {text:?}");
                let levels = |dn: &Dn| -> Vec<(String, String)> {
                    dn.rdns()
                        .map(|rdn| (rdn.normal().to_owned(), rdn.pretty().to_owned()))
                        .collect()
                };
                assert_eq!(levels(&found), levels(&expected));
            }
        }
    }
}
