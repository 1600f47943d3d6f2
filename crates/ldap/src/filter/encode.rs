//! Filters to their encoding.

use fulgurite_ber::{Mark, Tag, Writer};

use super::{
    AND, ANY, APPROXIMATE, Assertion, DN_ATTRIBUTES, EQUALITY, EXTENSIBLE, Extensible, FINAL,
    Filter, GREATER_OR_EQUAL, INITIAL, Junction, LESS_OR_EQUAL, MATCH_VALUE, NOT, OR, PRESENT,
    RULE, SUBSTRINGS, Step, Substrings, TYPE,
};

impl Junction {
    pub(super) const fn tag(self) -> Tag {
        match self {
            Junction::And => AND,
            Junction::Or => OR,
            Junction::Not => NOT,
        }
    }
}

impl Filter<'_> {
    /// Writes the filter.
    pub(crate) fn encode(&self, writer: &mut Writer<'_>) {
        let mut open: Vec<Mark> = Vec::new();
        for step in self.walk() {
            match step {
                Step::Open(junction) => open.push(writer.begin(junction.tag())),
                Step::Leaf(filter) => leaf(filter, writer),
                Step::Close(_) => {
                    if let Some(mark) = open.pop() {
                        writer.end(mark);
                    }
                }
            }
        }
    }
}

fn leaf(filter: &Filter<'_>, writer: &mut Writer<'_>) {
    let mut assertion =
        |tag, assertion: &Assertion<'_>| writer.container(tag, |writer| assertion.encode(writer));
    match filter {
        Filter::Equality(equality) => assertion(EQUALITY, equality),
        Filter::GreaterOrEqual(bound) => assertion(GREATER_OR_EQUAL, bound),
        Filter::LessOrEqual(bound) => assertion(LESS_OR_EQUAL, bound),
        Filter::Approximate(approximate) => assertion(APPROXIMATE, approximate),
        Filter::Present(attribute) => writer.primitive(PRESENT, attribute),
        Filter::Substrings(substrings) => substrings.encode(writer),
        Filter::Extensible(extensible) => extensible.encode(writer),
        // The walk opens these.
        Filter::And(_) | Filter::Or(_) | Filter::Not(_) => {}
    }
}

impl Assertion<'_> {
    pub(crate) fn encode(&self, writer: &mut Writer<'_>) {
        writer.octet_string(self.attribute);
        writer.octet_string(self.value);
    }
}

impl Substrings<'_> {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(SUBSTRINGS, |writer| {
            writer.octet_string(self.attribute);
            writer.container(Tag::SEQUENCE, |writer| {
                if let Some(piece) = self.initial {
                    writer.primitive(INITIAL, piece);
                }
                self.any.encode(writer, ANY);
                if let Some(piece) = self.final_ {
                    writer.primitive(FINAL, piece);
                }
            });
        });
    }
}

impl Extensible<'_> {
    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(EXTENSIBLE, |writer| {
            if let Some(rule) = self.rule {
                writer.primitive(RULE, rule);
            }
            if let Some(attribute) = self.attribute {
                writer.primitive(TYPE, attribute);
            }
            writer.primitive(MATCH_VALUE, self.value);
            if self.dn_attributes {
                writer.boolean_as(DN_ATTRIBUTES, true);
            }
        });
    }
}
