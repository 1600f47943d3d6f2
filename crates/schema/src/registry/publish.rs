//! The texts of cn=Subschema (RFC 4512, section 4.2), in the form OpenLDAP prints them.

use super::Schema;
use crate::matching::{MatchingRule, Relation};
use crate::syntax::{Binary, Syntax};

impl Schema {
    /// Values of `attributeTypes`.
    pub fn published_attribute_types(&self) -> impl Iterator<Item = &str> {
        self.attributes()
            .iter()
            .filter(|attribute| !attribute.hidden)
            .map(|attribute| attribute.published.as_str())
    }

    /// Values of `objectClasses`.
    pub fn published_object_classes(&self) -> impl Iterator<Item = &str> {
        self.object_classes()
            .iter()
            .filter(|class| !class.hidden)
            .map(|class| class.published.as_str())
    }

    /// Values of `dITContentRules`.
    pub fn published_content_rules(&self) -> impl Iterator<Item = &str> {
        self.content_rules
            .iter()
            .map(|rule| rule.published.as_str())
    }

    /// Values of `nameForms`.
    pub fn published_name_forms(&self) -> impl Iterator<Item = &str> {
        self.forms.name_forms.iter().map(String::as_str)
    }

    /// Values of `dITStructureRules`.
    pub fn published_structure_rules(&self) -> impl Iterator<Item = &str> {
        self.forms.structure_rules.iter().map(String::as_str)
    }

    /// Values of `ldapSyntaxes`.
    pub fn published_syntaxes(&self) -> impl Iterator<Item = String> {
        Syntax::all()
            .iter()
            .filter(|syntax| !syntax.hidden)
            .map(syntax_text)
            .chain(self.defined_syntaxes.iter().cloned())
    }

    /// Values of `matchingRules`.
    pub fn published_matching_rules(&self) -> impl Iterator<Item = String> {
        MatchingRule::all().iter().map(|rule| {
            format!(
                "( {} NAME '{}' SYNTAX {} )",
                rule.oid, rule.name, rule.syntax
            )
        })
    }

    /// Values of `matchingRuleUse`: for each rule the user may name, the attributes it applies to.
    pub fn published_matching_rule_uses(&self) -> impl Iterator<Item = String> {
        MatchingRule::all()
            .iter()
            .filter_map(|rule| self.matching_rule_use(rule))
    }

    fn matching_rule_use(&self, rule: &MatchingRule) -> Option<String> {
        if rule.relation == Relation::Substrings {
            return None;
        }
        let names: Vec<&str> = self
            .attributes()
            .iter()
            .filter(|attribute| rule.applies_to(attribute.equality, attribute.syntax.oid))
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
