//! A filter without its values: `(&(objectClass=?)(l=?*))`.

use fulgurite_schema::{AttributeSelector, Filter, Schema, SubstringAssertion, Truth};

/// Bytes of a shape after which three dots end it. A client may send filters of many items.
const SHAPE_BYTES_MAX: usize = 1024;

/// Returns a filter as text, with a question mark for each value. The cost has a bound.
pub(crate) fn filter_shape(schema: &Schema, filter: &Filter<AttributeSelector>) -> String {
    let mut out = String::new();
    write(schema, filter, &mut out);
    if out.len() > SHAPE_BYTES_MAX {
        out.push_str("...");
    }
    out
}

fn write(schema: &Schema, filter: &Filter<AttributeSelector>, out: &mut String) {
    let name = |selector: &AttributeSelector| schema.attribute_at(selector.attribute).name();
    let item = |selector, sign: &str| format!("{}{sign}", name(selector));
    let text = match filter {
        Filter::And(items) => return write_list(schema, ('&', items), out),
        Filter::Or(items) => return write_list(schema, ('|', items), out),
        Filter::Not(item) => return write_list(schema, ('!', std::slice::from_ref(&**item)), out),
        Filter::Constant(Truth::True) => "&".to_owned(),
        Filter::Constant(_) => "|".to_owned(),
        Filter::Present(selector) => item(selector, "=*"),
        Filter::ObjectClass {
            attribute, class, ..
        } => format!(
            "{}={}",
            name(attribute),
            schema.object_class_at(*class).name()
        ),
        Filter::Equality(assertion) => item(&assertion.attribute, "=?"),
        Filter::GreaterOrEqual(assertion) => item(&assertion.attribute, ">=?"),
        Filter::LessOrEqual(assertion) => item(&assertion.attribute, "<=?"),
        Filter::Approximate { attribute, .. } => item(attribute, "~=?"),
        Filter::InChain { assertion, .. } => {
            item(&assertion.attribute, ":1.2.840.113556.1.4.1941:=?")
        }
        Filter::Substrings {
            attribute, pieces, ..
        } => item(attribute, &format!("={}", pieces_shape(pieces))),
        Filter::Entries(entries) => format!("{} entries", entries.len()),
        Filter::Extensible {
            attribute, rule, ..
        } => {
            let attribute = attribute.as_ref().map(&name).unwrap_or_default();
            format!("{attribute}:{}:=?", rule.name)
        }
    };
    out.push('(');
    out.push_str(&text);
    out.push(')');
}

fn write_list(
    schema: &Schema,
    (sign, items): (char, &[Filter<AttributeSelector>]),
    out: &mut String,
) {
    out.push('(');
    out.push(sign);
    for item in items {
        if out.len() > SHAPE_BYTES_MAX {
            return;
        }
        write(schema, item, out);
    }
    out.push(')');
}

fn pieces_shape(pieces: &SubstringAssertion) -> String {
    let mut shape = String::new();
    shape.push_str(if pieces.initial().is_some() {
        "?*"
    } else {
        "*"
    });
    let any = pieces.any().take(SHAPE_BYTES_MAX);
    any.for_each(|_| shape.push_str("?*"));
    shape.push_str(if pieces.final_().is_some() { "?" } else { "" });
    shape
}

#[cfg(test)]
mod tests {
    use fulgurite_ldap::FilterBuf;

    use super::*;

    #[test]
    fn a_long_shape_ends_early() {
        let schema = Schema::standard();
        for text in [
            format!("(|{})", "(cn=a)".repeat(5_000)),
            format!("(cn=*{})", "a*".repeat(5_000)),
        ] {
            let filter = FilterBuf::parse(&text).expect("a filter");
            let filter = Filter::resolve(&schema, &filter.filter());
            let shape = filter_shape(&schema, &filter);
            assert!(shape.len() < 2_100 && shape.ends_with("..."), "{shape}");
        }
    }

    #[test]
    fn shapes_have_no_values() {
        let schema = Schema::standard();
        for (text, shape) in [
            (
                "(&(objectClass=person)(|(cn=secret)(!(sn=a*b*c))))",
                "(&(objectClass=person)(|(cn=?)(!(sn=?*?*?))))",
            ),
            ("(cn=*secret)", "(cn=*?)"),
            ("(commonName=*)", "(cn=*)"),
            ("(&)", "(&)"),
            ("(createTimestamp>=20260101000000Z)", "(createTimestamp>=?)"),
            ("(cn:caseExactMatch:=secret)", "(cn:caseExactMatch:=?)"),
        ] {
            let filter = FilterBuf::parse(text).expect("a filter");
            let filter = Filter::resolve(&schema, &filter.filter());
            assert_eq!(filter_shape(&schema, &filter), shape);
        }
    }
}
