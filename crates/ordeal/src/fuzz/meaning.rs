//! What has a meaning only with a schema: definitions, values, names, access rules.

use std::sync::{Arc, LazyLock};

use fulgurite_access::{RuleText, Rules, Selector, WithoutRules};
use fulgurite_schema::{Dn, MatchingRule, Schema, SchemaBuilder, Syntax};

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(Schema::standard);

/// Definitions in any of their forms: read, and if they stand together, published.
pub fn schema_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match SchemaBuilder::new()
        .text("fuzzed", &text)
        .and_then(SchemaBuilder::build)
    {
        Ok(schema) => assert!(schema.attribute("objectClass").is_some()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A rule on each line; those that compile do so again.
pub fn access_rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(50) {
        let rule = RuleText::from(line.to_owned());
        if let Err(error) = Rules::parse(&SCHEMA, [&rule], WithoutRules::default()) {
            assert!(!error.to_string().is_empty());
        }
        let _ = Selector::parse(&SCHEMA, line);
    }
}

/// A value under every syntax and matching rule: what is equal to itself in normal form stays so.
pub fn schema_values(bytes: &[u8]) {
    for syntax in Syntax::all() {
        let _ = syntax.validate(&SCHEMA, bytes);
    }
    for rule in MatchingRule::all() {
        let Ok(normal) = rule.normalise(&SCHEMA, bytes) else {
            continue;
        };
        let _ = rule.matches(&SCHEMA, &normal, bytes);
        let _ = rule.compare(&SCHEMA, bytes, &normal);
        if let Ok(assertion) = rule.normalise_assertion(&SCHEMA, bytes) {
            let _ = rule.matches(&SCHEMA, &assertion, bytes);
        }
    }
}

/// A name under the schema: what is printed means the same.
pub fn schema_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(dn) = Dn::parse(&SCHEMA, text) {
        let again = Dn::parse(&SCHEMA, dn.pretty()).expect("what is printed is a name");
        assert_eq!(again.normal(), dn.normal());
        assert_eq!(again.pretty(), dn.pretty());
    }
}
