//! Rules that OpenLDAP 2.5 accepts, and rules that it refuses.

use std::sync::Arc;

use fulgurite_access::{RuleText, Rules, WithoutRules};
use fulgurite_schema::{Builtin, SchemaBuilder};

/// A rule a line: `+` if slapd accepts it, `-` if not. A `!` in front marks a deliberate
/// difference.
const VERDICTS: &str = include_str!("verdicts.txt");

#[test]
fn rules_are_accepted_and_refused_as_by_slapd() {
    let dyngroup = Builtin::find("dyngroup").expect("a part of the schema");
    let schema = SchemaBuilder::standard().builtin(dyngroup).build();
    let schema = Arc::new(schema.expect("a schema"));
    let mut wrong = Vec::new();
    for line in VERDICTS.lines().filter(|line| !line.starts_with('#')) {
        let (deliberate, verdict) = match line.strip_prefix('!') {
            None => (false, line),
            Some(rest) => (true, rest),
        };
        let (verdict, text) = verdict.split_at(1);
        let text = RuleText::from(text.trim_start());
        let parsed = Rules::parse(&schema, [&text], WithoutRules::default());
        if parsed.is_ok() != ((verdict == "+") != deliberate) {
            let said = parsed.err().map(|error| error.to_string());
            wrong.push(format!("{line}\n      {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn selectors_of_a_later_release_are_refused_by_name() {
    let schema = Arc::new(SchemaBuilder::standard().build().expect("a schema"));
    for text in ["to op=add by * read", "to attrs=cn control=1.2.3 by * read"] {
        let parsed = Rules::parse(&schema, [&RuleText::from(text)], WithoutRules::default());
        let error = parsed.expect_err("refused").to_string();
        assert!(
            error.contains("op= and control= of OpenLDAP 2.7"),
            "{error}"
        );
    }
}
