//! The texts of cn=Subschema (RFC 4512, section 4.2), in the form OpenLDAP prints them.

use super::schema::Schema;
use crate::matching::{MatchingRule, RuleKind};
use crate::syntax::{Binary, Syntax};

impl Schema {
    /// Returns the values of `attributeTypes`.
    pub fn published_attribute_types(&self) -> impl Iterator<Item = &str> {
        self.attributes()
            .iter()
            .filter(|attribute| !attribute.hidden)
            .map(|attribute| attribute.published.as_str())
    }

    /// Returns the values of `objectClasses`.
    pub fn published_object_classes(&self) -> impl Iterator<Item = &str> {
        self.object_classes()
            .iter()
            .filter(|class| !class.hidden)
            .map(|class| class.published.as_str())
    }

    /// Returns the values of `dITContentRules`.
    pub fn published_content_rules(&self) -> impl Iterator<Item = &str> {
        self.parts
            .content_rules
            .iter()
            .map(|rule| rule.published.as_str())
    }

    /// Returns the values of `nameForms`.
    pub fn published_name_forms(&self) -> impl Iterator<Item = &str> {
        self.parts.name_forms.iter().map(String::as_str)
    }

    /// Returns the values of `dITStructureRules`.
    pub fn published_structure_rules(&self) -> impl Iterator<Item = &str> {
        self.parts.structure_rules.iter().map(String::as_str)
    }

    /// Returns the values of `ldapSyntaxes`.
    pub fn published_syntaxes(&self) -> impl Iterator<Item = String> {
        Syntax::all()
            .iter()
            .filter(|syntax| !syntax.hidden)
            .map(syntax_text)
            .chain(self.parts.defined_syntaxes.iter().cloned())
    }

    /// Returns the values of `matchingRules`.
    pub fn published_matching_rules(&self) -> impl Iterator<Item = String> {
        published_rules().map(|rule| {
            format!(
                "( {} NAME '{}' SYNTAX {} )",
                rule.oid, rule.name, rule.syntax
            )
        })
    }

    /// Returns the values of `matchingRuleUse`: for each rule the user may name, the attributes it
    /// applies to.
    pub fn published_matching_rule_uses(&self) -> impl Iterator<Item = String> {
        published_rules().filter_map(|rule| self.matching_rule_use(rule))
    }

    fn matching_rule_use(&self, rule: &MatchingRule) -> Option<String> {
        if rule.kind == RuleKind::Substrings {
            return None;
        }
        let names: Vec<&str> = self
            .attributes()
            .iter()
            .filter(|attribute| {
                rule.applies_to(attribute.equality, attribute.syntax.oid)
                    && !attribute.hidden
                    && !WITHOUT_USE.contains(&attribute.oid.as_str())
            })
            .map(|attribute| attribute.name())
            .collect();
        let applies = match names.as_slice() {
            [] => return None,
            [one] => (*one).to_owned(),
            many => format!("( {} )", many.join(" $ ")),
        };
        Some(format!(
            "( {} NAME '{}' APPLIES {applies} )",
            rule.oid, rule.name
        ))
    }
}

/// Returns the published rules, in OpenLDAP's order.
fn published_rules() -> impl Iterator<Item = &'static MatchingRule> {
    MatchingRule::all()
        .iter()
        .rev()
        .filter(|rule| rule.published)
}

/// Attributes that `matchingRuleUse` leaves out: objectClass, structuralObjectClass, the values of
/// the subschema, entryUUID and CSNs, private keys.
const WITHOUT_USE: [&str; 10] = [
    "2.5.4.0",
    "2.5.21.9",
    "2.5.21.4",
    "2.5.21.5",
    "2.5.21.6",
    "2.5.21.8",
    "1.3.6.1.1.16.4",
    "1.3.6.1.4.1.4203.666.1.7",
    "1.3.6.1.4.1.4203.666.1.25",
    "1.3.6.1.4.1.4203.666.1.60",
];

fn syntax_text(syntax: &Syntax) -> String {
    let extensions = match syntax.binary {
        Binary::No | Binary::PrivateTransfer => "",
        Binary::Opaque => " X-NOT-HUMAN-READABLE 'TRUE'",
        Binary::Transfer => " X-BINARY-TRANSFER-REQUIRED 'TRUE' X-NOT-HUMAN-READABLE 'TRUE'",
    };
    format!(
        "( {} DESC '{}'{extensions} )",
        syntax.oid, syntax.description
    )
}
