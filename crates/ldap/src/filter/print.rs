//! Filters to text (RFC 4515).

use std::fmt::{self, Write};

use super::{Assertion, Extensible, Filter, Junction, Step, Substrings};

impl fmt::Display for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.walk() {
            match step {
                Step::Open(Junction::And) => f.write_str("(&")?,
                Step::Open(Junction::Or) => f.write_str("(|")?,
                Step::Open(Junction::Not) => f.write_str("(!")?,
                Step::Close(_) => f.write_char(')')?,
                Step::Leaf(leaf) => {
                    f.write_char('(')?;
                    item(leaf, f)?;
                    f.write_char(')')?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Filter<'_> {
    /// Returns the text form: readable, and without recursion where a log meets a hostile filter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filter({self})")
    }
}

fn item(filter: &Filter<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match filter {
        Filter::Equality(equality) => assertion(equality, "=", f),
        Filter::GreaterOrEqual(bound) => assertion(bound, ">=", f),
        Filter::LessOrEqual(bound) => assertion(bound, "<=", f),
        Filter::Approximate(approximate) => assertion(approximate, "~=", f),
        Filter::Present(attribute) => {
            name(attribute, f)?;
            f.write_str("=*")
        }
        Filter::Substrings(parts) => substrings(parts, f),
        Filter::Extensible(parts) => extensible(parts, f),
        Filter::And(_) | Filter::Or(_) | Filter::Not(_) => Ok(()),
    }
}

fn assertion(assertion: &Assertion<'_>, operator: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    name(assertion.attribute, f)?;
    f.write_str(operator)?;
    escaped(assertion.value, f)
}

fn substrings(substrings: &Substrings<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    name(substrings.attribute, f)?;
    f.write_char('=')?;
    escaped(substrings.initial.unwrap_or_default(), f)?;
    f.write_char('*')?;
    for piece in substrings.any {
        escaped(piece, f)?;
        f.write_char('*')?;
    }
    escaped(substrings.final_.unwrap_or_default(), f)
}

fn extensible(extensible: &Extensible<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    name(extensible.attribute.unwrap_or_default(), f)?;
    if extensible.dn_attributes {
        f.write_str(":dn")?;
    }
    if let Some(rule) = extensible.rule {
        f.write_char(':')?;
        name(rule, f)?;
    }
    f.write_str(":=")?;
    escaped(extensible.value, f)
}

/// Writes a description or a rule. Bytes that no name has become `\xx`. The text does not parse
/// again, but cannot be mistaken for other text.
fn name(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for &byte in bytes {
        match byte {
            b'-' | b'.' | b';' | b'_' => f.write_char(char::from(byte))?,
            byte if byte.is_ascii_alphanumeric() => f.write_char(char::from(byte))?,
            byte => write!(f, "\\{byte:02x}")?,
        }
    }
    Ok(())
}

/// Writes UTF-8 as it is; what is special in a filter, and what is no UTF-8, as `\xx`.
fn escaped(value: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in value.utf8_chunks() {
        let mut text = chunk.valid();
        while let Some(at) = text.find(['*', '(', ')', '\\', '\0']) {
            let (plain, rest) = text.split_at(at);
            f.write_str(plain)?;
            let mut characters = rest.chars();
            if let Some(special) = characters.next() {
                write!(f, "\\{:02x}", u32::from(special))?;
            }
            text = characters.as_str();
        }
        f.write_str(text)?;
        for byte in chunk.invalid() {
            write!(f, "\\{byte:02x}")?;
        }
    }
    Ok(())
}
