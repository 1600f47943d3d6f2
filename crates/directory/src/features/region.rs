//! Regions of a tree, and filters, as the URLs in directives of overlays write them.

use fulgurite_ldap::{Filter as FilterText, FilterBuf, LdapUrl, Scope as UrlScope};
use fulgurite_schema::{AttributeSelector, Dn, Filter, Schema};
use fulgurite_store::Scope;

/// Entries within a scope of one of several bases.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) bases: Vec<Dn>,
    pub(crate) scope: Scope,
}

/// A filter, resolved and as text.
#[derive(Clone, Debug)]
pub(crate) struct UrlFilter {
    pub(crate) filter: Filter<AttributeSelector>,
    /// The text with the schema's names of attributes.
    pub(crate) text: String,
}

impl Region {
    /// Returns true if a name is in the region.
    pub(crate) fn contains(&self, dn: &Dn) -> bool {
        self.bases.iter().any(|base| match self.scope {
            Scope::Base => dn == base,
            Scope::OneLevel => dn.is_under(base) && dn.depth() == base.depth() + 1,
            Scope::Subtree => dn.is_within(base),
            Scope::Subordinates => dn.is_under(base),
        })
    }
}

/// Returns the scope of a URL, which is the base alone without one.
pub(crate) fn scope_of(url: &LdapUrl) -> Scope {
    match url.scope {
        None | Some(UrlScope::Base) => Scope::Base,
        Some(UrlScope::One) => Scope::OneLevel,
        Some(UrlScope::Subtree) => Scope::Subtree,
        Some(UrlScope::Children) => Scope::Subordinates,
    }
}

/// Returns the filter of a URL: `None` without one, an error for a text that is none.
pub(crate) fn filter_of(schema: &Schema, url: &LdapUrl) -> Result<Option<UrlFilter>, ()> {
    let Some(text) = &url.filter else {
        return Ok(None);
    };
    let parsed = FilterBuf::parse(text).map_err(drop)?;
    let tree = parsed.filter();
    let mut text = String::new();
    write_filter(schema, &tree, &mut text);
    Ok(Some(UrlFilter {
        filter: Filter::resolve(schema, &tree),
        text,
    }))
}

/// Writes a filter with the schema's names of attributes.
fn write_filter(schema: &Schema, filter: &FilterText<'_>, out: &mut String) {
    let mut all = |sign: char, parts: &[FilterText<'_>]| {
        out.push('(');
        out.push(sign);
        parts
            .iter()
            .for_each(|part| write_filter(schema, part, out));
        out.push(')');
    };
    match filter {
        FilterText::And(parts) => all('&', parts),
        FilterText::Or(parts) => all('|', parts),
        FilterText::Not(part) => all('!', std::slice::from_ref(&**part)),
        FilterText::Equality(assertion) => {
            let name = canonical(schema, assertion.attribute);
            write_equality(&name, assertion.value, out);
        }
        FilterText::Present(attribute) => {
            out.push('(');
            out.push_str(&canonical(schema, attribute));
            out.push_str("=*)");
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Returns the schema's name of an attribute, or the name as written.
fn canonical(schema: &Schema, name: &[u8]) -> String {
    let known = schema.describe(name);
    known.map_or_else(
        |_| String::from_utf8_lossy(name).into_owned(),
        |description| description.text(schema).into_owned(),
    )
}

/// Writes an equality item as slapd does: it escapes special characters and all but ASCII.
pub(crate) fn write_equality(name: &str, value: &[u8], out: &mut String) {
    use std::fmt::Write as _;
    out.push('(');
    out.push_str(name);
    out.push('=');
    for &byte in value {
        match byte {
            b'(' | b')' | b'*' | b'\\' | 0..=0x1f | 0x7f.. => {
                // A string takes every text.
                let _ = write!(out, "\\{byte:02X}");
            }
            plain => out.push(char::from(plain)),
        }
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_written_with_names_of_the_schema_and_slapds_escapes() {
        let schema = Schema::standard();
        for (given, written) in [
            ("(OBJECTCLASS=person)", "(objectClass=person)"),
            (
                "(&(surname=a\\2a)(!(MAIL=*))(|(cn=t\\c3\\a4st)))",
                "(&(sn=a\\2A)(!(mail=*))(|(cn=t\\C3\\A4st)))",
            ),
        ] {
            let url: LdapUrl = format!("ldap:///???{given}").parse().expect(given);
            let filter = filter_of(&schema, &url).expect(given).expect(given);
            assert_eq!(filter.text, written);
        }
        let mut out = String::new();
        write_equality("x", b"\x01\x7f(a)\\ \xc3", &mut out);
        assert_eq!(out, "(x=\\01\\7F\\28a\\29\\5C \\C3)");
    }

    #[test]
    fn a_region_contains_names_by_its_scope() {
        let schema = Schema::standard();
        let dn = |text: &str| Dn::parse(&schema, text).expect(text);
        let within = |scope| {
            let bases = vec![dn("ou=p,dc=x"), dn("ou=q,dc=x")];
            let region = Region { bases, scope };
            let names = ["dc=x", "ou=q,dc=x", "cn=a,ou=p,dc=x", "cn=b,cn=a,ou=p,dc=x"];
            names.map(|name| region.contains(&dn(name)))
        };
        assert_eq!(within(Scope::Base), [false, true, false, false]);
        assert_eq!(within(Scope::OneLevel), [false, false, true, false]);
        assert_eq!(within(Scope::Subtree), [false, true, true, true]);
        assert_eq!(within(Scope::Subordinates), [false, false, true, true]);
    }
}
