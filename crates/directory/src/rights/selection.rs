//! The attributes that a search selects (RFC 4511 section 4.5.1.8, RFC 3673, RFC 4529).

use fulgurite_schema::{AttributeDescription, AttributeIndex, Schema};

/// The attributes that a client selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    all_user: bool,
    all_operational: bool,
    /// Types that are selected with all options.
    types: Vec<AttributeIndex>,
    /// Descriptions with options.
    optioned: Vec<AttributeDescription>,
}

impl Selection {
    /// Parses an attribute selection list. It ignores names that the schema lacks (RFC 4511).
    ///
    /// `1.1` alone selects nothing. Next to other names it is ignored.
    #[must_use]
    pub fn parse(schema: &Schema, list: &[&[u8]]) -> Selection {
        let mut selection = Selection {
            all_user: list.is_empty(),
            ..Selection::default()
        };
        for &name in list {
            match name {
                b"*" => selection.all_user = true,
                b"+" => selection.all_operational = true,
                [b'@', class @ ..] => selection.add_class(schema, class),
                name => selection.add_description(schema, name),
            }
        }
        selection.types.sort_unstable();
        selection.types.dedup();
        selection
    }

    /// Returns true if an attribute of the entry is selected.
    #[must_use]
    pub fn selects(&self, schema: &Schema, held: &AttributeDescription) -> bool {
        self.selects_type(schema, held.attribute)
            || self.optioned.iter().any(|asked| asked.covers(schema, held))
    }

    /// Returns true if an attribute type is selected with all options.
    #[must_use]
    pub fn selects_type(&self, schema: &Schema, held: AttributeIndex) -> bool {
        let whole = if schema.attribute_at(held).is_operational() {
            self.all_operational
        } else {
            self.all_user
        };
        whole || self.names(held)
    }

    /// Returns true if no attribute is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.all_user && !self.all_operational && self.types.is_empty() && self.optioned.is_empty()
    }

    /// Returns true if exactly the user attributes are selected, as in most searches.
    #[must_use]
    pub fn is_all_user(&self) -> bool {
        self.all_user && !self.all_operational && self.types.is_empty() && self.optioned.is_empty()
    }

    /// Returns true if `+` selects all operational attributes.
    #[must_use]
    pub fn all_operational(&self) -> bool {
        self.all_operational
    }

    /// Returns true if the list names the type, a supertype of it, or a class that has it.
    #[must_use]
    pub fn names(&self, held: AttributeIndex) -> bool {
        self.types.binary_search(&held).is_ok()
    }

    fn add_class(&mut self, schema: &Schema, name: &[u8]) {
        let class = std::str::from_utf8(name)
            .ok()
            .and_then(|name| schema.object_class(name));
        // extensibleObject permits every attribute.
        if class.is_some_and(|class| class.index == schema.extensible_object()) {
            self.all_user = true;
            self.all_operational = true;
        }
        for &index in class
            .iter()
            .flat_map(|class| class.must.iter().chain(&class.may))
        {
            self.add_type(schema, index);
        }
    }

    fn add_description(&mut self, schema: &Schema, name: &[u8]) {
        let Ok(description) = schema.describe(name) else {
            return;
        };
        if description.options().is_some() {
            self.optioned.push(description);
        } else {
            self.add_type(schema, description.attribute);
        }
    }

    fn add_type(&mut self, schema: &Schema, index: AttributeIndex) {
        self.types
            .extend_from_slice(&schema.attribute_at(index).subtypes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: [&str; 8] = [
        "cn",
        "cn;lang-de",
        "cn;lang-de-at",
        "sn",
        "mail",
        "objectClass",
        "entryUUID",
        "createTimestamp",
    ];

    fn selected(list: &[&str]) -> Vec<&'static str> {
        let schema = Schema::standard();
        let list: Vec<&[u8]> = list.iter().map(|name| name.as_bytes()).collect();
        let selection = Selection::parse(&schema, &list);
        HELD.into_iter()
            .filter(|held| {
                let held = schema.describe(held.as_bytes()).expect(held);
                selection.selects(&schema, &held)
            })
            .collect()
    }

    #[test]
    fn every_form_of_selection() {
        let user = &HELD[..6];
        let operational = &HELD[6..];
        assert_eq!(selected(&[]), user);
        assert_eq!(selected(&["*"]), user);
        assert_eq!(selected(&["+"]), operational);
        assert_eq!(selected(&["*", "+"]), HELD);
        assert_eq!(selected(&["1.1"]), [""; 0]);
        assert_eq!(selected(&["1.1", "sn"]), ["sn"]);
        assert_eq!(selected(&["nope"]), [""; 0]);
        assert_eq!(selected(&["SN", "entryuuid", "nope"]), ["sn", "entryUUID"]);
        assert_eq!(selected(&["2.5.4.4"]), ["sn"]);
        assert_eq!(selected(&["cn"]), &HELD[..3]);
        assert_eq!(selected(&["name"]), &HELD[..4]);
        assert_eq!(selected(&["cn;lang-de"]), ["cn;lang-de"]);
        assert_eq!(selected(&["cn;lang-de-"]), ["cn;lang-de", "cn;lang-de-at"]);
        assert_eq!(selected(&["name;lang-de"]), ["cn;lang-de"]);
        assert_eq!(
            selected(&["@person"]),
            ["cn", "cn;lang-de", "cn;lang-de-at", "sn", "objectClass"]
        );
        assert_eq!(selected(&["@nope"]), [""; 0]);
        assert_eq!(selected(&["@extensibleObject"]), HELD);
        assert_eq!(selected(&["@person", "mail"]), &HELD[..6]);
    }
}
