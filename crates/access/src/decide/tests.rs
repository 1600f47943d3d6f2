use std::sync::Arc;

use fulgurite_schema::{Dn, Schema};

use crate::{Level, NoFacts, Requester, RuleError, RuleText, Rules, WithoutRules};

const JANE: &str = "uid=jane,ou=people,dc=example,dc=com";
const JOHN: &str = "uid=john,ou=people,dc=example,dc=com";

fn parse(schema: &Arc<Schema>, texts: &[&str]) -> Result<Rules, RuleError> {
    let texts: Vec<RuleText> = texts.iter().map(|&text| text.into()).collect();
    Rules::parse(schema, &texts, WithoutRules::Protected)
}

fn rules(schema: &Arc<Schema>, texts: &[&str]) -> Rules {
    parse(schema, texts).expect("rules parse")
}

fn normal(schema: &Schema, name: &str) -> String {
    Dn::parse(schema, name).expect("a name").normal().to_owned()
}

/// Returns the level of `who` on `attribute` (or `entry`, `children`) of the entry `name`.
fn level(schema: &Schema, rules: &Rules, who: &str, name: &str, part: &str) -> Level {
    let normal_who = match who {
        "" | "root" => String::new(),
        name => normal(schema, name),
    };
    let requester = match who {
        "root" => Requester::root(),
        _ => Requester::user(&normal_who),
    };
    let name = normal(schema, name);
    let decisions = rules.decide(&requester);
    let rights = decisions.at(&name, &NoFacts);
    let rights = match part {
        "entry" => rights.entry(),
        "children" => rights.children(),
        attribute => rights.attribute_type(schema.attribute(attribute).expect(attribute).index),
    };
    let level = rights.level();
    assert_eq!(rights, level.rights(), "{who:?} on {part} of {name}");
    level
}

#[test]
fn without_rules_everybody_reads_all_but_passwords() {
    let schema = Schema::standard();
    let rules = rules(&schema, &[]);
    for who in ["", JANE, JOHN] {
        assert_eq!(level(&schema, &rules, who, JANE, "cn"), Level::Read);
        assert_eq!(level(&schema, &rules, who, JANE, "entry"), Level::Read);
        for secret in ["userPassword", "authPassword"] {
            assert_eq!(level(&schema, &rules, who, JANE, secret), Level::Auth);
        }
    }
    for part in ["cn", "userPassword", "authPassword", "entry", "children"] {
        assert_eq!(level(&schema, &rules, "root", JANE, part), Level::Manage);
    }
    assert!(rules.decide(&Requester::user("whoever")).uniform());
}

#[test]
fn matrix_of_subjects_and_targets() {
    let schema = Schema::standard();
    let rules = rules(
        &schema,
        &[
            "to attrs=userPassword by self write by anonymous auth by * none",
            r#"to dn.subtree="ou=people,dc=example,dc=com" attrs=mail,telephoneNumber
               by self write by users read"#,
            r#"to dn.children="ou=people, DC=example,dc=com" attrs=entry by * read"#,
            r#"to dn.one="dc=example,dc=com" by dn.subtree="ou=admins,dc=example,dc=com" write by * search"#,
            r#"to dn.exact="dc=example,dc=com" by dn="uid=john,ou=people,dc=example,dc=com" compare by * disclose"#,
            "to attrs=name by users read by * search stop",
        ],
    );
    let admin = "cn=boss,ou=admins,dc=example,dc=com";
    let people = "ou=people,dc=example,dc=com";
    let top = "dc=example,dc=com";
    let outside = "cn=x,dc=other";
    for (who, name, part, expected) in [
        (JANE, JANE, "userPassword", Level::Write),
        (JANE, JOHN, "userPassword", Level::None),
        ("", JOHN, "userPassword", Level::Auth),
        (JANE, JANE, "mail", Level::Write),
        (JOHN, JANE, "mail", Level::Read),
        ("", JANE, "mail", Level::None),
        ("", JANE, "entry", Level::Read),
        ("", people, "entry", Level::Search),
        (admin, people, "description", Level::Write),
        (admin, people, "children", Level::Write),
        (JOHN, people, "children", Level::Search),
        (JOHN, top, "description", Level::Compare),
        (JANE, top, "description", Level::Disclose),
        // A supertype in a rule includes its subtypes.
        (JANE, JOHN, "cn", Level::Read),
        ("", JOHN, "cn", Level::Search),
        // No rule is about these.
        (JANE, JOHN, "description", Level::None),
        (JANE, outside, "entry", Level::None),
        ("root", outside, "entry", Level::Manage),
    ] {
        assert_eq!(
            level(&schema, &rules, who, name, part),
            expected,
            "{who:?} on {part} of {name}"
        );
    }
}

#[test]
fn classes_expand_to_their_attributes() {
    let schema = Schema::standard();
    let rules = rules(&schema, &["to attrs=@person,entry by * read"]);
    assert_eq!(level(&schema, &rules, "", JANE, "sn"), Level::Read);
    assert_eq!(level(&schema, &rules, "", JANE, "entry"), Level::Read);
    assert_eq!(level(&schema, &rules, "", JANE, "mail"), Level::None);
}

#[test]
fn later_items_cannot_include_excluded_classes() {
    let schema = Schema::standard();
    let of = |list: &str, part: &str| {
        let rules = rules(&schema, &[&format!("to attrs={list} by * read")]);
        level(&schema, &rules, "", JANE, part)
    };
    assert_eq!(of("!person", "sn"), Level::None);
    assert_eq!(of("!person", "mail"), Level::Read);
    assert_eq!(of("!person", "entry"), Level::Read);
    assert_eq!(of("!person,sn", "sn"), Level::None);
    assert_eq!(of("sn,!person", "sn"), Level::Read);
    assert_eq!(of("!extensibleObject", "entry"), Level::None);
}

#[test]
fn uniform_and_named_decisions_agree() {
    let schema = Schema::standard();
    let uniform = rules(&schema, &["to attrs=cn by users read", "to * by * search"]);
    let named = rules(
        &schema,
        &[
            r#"to dn.base="cn=nobody,dc=nowhere" by * none"#,
            "to attrs=cn by users read",
            "to * by * search",
        ],
    );
    assert!(uniform.decide(&Requester::anonymous()).uniform());
    assert!(!named.decide(&Requester::anonymous()).uniform());
    for who in ["", JANE] {
        for attribute in schema.attributes() {
            assert_eq!(
                level(&schema, &uniform, who, JOHN, attribute.name()),
                level(&schema, &named, who, JOHN, attribute.name()),
                "{}",
                attribute.name()
            );
        }
    }
}

#[test]
fn errors_point_at_the_place() {
    let schema = Schema::standard();
    for (text, column, reason) in [
        ("", 1, "expected \"to\""),
        ("grant *", 1, "expected \"to\""),
        ("to", 3, "expected \"by\""),
        ("to * by nobody read", 9, "expected *, anonymous"),
        ("to * by * rea", 11, "unknown access \"rea\""),
        ("to *", 5, "expected \"by\""),
        ("to * by", 8, "expected *, anonymous"),
        (
            "to attrs=cn,nope by * read",
            13,
            "nope: neither an attribute type nor an object class",
        ),
        (
            "to attrs=@nope by * read",
            10,
            "nope: object class undefined",
        ),
        ("to dn.regex=\"(\" by * read", 13, "regular expression"),
        ("to dn.nope=\"dc=x\" by * read", 4, "unknown style"),
        ("to dn.base=\"no name\" by * read", 12, "invalid DN"),
        ("to dn.base=\"dc=x by * read", 12, "quote is not closed"),
        ("to * by * read extra", 16, "unexpected \"extra\""),
    ] {
        let error: RuleError = parse(&schema, &["to * by * read", text]).expect_err(text);
        assert_eq!((error.rule, error.column), (2, column), "{text}: {error}");
        assert!(error.reason.contains(reason), "{text}: {error}");
    }
}

#[test]
fn stored_rights_of_one_requester_do_not_reach_another() {
    let schema = Schema::standard();
    let texts = [
        "to attrs=userPassword by * auth",
        "to attrs=mail,sn by users read by * search",
        "to attrs=title by group=\"cn=g,dc=example,dc=com\" write by * none",
        "to * by dn.exact=\"uid=jane,ou=people,dc=example,dc=com\" write by * read",
    ];
    let with_group = rules(&schema, &texts);
    let without = rules(&schema, &[texts[0], texts[1], texts[3]]);
    // Twice, so that the second round is answered from what was kept of the first.
    for _ in 0..2 {
        for rules in [&with_group, &without] {
            let level = |who, part| level(&schema, rules, who, "dc=example,dc=com", part);
            let password = "userPassword";
            assert_eq!(level("", password), Level::Auth);
            assert_eq!(level(JOHN, password), Level::Auth);
            assert_eq!(level("", "mail"), Level::Search);
            assert_eq!([level(JANE, "sn"), level(JOHN, "mail")], [Level::Read; 2]);
            assert_eq!([level("", "cn"), level(JOHN, "entry")], [Level::Read; 2]);
            assert_eq!([level(JANE, "cn"), level(JANE, "entry")], [Level::Write; 2]);
        }
    }
}

#[test]
fn more_kinds_of_requesters_than_are_kept() {
    let schema = Schema::standard();
    let name = |n: u32| format!("uid=u{n},dc=example,dc=com");
    let texts: Vec<String> = (0..40)
        .map(|n| format!("to attrs=sn by dn.exact=\"{}\" write by * break", name(n)))
        .chain(["to * by * read".to_owned()])
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rules = rules(&schema, &texts);
    for n in (0..45).chain(0..45) {
        let wanted = if n < 40 { Level::Write } else { Level::Read };
        assert_eq!(level(&schema, &rules, &name(n), JANE, "sn"), wanted, "{n}");
        assert_eq!(level(&schema, &rules, &name(n), JANE, "cn"), Level::Read);
    }
}
