//! The descriptions of a schema by their names.

use std::collections::{BTreeSet, HashMap};

use super::element::{ElementKind, SchemaElement};

/// The descriptions of one kind.
#[derive(Debug, Default)]
struct ElementsByName {
    elements: Vec<SchemaElement>,
    /// Their positions, by names and OIDs in lower case.
    positions: HashMap<String, usize>,
}

/// The descriptions of a schema by their names in lower case.
#[derive(Debug, Default)]
pub(crate) struct SchemaNames {
    types: ElementsByName,
    classes: ElementsByName,
    rules: ElementsByName,
    syntaxes: ElementsByName,
}

/// The attributes that classes demand and allow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassAttributes {
    pub(crate) must: BTreeSet<String>,
    pub(crate) may: BTreeSet<String>,
}

impl ElementsByName {
    fn of(texts: &[String]) -> ElementsByName {
        let mut elements: Vec<_> = texts
            .iter()
            .map(|text| SchemaElement::parse(text))
            .collect();
        elements.sort_by_key(|element| element.shown_name().to_lowercase());
        let mut positions = HashMap::new();
        for (position, element) in elements.iter().enumerate() {
            for name in element.names.iter().chain([&element.oid]) {
                positions.insert(name.to_ascii_lowercase(), position);
            }
        }
        ElementsByName {
            elements,
            positions,
        }
    }

    fn get(&self, name: &str) -> Option<&SchemaElement> {
        self.elements
            .get(*self.positions.get(&name.to_ascii_lowercase())?)
    }
}

impl SchemaNames {
    /// Reads the descriptions that `texts` returns for each kind.
    pub(crate) fn of(texts: impl Fn(ElementKind) -> Vec<String>) -> SchemaNames {
        let read = |kind| ElementsByName::of(&texts(kind));
        SchemaNames {
            types: read(ElementKind::Attribute),
            classes: read(ElementKind::Class),
            rules: read(ElementKind::Rule),
            syntaxes: read(ElementKind::Syntax),
        }
    }

    fn of_kind(&self, kind: ElementKind) -> &ElementsByName {
        match kind {
            ElementKind::Attribute => &self.types,
            ElementKind::Class => &self.classes,
            ElementKind::Rule => &self.rules,
            ElementKind::Syntax => &self.syntaxes,
        }
    }

    /// Returns the descriptions of a kind, sorted by name.
    pub(crate) fn elements(&self, kind: ElementKind) -> &[SchemaElement] {
        &self.of_kind(kind).elements
    }

    /// Returns a description by one of its names or its OID.
    pub(crate) fn element(&self, kind: ElementKind, name: &str) -> Option<&SchemaElement> {
        self.of_kind(kind).get(name)
    }

    /// Returns an attribute type; options such as `;lang-de` do not count.
    pub(crate) fn attribute(&self, name: &str) -> Option<&SchemaElement> {
        self.types.get(name.split(';').next().unwrap_or_default())
    }

    /// Returns the first name of each class, sorted.
    pub(crate) fn class_names(&self) -> BTreeSet<&str> {
        let classes = self.classes.elements.iter();
        classes.map(SchemaElement::shown_name).collect()
    }

    /// Returns the attributes of classes and of those above them. An attribute that one class
    /// demands is not in `may`.
    pub(crate) fn attributes_of(&self, classes: &[String]) -> ClassAttributes {
        let mut attributes = ClassAttributes::default();
        let mut waiting: Vec<String> = classes.to_vec();
        let mut seen = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            let name = name.to_ascii_lowercase();
            if !seen.insert(name.clone()) {
                continue;
            }
            if let Some(class) = self.classes.get(&name) {
                attributes.must.extend(class.must.iter().cloned());
                attributes.may.extend(class.may.iter().cloned());
                waiting.extend(class.superiors.iter().cloned());
            }
        }
        attributes
            .may
            .retain(|name| !attributes.must.contains(name));
        attributes
    }

    /// Returns a part of an attribute, its own or that of the nearest type above it.
    pub(crate) fn inherited<'s>(
        &'s self,
        attribute: &'s SchemaElement,
        part: fn(&SchemaElement) -> &String,
    ) -> &'s str {
        let mut at = attribute;
        // A chain of superiors is short; the bound ends a broken one.
        for _ in 0..32 {
            if !part(at).is_empty() {
                return part(at);
            }
            let superior = at.superiors.first().and_then(|name| self.types.get(name));
            let Some(superior) = superior else { break };
            at = superior;
        }
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(types: &[&str], classes: &[&str]) -> SchemaNames {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        SchemaNames::of(|kind| match kind {
            ElementKind::Attribute => owned(types),
            ElementKind::Class => owned(classes),
            _ => Vec::new(),
        })
    }

    #[test]
    fn classes_inherit_their_attributes() {
        let classes = [
            "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY ( userPassword $ mail ) )",
            "( 1 NAME 'more' SUP ( person $ more ) MUST mail )",
        ];
        let schema = schema(&[], &classes);
        let of = schema.attributes_of(&["MORE".to_owned()]);
        assert_eq!(
            of.must.into_iter().collect::<Vec<_>>(),
            ["cn", "mail", "sn"]
        );
        assert_eq!(of.may.into_iter().collect::<Vec<_>>(), ["userPassword"]);
    }

    #[test]
    fn attributes_inherit_syntax_and_rules() {
        let types = [
            "( 2.5.4.41 NAME 'name' EQUALITY caseIgnoreMatch SYNTAX 1.2.3{9} )",
            "( 2.5.4.3 NAME ( 'cn' 'commonName' ) SUP name SINGLE-VALUE )",
            "( 9.9 NAME 'loop' SUP loop )",
        ];
        let schema = schema(&types, &[]);
        let cn = schema.attribute("COMMONNAME;lang-de").unwrap();
        assert!(cn.is_single);
        assert_eq!(schema.inherited(cn, |element| &element.syntax), "1.2.3");
        assert_eq!(
            schema.inherited(cn, |element| &element.equality),
            "caseIgnoreMatch"
        );
        let endless = schema.element(ElementKind::Attribute, "9.9").unwrap();
        assert_eq!(schema.inherited(endless, |element| &element.syntax), "");
    }
}
