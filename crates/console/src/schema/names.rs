//! Names and rules of the schema, as the server publishes them (RFC 4512, section 4.1).

use std::collections::{BTreeSet, HashMap};

/// A description of an attribute type or object class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SchemaElement {
    pub(crate) names: Vec<String>,
    pub(crate) superiors: Vec<String>,
    pub(crate) must: Vec<String>,
    pub(crate) may: Vec<String>,
    pub(crate) syntax: String,
    /// True if an entry may have one value only.
    pub(crate) is_single: bool,
    /// True if only the server sets it.
    pub(crate) is_of_server: bool,
}

/// The elements by their names in lower case.
#[derive(Debug, Default)]
pub(crate) struct SchemaNames {
    types: HashMap<String, SchemaElement>,
    classes: HashMap<String, SchemaElement>,
}

/// The attributes that classes demand and allow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassAttributes {
    pub(crate) must: BTreeSet<String>,
    pub(crate) may: BTreeSet<String>,
}

impl SchemaNames {
    pub(crate) fn of(types: &[String], classes: &[String]) -> SchemaNames {
        let by_name = |texts: &[String]| {
            let mut map = HashMap::new();
            for text in texts {
                let element = SchemaElement::parse(text);
                for name in &element.names {
                    map.insert(name.to_ascii_lowercase(), element.clone());
                }
            }
            map
        };
        SchemaNames {
            types: by_name(types),
            classes: by_name(classes),
        }
    }

    /// Returns an attribute type; options such as `;lang-de` do not count.
    pub(crate) fn attribute(&self, name: &str) -> Option<&SchemaElement> {
        let base = name.split(';').next().unwrap_or_default();
        self.types.get(&base.to_ascii_lowercase())
    }

    /// Returns the first name of each class, sorted.
    pub(crate) fn class_names(&self) -> BTreeSet<&str> {
        let classes = self.classes.values();
        classes
            .filter_map(|class| class.names.first().map(String::as_str))
            .collect()
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
}

impl SchemaElement {
    /// Reads a description. Parts that mean nothing here are passed over.
    fn parse(text: &str) -> SchemaElement {
        let words = words(text);
        let mut element = SchemaElement::default();
        let mut rest = words.iter().map(String::as_str).peekable();
        while let Some(word) = rest.next() {
            let list = match word {
                "NAME" => &mut element.names,
                "SUP" => &mut element.superiors,
                "MUST" => &mut element.must,
                "MAY" => &mut element.may,
                "SYNTAX" => {
                    let syntax = rest.next().unwrap_or_default();
                    element.syntax = syntax.split('{').next().unwrap_or_default().to_owned();
                    continue;
                }
                "SINGLE-VALUE" => {
                    element.is_single = true;
                    continue;
                }
                "NO-USER-MODIFICATION" => {
                    element.is_of_server = true;
                    continue;
                }
                "DESC" => {
                    rest.next();
                    continue;
                }
                _ => continue,
            };
            if rest.next_if_eq(&"(").is_some() {
                list.extend(
                    rest.by_ref()
                        .take_while(|word| *word != ")")
                        .filter(|word| *word != "$")
                        .map(str::to_owned),
                );
            } else {
                list.extend(rest.next().map(str::to_owned));
            }
        }
        element
    }
}

/// Returns the words of a description; a quoted string is one word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => words.push(letters.by_ref().take_while(|next| *next != '\'').collect()),
            '(' | ')' | '$' => words.push(letter.to_string()),
            letter if letter.is_whitespace() => {}
            letter => {
                let mut word = letter.to_string();
                while let Some(next) =
                    letters.next_if(|next| !next.is_whitespace() && !"()$'".contains(*next))
                {
                    word.push(next);
                }
                words.push(word);
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read() {
        let types = [
            "( 2.5.4.3 NAME ( 'cn' 'commonName' ) DESC 'a MUST (b' SUP name SYNTAX 1.2.3{64} SINGLE-VALUE )",
        ];
        let classes = [
            "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY ( userPassword $ mail ) )",
            "( 1 NAME 'more' SUP ( person $ more ) MUST mail )",
        ];
        let schema = SchemaNames::of(&types.map(str::to_owned), &classes.map(str::to_owned));
        let cn = schema.attribute("COMMONNAME;lang-de").unwrap();
        assert_eq!(
            (cn.is_single, cn.syntax.as_str(), cn.is_of_server),
            (true, "1.2.3", false)
        );
        assert!(cn.must.is_empty());
        let of = schema.attributes_of(&["MORE".to_owned()]);
        assert_eq!(
            of.must.into_iter().collect::<Vec<_>>(),
            ["cn", "mail", "sn"]
        );
        assert_eq!(of.may.into_iter().collect::<Vec<_>>(), ["userPassword"]);
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in [
            "",
            "(",
            "( NAME (",
            "NAME",
            "SYNTAX",
            "''",
            "( MUST ( a $",
            "DESC",
        ] {
            SchemaElement::parse(text);
        }
    }
}
