//! Inputs whose meaning depends on a schema: definitions, values, names, access rules.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use fulgurite_access::{RuleText, Rules, Selector, WithoutRules};
use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{
    Dn, Entry, EntrySubject, Filter, MatchingRule, Schema, SchemaBuilder, Syntax, Truth,
};

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(Schema::standard);

/// Definitions in any of their forms: read and, if they resolve, published and read again.
pub fn schema_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let built = SchemaBuilder::new()
        .text("input", text)
        .and_then(SchemaBuilder::build);
    let Ok(schema) = built else { return };
    let mut published = String::new();
    let syntaxes = schema.published_syntaxes();
    for syntax in syntaxes.filter(|syntax| syntax.contains("X-SUBST")) {
        let _ = writeln!(published, "ldapsyntax {syntax}");
    }
    for attribute in schema.published_attribute_types() {
        let _ = writeln!(published, "attributetype {attribute}");
    }
    for class in schema.published_object_classes() {
        let _ = writeln!(published, "objectclass {class}");
    }
    for rule in schema.published_content_rules() {
        let _ = writeln!(published, "ditcontentrule {rule}");
    }
    // An administrator's class may not have operational attributes, though ours do.
    let again = SchemaBuilder::new().text("published", &published);
    if let Err(error) = again.and_then(SchemaBuilder::build) {
        let ours = error
            .to_string()
            .contains("includes operational attributes");
        assert!(ours, "{error}\n{published}");
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
        let _ = syntax.validate(&**SCHEMA, bytes);
    }
    for rule in MatchingRule::all() {
        let Ok(normal) = rule.normalise(&**SCHEMA, bytes) else {
            continue;
        };
        let _ = rule.matches(&**SCHEMA, &normal, bytes);
        let _ = rule.compare(&**SCHEMA, bytes, &normal);
        if let Ok(assertion) = rule.normalise_assertion(&**SCHEMA, bytes) {
            let _ = rule.matches(&**SCHEMA, &assertion, bytes);
        }
    }
    for attribute in [
        "member",
        "uniqueMember",
        "entryUUID",
        "entryCSN",
        "objectClass",
    ] {
        if let Some(attribute) = SCHEMA.attribute(attribute) {
            let pretty = SCHEMA.pretty_value(attribute.index, bytes).into_owned();
            assert_eq!(*SCHEMA.pretty_value(attribute.index, &pretty), *pretty);
        }
    }
}

/// Resolves a name; if that works, prints, splits, joins and compares it.
pub fn schema_name(bytes: &[u8]) {
    let schema = Schema::standard();
    let Ok(name) = Dn::parse_bytes(&schema, bytes) else {
        return;
    };
    let again = Dn::parse(&schema, name.pretty()).expect("what we print is a name");
    assert_eq!(
        (again.normal(), again.pretty()),
        (name.normal(), name.pretty())
    );
    if let (Some(parent), Some(leaf)) = (name.parent(), name.leaf()) {
        assert!(name.is_under(&parent) && !parent.is_within(&name));
        let whole = parent.child(&leaf);
        assert_eq!(
            (whole.normal(), whole.pretty()),
            (name.normal(), name.pretty())
        );
    }
    let rule = MatchingRule::find("distinguishedNameMatch").expect("a built-in rule");
    for text in [bytes, name.pretty().as_bytes()] {
        let same = rule.matches(&*schema, name.normal().as_bytes(), text);
        assert_eq!(same, Truth::True);
    }
}

/// A filter's text: resolved, and asked of an entry. The opposite has the opposite outcome.
pub fn schema_filter(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(filter) = FilterBuf::parse(text) else {
        return;
    };
    let schema = Schema::standard();
    let entry = sample(&schema);
    let subject = EntrySubject {
        schema: &schema,
        entry: &entry,
    };
    let resolved = Filter::resolve(&schema, &filter.filter());
    let outcome = resolved.test(&schema, &subject);
    let opposite = Filter::Not(Box::new(resolved));
    assert_eq!(opposite.test(&schema, &subject), outcome.not());
}

fn sample(schema: &Schema) -> Entry {
    let dn = Dn::parse(schema, "cn=Jane Doe+uid=jane,dc=example").expect("a name");
    let mut entry = Entry::new(dn);
    for (name, value) in [
        ("objectClass", "inetOrgPerson"),
        ("cn", "Jane  Doe"),
        ("cn;lang-de", "Johanna Döring"),
        ("sn", "Doe"),
        ("uidNumber", "1007"),
        ("mail", "Jane.Doe@Example.COM"),
        ("telephoneNumber", "+49 30 123-456"),
        ("manager", "uid=Boss, dc=example"),
        ("postalAddress", "1 Main St$Some  Town"),
        ("createTimestamp", "20240131101112Z"),
        ("entryUUID", "597ae2f6-16a6-1027-98f4-d28b5365dc14"),
        ("entryCSN", "20240131101112.123456Z#000000#001#000000"),
    ] {
        let description = schema.describe(name.as_bytes()).expect("a built-in type");
        entry.push(&description, value.into());
    }
    entry
}
