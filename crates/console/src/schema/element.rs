//! One description of the schema.

/// The kind of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementKind {
    Attribute,
    Class,
    Rule,
    Syntax,
}

impl ElementKind {
    /// All kinds.
    pub(crate) const ALL: [ElementKind; 4] = [
        ElementKind::Attribute,
        ElementKind::Class,
        ElementKind::Rule,
        ElementKind::Syntax,
    ];

    /// Returns the attribute of the subschema entry that has the descriptions.
    pub(crate) const fn published_in(self) -> &'static str {
        match self {
            ElementKind::Attribute => "attributeTypes",
            ElementKind::Class => "objectClasses",
            ElementKind::Rule => "matchingRules",
            ElementKind::Syntax => "ldapSyntaxes",
        }
    }
}

/// A description of an attribute type, an object class, a matching rule or a syntax.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SchemaElement {
    pub(crate) oid: String,
    pub(crate) names: Vec<String>,
    pub(crate) description: String,
    pub(crate) superiors: Vec<String>,
    pub(crate) must: Vec<String>,
    pub(crate) may: Vec<String>,
    pub(crate) syntax: String,
    /// The bound of a value's length that the description suggests; empty without one.
    pub(crate) length: String,
    pub(crate) equality: String,
    pub(crate) ordering: String,
    pub(crate) substrings: String,
    /// `STRUCTURAL`, `AUXILIARY` or `ABSTRACT`, for classes.
    pub(crate) class_kind: String,
    /// `USAGE` of an attribute; empty for those of users.
    pub(crate) usage: String,
    /// True if an entry may have one value only.
    pub(crate) is_single: bool,
    /// True if only the server sets it.
    pub(crate) is_of_server: bool,
    pub(crate) is_obsolete: bool,
}

impl SchemaElement {
    /// Reads a description. Parts that mean nothing here are passed over.
    pub(crate) fn parse(text: &str) -> SchemaElement {
        let words = words(text);
        let mut element = SchemaElement::default();
        let mut rest = words.iter().map(String::as_str).peekable();
        rest.next_if_eq(&"(");
        let is_oid = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
        element.oid = rest.next_if(is_oid).unwrap_or_default().to_owned();
        while let Some(word) = rest.next() {
            let list = match word {
                "NAME" => &mut element.names,
                "SUP" => &mut element.superiors,
                "MUST" => &mut element.must,
                "MAY" => &mut element.may,
                _ => {
                    if let Some(text) = element.text_of(word) {
                        *text = rest.next().unwrap_or_default().to_owned();
                    } else {
                        element.set(word);
                    }
                    continue;
                }
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
        element.split_length();
        element
    }

    /// Returns the part that the word behind a keyword is.
    fn text_of(&mut self, keyword: &str) -> Option<&mut String> {
        Some(match keyword {
            "DESC" => &mut self.description,
            "SYNTAX" => &mut self.syntax,
            "EQUALITY" => &mut self.equality,
            "ORDERING" => &mut self.ordering,
            "SUBSTR" => &mut self.substrings,
            "USAGE" => &mut self.usage,
            _ => return None,
        })
    }

    /// Takes a keyword that has nothing behind it.
    fn set(&mut self, keyword: &str) {
        match keyword {
            "SINGLE-VALUE" => self.is_single = true,
            "NO-USER-MODIFICATION" => self.is_of_server = true,
            "OBSOLETE" => self.is_obsolete = true,
            "STRUCTURAL" | "AUXILIARY" | "ABSTRACT" => keyword.clone_into(&mut self.class_kind),
            _ => {}
        }
    }

    fn split_length(&mut self) {
        if let Some((syntax, length)) = self.syntax.split_once('{') {
            let length = length.trim_end_matches('}').to_owned();
            (self.syntax, self.length) = (syntax.to_owned(), length);
        }
    }

    /// Returns the name to show: the first one, or else the OID.
    pub(crate) fn shown_name(&self) -> &str {
        self.names.first().map_or(&self.oid, String::as_str)
    }

    /// Returns true if a text is part of a name, of the OID or of the description.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let mut parts = self.names.iter().chain([&self.oid, &self.description]);
        parts.any(|part| part.to_lowercase().contains(&text))
    }

    /// Returns true if entries hold it for the server or its protocol.
    pub(crate) fn is_operational(&self) -> bool {
        !matches!(self.usage.as_str(), "" | "userApplications")
    }
}

/// Returns the words of a description; a quoted string is one word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => words.push(quoted(&mut letters)),
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

/// Returns a quoted string. `\27` and `\5C` are a quote and a backslash (RFC 4512, section 4.1).
fn quoted(letters: &mut impl Iterator<Item = char>) -> String {
    let text: String = letters.take_while(|next| *next != '\'').collect();
    text.replace("\\27", "'")
        .replace("\\5C", "\\")
        .replace("\\5c", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_read() {
        let text = "( 2.5.4.3 NAME ( 'cn' 'commonName' ) DESC 'Ada\\27s MUST (b' OBSOLETE SUP name \
                    EQUALITY caseIgnoreMatch SUBSTR caseIgnoreSubstringsMatch SYNTAX 1.2.3{64} \
                    SINGLE-VALUE USAGE directoryOperation X-ORIGIN ( 'a' 'b' ) )";
        let cn = SchemaElement::parse(text);
        assert_eq!((cn.oid.as_str(), cn.shown_name()), ("2.5.4.3", "cn"));
        assert_eq!(cn.description, "Ada's MUST (b");
        assert_eq!((cn.syntax.as_str(), cn.length.as_str()), ("1.2.3", "64"));
        assert_eq!(cn.equality, "caseIgnoreMatch");
        assert_eq!(cn.substrings, "caseIgnoreSubstringsMatch");
        assert!(cn.is_single && cn.is_obsolete && cn.is_operational() && !cn.is_of_server);
        assert!(cn.must.is_empty() && cn.superiors == ["name"]);
        assert!(cn.mentions("COMMON") && cn.mentions("2.5.4") && !cn.mentions("surname"));
        let syntax = SchemaElement::parse("( 1.2.3 DESC 'Audio' X-NOT-HUMAN-READABLE 'TRUE' )");
        assert_eq!(
            (syntax.shown_name(), syntax.description.as_str()),
            ("1.2.3", "Audio")
        );
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
            "{",
            "SYNTAX {",
        ] {
            SchemaElement::parse(text);
        }
    }
}
