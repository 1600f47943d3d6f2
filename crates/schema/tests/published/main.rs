//! Our definitions against what OpenLDAP publishes, and against the schema files it ships.

use fulgurite_schema::{
    AttributeType, Builtin, ClassKind, MatchingRule, ObjectClass, Schema, SchemaBuilder, Usage,
};

const PUBLISHED: &str = include_str!("../data/published.txt");

#[test]
fn every_published_definition_is_ours_too() {
    let schema = Schema::standard();
    let (mut attributes, mut classes) = (0, 0);
    for line in PUBLISHED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').collect();
        match fields.as_slice() {
            ["a", oid, names, rest @ ..] => {
                let ours = schema
                    .attribute(oid)
                    .unwrap_or_else(|| panic!("attribute type {oid} {names} is missing"));
                assert_eq!(ours.names.join(","), *names);
                compare_attribute(&schema, ours, rest);
                attributes += 1;
            }
            ["c", oid, names, rest @ ..] => {
                let ours = schema
                    .object_class(oid)
                    .unwrap_or_else(|| panic!("object class {oid} {names} is missing"));
                assert_eq!(ours.names.join(","), *names);
                compare_class(&schema, ours, rest);
                classes += 1;
            }
            _ => panic!("bad line: {line}"),
        }
    }
    assert_eq!((attributes, classes), (169, 62));
}

fn compare_attribute(schema: &Schema, ours: &AttributeType, published: &[&str]) {
    let [
        superior,
        syntax,
        equality,
        ordering,
        substring,
        flags,
        usage,
    ] = published
    else {
        panic!("bad fields: {published:?}")
    };
    let name = ours.name();
    let our_superior = ours
        .superior
        .map_or("", |index| schema.attribute_at(index).name());
    assert_eq!(our_superior, *superior, "{name}");
    // Unpublished fields are inherited.
    let inherited = |published: &str, ours: Option<&str>| {
        published.is_empty() && !superior.is_empty() || ours.unwrap_or("") == published
    };
    let rule = |rule: Option<&'static MatchingRule>| rule.map(|rule| rule.name);
    assert!(inherited(syntax, Some(ours.syntax.oid)), "{name}");
    assert!(inherited(equality, rule(ours.equality)), "{name}");
    assert!(inherited(ordering, rule(ours.ordering)), "{name}");
    assert!(inherited(substring, rule(ours.substring)), "{name}");
    let flags: Vec<&str> = flags.split(',').collect();
    assert_eq!(flags.contains(&"SINGLE-VALUE"), ours.single_value, "{name}");
    assert_eq!(
        flags.contains(&"NO-USER-MODIFICATION"),
        ours.no_user_modification,
        "{name}"
    );
    let our_usage = match ours.usage {
        Usage::UserApplications => "",
        Usage::DirectoryOperation => "directoryOperation",
        Usage::DistributedOperation => "distributedOperation",
        Usage::DsaOperation => "dSAOperation",
    };
    assert_eq!(our_usage, *usage, "{name}");
}

fn compare_class(schema: &Schema, ours: &ObjectClass, published: &[&str]) {
    let [superiors, kind, must, may] = published else {
        panic!("bad fields: {published:?}")
    };
    let name = ours.name();
    let index = |name: &str| schema.object_class(name).unwrap().index;
    let superiors: Vec<_> = superiors
        .split(',')
        .filter(|s| !s.is_empty())
        .map(index)
        .collect();
    assert_eq!(ours.superiors, superiors, "{name}");
    let our_kind = match ours.kind {
        ClassKind::Abstract => "ABSTRACT",
        ClassKind::Structural => "STRUCTURAL",
        ClassKind::Auxiliary => "AUXILIARY",
    };
    assert_eq!(our_kind, *kind, "{name}");
    // Ours include what is inherited.
    let attribute = |name: &str| schema.attribute(name).unwrap().index;
    let mut all_must: Vec<_> = must
        .split(',')
        .filter(|a| !a.is_empty())
        .map(attribute)
        .collect();
    let mut all_may: Vec<_> = may
        .split(',')
        .filter(|a| !a.is_empty())
        .map(attribute)
        .collect();
    for above in &superiors {
        all_must.extend(&schema.object_class_at(*above).must);
        all_may.extend(&schema.object_class_at(*above).may);
    }
    all_may.retain(|attribute| !all_must.contains(attribute));
    for list in [&mut all_must, &mut all_may] {
        list.sort_unstable();
        list.dedup();
    }
    assert_eq!(ours.must, all_must, "{name}");
    assert_eq!(ours.may, all_may, "{name}");
}

#[test]
fn rfc2307bis_has_auxiliary_groups() {
    let builder = [
        Builtin::Core,
        Builtin::Cosine,
        Builtin::InetOrgPerson,
        Builtin::Rfc2307bis,
    ]
    .into_iter()
    .fold(SchemaBuilder::new(), SchemaBuilder::builtin);
    let schema = builder.build().unwrap();
    assert_eq!(
        schema.object_class("posixGroup").unwrap().kind,
        ClassKind::Auxiliary
    );
    let both = SchemaBuilder::standard()
        .builtin(Builtin::Rfc2307bis)
        .build()
        .unwrap_err();
    assert!(
        both.to_string().contains("Inconsistent duplicate"),
        "{both}"
    );
}

#[test]
fn published_texts_read_back_as_the_same_schema() {
    let schema = SchemaBuilder::standard()
        .text(
            "extra",
            "ldapsyntax ( 1.3.6.1.4.1.32473.1 DESC 'odd' X-SUBST '1.3.6.1.4.1.1466.115.121.1.15' )\n\
             attributetype ( 1.3.6.1.4.1.32473.2 NAME 'odd' SYNTAX 1.3.6.1.4.1.32473.1{7} )\n\
             ditcontentrule ( 2.5.6.4 NAME 'orgRule' AUX ( dcObject $ labeledURIObject ) MUST ou NOT st )",
        )
        .unwrap()
        .build()
        .unwrap();
    let mut text = String::new();
    for syntax in schema
        .published_syntaxes()
        .filter(|syntax| syntax.contains("X-SUBST"))
    {
        text += &format!("ldapsyntax {syntax}\n");
    }
    schema
        .published_attribute_types()
        .for_each(|attribute| text += &format!("attributetype {attribute}\n"));
    schema
        .published_object_classes()
        .for_each(|class| text += &format!("objectclass {class}\n"));
    schema
        .published_content_rules()
        .for_each(|rule| text += &format!("ditcontentrule {rule}\n"));
    let again = SchemaBuilder::new()
        .text("published", &text)
        .unwrap()
        .build()
        .unwrap();
    assert!(
        schema
            .published_attribute_types()
            .eq(again.published_attribute_types())
            || {
                let sorted = |s: &Schema| {
                    let mut all: Vec<String> =
                        s.published_attribute_types().map(str::to_owned).collect();
                    all.sort();
                    all
                };
                sorted(&schema) == sorted(&again)
            }
    );
    assert_eq!(
        schema.published_content_rules().collect::<Vec<_>>(),
        again.published_content_rules().collect::<Vec<_>>()
    );
    assert!(schema.published_attribute_types().any(|text| text
        == "( 2.5.4.3 NAME ( 'cn' 'commonName' ) DESC 'name the object is commonly known by' SUP name )"));
    assert!(
        schema
            .published_attribute_types()
            .any(|text| text == "( 1.3.6.1.4.1.32473.2 NAME 'odd' SYNTAX 1.3.6.1.4.1.32473.1{7} )")
    );
    assert!(schema.published_object_classes().any(|text| text
        == "( 2.5.6.6 NAME 'person' DESC 'a human being' SUP top STRUCTURAL MUST ( sn $ cn ) MAY ( userPassword $ telephoneNumber $ seeAlso $ description ) )"));
    assert!(
        schema.published_matching_rules().any(|text| text
            == "( 2.5.13.2 NAME 'caseIgnoreMatch' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )")
    );
    assert!(
        schema
            .published_matching_rule_uses()
            .any(|text| text == "( 2.5.13.23 NAME 'uniqueMemberMatch' APPLIES uniqueMember )")
    );
    assert!(
        schema.published_syntaxes().any(|text| text
            == "( 1.3.6.1.4.1.1466.115.121.1.28 DESC 'JPEG' X-NOT-HUMAN-READABLE 'TRUE' )")
    );
}
