//! Definitions as their texts have them: names are not looked up yet.

use std::sync::Arc;

use super::kind::{ClassKind, Usage};

/// Where a definition starts.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) origin: Arc<str>,
    pub(crate) line: usize,
}

/// X- extensions, in order.
pub(crate) type Extensions = Vec<(String, Vec<String>)>;

/// The author of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The server, and it publishes it.
    Builtin,
    /// The server, for its own use: in force, but not published.
    Hidden,
    /// The administrator, in a file or in the configuration.
    File,
}

/// One definition and its place.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) location: Location,
    pub(crate) origin: Origin,
    pub(crate) body: Body,
}

impl Definition {
    /// Returns true if two definitions of the same kind share an OID or a name.
    pub(crate) fn clashes_with(&self, other: &Definition) -> bool {
        let (a, b) = (self.body.head(), other.body.head());
        let same_kind = std::mem::discriminant(&self.body) == std::mem::discriminant(&other.body);
        let shares_name = || {
            a.names
                .iter()
                .any(|name| b.names.iter().any(|n| n.eq_ignore_ascii_case(name)))
        };
        same_kind && (a.oid == b.oid || shares_name())
    }
}

/// The body of a definition, by its kind.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    AttributeType(AttributeTypeText),
    ObjectClass(ObjectClassText),
    ContentRule(ContentRuleText),
    Syntax(SyntaxText),
    NameForm(NameFormText),
    StructureRule(StructureRuleText),
}

impl Body {
    fn head(&self) -> &Head {
        match self {
            Body::AttributeType(text) => &text.head,
            Body::ObjectClass(text) => &text.head,
            Body::ContentRule(text) => &text.head,
            Body::Syntax(text) => &text.head,
            Body::NameForm(text) => &text.head,
            Body::StructureRule(text) => &text.head,
        }
    }
}

/// The fields that all descriptions begin with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) oid: String,
    pub(crate) names: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) obsolete: bool,
    pub(crate) extensions: Extensions,
}

impl Head {
    /// Returns the first name or the OID, by which messages call the definition.
    pub(crate) fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct AttributeTypeText {
    pub(crate) head: Head,
    pub(crate) superior: Option<String>,
    pub(crate) equality: Option<String>,
    pub(crate) ordering: Option<String>,
    pub(crate) substring: Option<String>,
    pub(crate) syntax: Option<String>,
    pub(crate) length_hint: Option<u32>,
    pub(crate) single_value: bool,
    pub(crate) collective: bool,
    pub(crate) no_user_modification: bool,
    pub(crate) usage: Usage,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectClassText {
    pub(crate) head: Head,
    pub(crate) superiors: Vec<String>,
    pub(crate) kind: ClassKind,
    pub(crate) must: Vec<String>,
    pub(crate) may: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ContentRuleText {
    pub(crate) head: Head,
    pub(crate) auxiliary: Vec<String>,
    pub(crate) must: Vec<String>,
    pub(crate) may: Vec<String>,
    pub(crate) not: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SyntaxText {
    pub(crate) head: Head,
}

/// How entries of a structural class are named (RFC 4512, section 4.1.7.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct NameFormText {
    pub(crate) head: Head,
    pub(crate) class: String,
    pub(crate) must: Vec<String>,
    pub(crate) may: Vec<String>,
}

/// Where entries may stand (RFC 4512, section 4.1.7.1); the head's `oid` is the rule's number.
#[derive(Clone, Debug, Default)]
pub(crate) struct StructureRuleText {
    pub(crate) head: Head,
    pub(crate) form: String,
    pub(crate) superiors: Vec<String>,
}

impl SyntaxText {
    /// Returns the OID of the syntax that substitutes this one (X-SUBST).
    pub(crate) fn substitute(&self) -> Option<&str> {
        self.head
            .extensions
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("X-SUBST"))
            .and_then(|(_, values)| values.first().map(String::as_str))
    }
}
