//! The values that a search returns with the matched values control (RFC 3876).

use fulgurite_ldap::control::MatchedValues;
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Filter, FilterSubject, Schema, Truth,
};

/// Filter items; a value is returned if it matches one of them.
#[derive(Clone, Debug)]
pub(crate) struct ValuesFilter {
    items: Vec<Filter<AttributeSelector>>,
}

impl ValuesFilter {
    /// Resolves the control. An empty list restricts nothing and gives `None`.
    pub(crate) fn resolve(schema: &Schema, control: &MatchedValues<'_>) -> Option<ValuesFilter> {
        let items: Vec<_> = control
            .items
            .iter()
            .map(|item| Filter::resolve(schema, item))
            .collect();
        (!items.is_empty()).then_some(ValuesFilter { items })
    }

    /// Returns true if the value is returned.
    pub(crate) fn admits(
        &self,
        schema: &Schema,
        description: &AttributeDescription,
        value: &[u8],
    ) -> bool {
        let one = OneValue {
            schema,
            description,
            value,
        };
        self.items
            .iter()
            .any(|item| item.test(schema, &one).is_true())
    }
}

/// An entry with a single value.
struct OneValue<'v> {
    schema: &'v Schema,
    description: &'v AttributeDescription,
    value: &'v [u8],
}

impl FilterSubject<AttributeSelector> for OneValue<'_> {
    fn values(
        &self,
        attribute: &AttributeSelector,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        if attribute.covers(self.schema, self.description) {
            visit(self.value)
        } else {
            Truth::False
        }
    }

    fn present(&self, attribute: &AttributeSelector) -> Truth {
        attribute.covers(self.schema, self.description).into()
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        visit(self.description.attribute, self.value)
    }

    fn dn_values(&self, _visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        Truth::False
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_ldap::Limits;

    fn admitted(items: &str, values: &[(&str, &str)]) -> Vec<String> {
        let schema = Schema::standard();
        let control = MatchedValues::encode_text(items).expect(items);
        let control = MatchedValues::decode(&control, &Limits::default()).expect(items);
        let filter = ValuesFilter::resolve(&schema, &control).expect(items);
        let admits = |(name, value): &&(&str, &str)| {
            let description = schema.describe(name.as_bytes()).expect(name);
            filter.admits(&schema, &description, value.as_bytes())
        };
        let admitted = values.iter().filter(admits);
        admitted
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    const VALUES: [(&str, &str); 5] = [
        ("mail", "a@x"),
        ("mail", "b@y"),
        ("cn", "A"),
        ("cn;lang-de", "A"),
        ("objectClass", "inetOrgPerson"),
    ];

    #[test]
    fn matched_values_test_each_value_alone() {
        assert_eq!(admitted("((mail=*@x))", &VALUES), ["mail=a@x"]);
        assert_eq!(
            admitted("((mail=b@y)(cn;lang-de=a))", &VALUES),
            ["mail=b@y", "cn;lang-de=A"]
        );
        assert_eq!(admitted("((name=a))", &VALUES), ["cn=A", "cn;lang-de=A"]);
        assert_eq!(
            admitted("((objectClass=person))", &VALUES),
            ["objectClass=inetOrgPerson"]
        );
        assert_eq!(
            admitted("((cn:caseExactMatch:=a)(nope=x))", &VALUES),
            [""; 0]
        );
        assert_eq!(
            admitted("((:caseIgnoreMatch:=a))", &VALUES),
            ["cn=A", "cn;lang-de=A"]
        );
        assert_eq!(admitted("((mail=*))", &VALUES), ["mail=a@x", "mail=b@y"]);
    }
}
