//! Filters as text in the form of slapd. Names are those of the schema, and values are in normal
//! form. A question mark comes before an item that is Undefined. Passwords are not shown.

use std::borrow::Cow;
use std::fmt::Write as _;

use fulgurite_ldap::{self as ldap, Assertion, Extensible, Substrings};
use fulgurite_schema::{AttributeDescription, Dn, Filter, Schema, Truth};

use super::masked::{MASK, is_password};

/// The syntax of names (RFC 4517, section 3.3.9).
const DISTINGUISHED_NAME: &str = "1.3.6.1.4.1.1466.115.121.1.12";

/// Returns the text of a filter.
pub(crate) fn filter_text(schema: &Schema, filter: &ldap::Filter<'_>) -> String {
    let mut text = String::new();
    write(schema, filter, &mut text);
    text
}

fn write(schema: &Schema, filter: &ldap::Filter<'_>, out: &mut String) {
    let mut junction = |sign: char, items: &[ldap::Filter<'_>]| {
        out.push('(');
        out.push(sign);
        items.iter().for_each(|item| write(schema, item, out));
        out.push(')');
    };
    match filter {
        ldap::Filter::And(items) if items.is_empty() => out.push_str("(?=true)"),
        ldap::Filter::Or(items) if items.is_empty() => out.push_str("(?=false)"),
        ldap::Filter::And(items) => junction('&', items),
        ldap::Filter::Or(items) => junction('|', items),
        ldap::Filter::Not(item) => junction('!', std::slice::from_ref(item)),
        item => write_item(schema, item, out),
    }
}

fn write_item(schema: &Schema, item: &ldap::Filter<'_>, out: &mut String) {
    let undefined = Filter::resolve(schema, item) == Filter::Constant(Truth::Undefined);
    out.push_str(if undefined { "(?" } else { "(" });
    let names = Names { schema, undefined };
    match item {
        ldap::Filter::Present(attribute) => {
            names.attribute(attribute, out);
            out.push_str("=*");
        }
        ldap::Filter::Equality(assertion) => names.assertion(assertion, "=", out),
        ldap::Filter::GreaterOrEqual(assertion) => names.assertion(assertion, ">=", out),
        ldap::Filter::LessOrEqual(assertion) => names.assertion(assertion, "<=", out),
        ldap::Filter::Approximate(assertion) => names.assertion(assertion, "~=", out),
        ldap::Filter::Substrings(pieces) => names.substrings(pieces, out),
        ldap::Filter::Extensible(extensible) => names.extensible(extensible, out),
        ldap::Filter::And(_) | ldap::Filter::Or(_) | ldap::Filter::Not(_) => {}
    }
    out.push(')');
}

/// Writes the names and values of one item.
struct Names<'s> {
    schema: &'s Schema,
    /// True if the item is written as it was sent.
    undefined: bool,
}

impl Names<'_> {
    fn attribute(&self, name: &[u8], out: &mut String) {
        match self.schema.describe(name) {
            Ok(known) if !self.undefined => out.push_str(&known.text(self.schema)),
            _ => out.push_str(&String::from_utf8_lossy(name)),
        }
    }

    fn assertion(&self, assertion: &Assertion<'_>, operator: &str, out: &mut String) {
        self.attribute(assertion.attribute, out);
        out.push_str(operator);
        escape(&self.value(assertion.attribute, assertion.value), out);
    }

    fn value<'v>(&self, attribute: &[u8], value: &'v [u8]) -> Cow<'v, [u8]> {
        if is_password(self.schema, attribute) {
            return Cow::Borrowed(MASK.as_bytes());
        }
        match self.schema.describe(attribute) {
            Ok(known) if !self.undefined => normal_text(self.schema, &known, value),
            _ => Cow::Borrowed(value),
        }
    }

    fn substrings(&self, substrings: &Substrings<'_>, out: &mut String) {
        self.attribute(substrings.attribute, out);
        out.push('=');
        if is_password(self.schema, substrings.attribute) {
            out.push_str(MASK);
            return;
        }
        let described = self.schema.describe(substrings.attribute).ok();
        let rule = described.and_then(|one| self.schema.attribute_at(one.attribute).substring);
        let folds = rule.is_some_and(|rule| !rule.name.starts_with("caseExact"));
        let piece = |piece: &[u8], out: &mut String| match str::from_utf8(piece) {
            Ok(text) if folds && !self.undefined => escape(text.to_lowercase().as_bytes(), out),
            _ => escape(piece, out),
        };
        piece(substrings.initial.unwrap_or_default(), out);
        out.push('*');
        for middle in substrings.any {
            piece(middle, out);
            out.push('*');
        }
        piece(substrings.final_.unwrap_or_default(), out);
    }

    fn extensible(&self, extensible: &Extensible<'_>, out: &mut String) {
        if let Some(attribute) = extensible.attribute {
            self.attribute(attribute, out);
        }
        if extensible.dn_attributes {
            out.push_str(":dn");
        }
        if let Some(rule) = extensible.rule {
            out.push(':');
            out.push_str(&String::from_utf8_lossy(rule));
        }
        out.push_str(":=");
        let value = match (extensible.attribute, extensible.rule) {
            (Some(attribute), rule) if rule.is_none() || is_password(self.schema, attribute) => {
                self.value(attribute, extensible.value)
            }
            _ => Cow::Borrowed(extensible.value),
        };
        escape(&value, out);
    }
}

/// Returns a value in the normal form of its equality rule, where that is text. Others stay.
pub(crate) fn normal_text<'v>(
    schema: &Schema,
    attribute: &AttributeDescription,
    value: &'v [u8],
) -> Cow<'v, [u8]> {
    let kind = schema.attribute_at(attribute.attribute);
    let Some(rule) = kind.equality else {
        return Cow::Borrowed(value);
    };
    if rule.syntax == DISTINGUISHED_NAME {
        let dn = Dn::parse_bytes(schema, value).ok();
        return dn.map_or(Cow::Borrowed(value), |dn| {
            Cow::Owned(dn.normal_text(schema).into_bytes())
        });
    }
    if rule.name.starts_with("objectIdentifier") {
        let class = schema.object_class_by_bytes(value);
        return class.map_or(Cow::Borrowed(value), |class| {
            Cow::Owned(class.name().as_bytes().to_vec())
        });
    }
    match rule.name.starts_with("case") {
        true => rule
            .normalise(schema, value)
            .unwrap_or(Cow::Borrowed(value)),
        false => Cow::Borrowed(value),
    }
}

/// Appends a value with the escapes of RFC 4515, and those of all that is not ASCII.
fn escape(value: &[u8], out: &mut String) {
    for &byte in value {
        match byte {
            b'*' | b'(' | b')' | b'\\' | 0..0x20 | 0x7f.. => {
                let _ = write!(out, "\\{byte:02X}");
            }
            byte => out.push(char::from(byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use fulgurite_ldap::FilterBuf;

    use super::*;

    /// Returns the text of a filter. The expected ones are slapd 2.5.13's.
    fn text(filter: &str) -> String {
        let schema = Schema::standard();
        let parsed = FilterBuf::parse(filter).expect("a filter");
        filter_text(&schema, &parsed.filter())
    }

    #[test]
    fn asserted_passwords_are_masked() {
        for (filter, expected) in [
            (
                "(&(uid=ada)(userPassword=a))",
                "(&(uid=ada)(userPassword=...))",
            ),
            ("(2.5.4.35;lang-de=a)", "(userPassword;lang-de=...)"),
            ("(2.5.4.35;x-a=a)", "(2.5.4.35;x-a=...)"),
            ("(userPassword>=a)", "(?userPassword>=...)"),
            ("(userPassword=a*)", "(?userPassword=...)"),
            (
                "(userPassword:octetStringMatch:=a)",
                "(userPassword:octetStringMatch:=...)",
            ),
            ("(userPassword=*)", "(userPassword=*)"),
        ] {
            // A filter may be Undefined, which is no matter here.
            assert_eq!(text(filter).replace('?', ""), expected.replace('?', ""));
        }
    }

    #[test]
    fn names_and_values_are_in_the_form_of_slapd() {
        for (sent, logged) in [
            ("(cn=U)", "(cn=u)"),
            ("(foo=bar)", "(?foo=bar)"),
            ("(sn>=a)", "(?sn>=a)"),
            ("(!(title=T*1))", "(!(title=t*1))"),
            ("(cn:caseExactMatch:=x)", "(cn:caseExactMatch:=x)"),
            ("(cn:dn:=Zz)", "(cn:dn:=zz)"),
            ("(:dn:2.5.13.2:=q)", "(:dn:2.5.13.2:=q)"),
            ("(objectclass=PERSON)", "(objectClass=person)"),
            ("(objectClass=foo)", "(?objectClass=foo)"),
            (r"(description=a\28b)", r"(description=a\28b)"),
            (r"(cn=A  B\2a)", r"(cn=a b\2A)"),
            (r"(cn=\c3\84)", r"(cn=\C3\A4)"),
            ("(userPassword=Geheim)", "(userPassword=...)"),
            ("(modifiersName=CN=X, dc=Y)", "(modifiersName=cn=x,dc=y)"),
            (
                "(createTimestamp>=20200101000000Z)",
                "(createTimestamp>=20200101000000Z)",
            ),
            ("(&(cn=a)(|(cn=*)(sn=b*)))", "(&(cn=a)(|(cn=*)(sn=b*)))"),
            ("(&)", "(?=true)"),
            ("(|)", "(?=false)"),
        ] {
            assert_eq!(text(sent), logged, "{sent}");
        }
    }
}
