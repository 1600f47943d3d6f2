//! Definitions that do not resolve: each kind of fault, with its place.

use fulgurite_schema::{Builtin, SchemaBuilder};

fn fault(text: &str) -> String {
    match SchemaBuilder::standard()
        .text("site.schema", text)
        .and_then(SchemaBuilder::build)
    {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn faults_name_file_line_and_definition() {
    const X: &str = "1.3.6.1.4.1.32473";
    for (text, expected) in [
        (
            format!("\nattributetype ( {X}.1 NAME 'x' SUP nosuch )"),
            "site.schema:2: attributetype: AttributeType not found: \"nosuch\"",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SYNTAX 1.2.3 )"),
            "site.schema:1: attributetype: Syntax not found: \"1.2.3\"",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name EQUALITY nosuchMatch )"),
            "site.schema:1: attributetype: MatchingRule not found: \"nosuchMatch\"",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name EQUALITY caseIgnoreSubstringsMatch )"),
            "site.schema:1: attributetype: AttributeType inappropriate matching rule: \"caseIgnoreSubstringsMatch\"",
        ),
        (
            format!(
                "attributetype ( {X}.1 NAME 'x' SUP y )\nattributetype ( {X}.2 NAME 'y' SUP x )"
            ),
            "site.schema:1: attributetype: \"x\" is its own SUPerior",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name USAGE dSAOperation )"),
            "site.schema:1: attributetype: AttributeType inappropriate USAGE: \"x\"",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name NO-USER-MODIFICATION )"),
            "site.schema:1: attributetype: AttributeType inappropriate USAGE: \"x\"",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'CN' SUP name )"),
            "site.schema:1: attributetype: Inconsistent duplicate attributeType: \"CN\" is 2.5.4.3 at builtin/system:",
        ),
        (
            "attributetype ( 2.5.4.4 NAME ( 'sn' 'surname' ) SUP name SINGLE-VALUE )".to_owned(),
            "site.schema:1: attributetype: Inconsistent duplicate attributeType: \"2.5.4.4\" is 'sn' with different SINGLE-VALUE at builtin/core:",
        ),
        (
            "attributetype ( 2.5.4.4 NAME 'sn' SUP name )".to_owned(),
            "site.schema:1: attributetype: Inconsistent duplicate attributeType: \"2.5.4.4\" is 'sn' with different names at builtin/core:",
        ),
        (
            "attributetype ( 2.5.4.4 NAME ( 'SURNAME' 'sn' ) DESC 'other words' SUP 2.5.4.41 )"
                .to_owned(),
            "accepted",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP nosuch )"),
            "site.schema:1: objectclass: ObjectClass not found: \"nosuch\"",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP top MUST nosuch )"),
            "site.schema:1: objectclass: AttributeType not found: \"nosuch\"",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP dcObject STRUCTURAL )"),
            "site.schema:1: objectclass: user-defined ObjectClass has inappropriate SUPerior: \"dcObject\"",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP y )\nobjectclass ( {X}.2 NAME 'y' SUP x )"),
            "site.schema:1: objectclass: \"x\" is its own SUPerior",
        ),
        (
            "objectclass ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST cn )".to_owned(),
            "site.schema:1: objectclass: Inconsistent duplicate objectClass: \"2.5.6.6\" is 'person' with different MUST at builtin/core:",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP top MAY creatorsName )"),
            "site.schema:1: objectclass: user-defined ObjectClass includes operational attributes: \"( 1.3.6.1.4.1.32473.1 NAME 'x' SUP top STRUCTURAL MAY creatorsName )\"",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name COLLECTIVE SINGLE-VALUE )"),
            "site.schema:1: attributetype: AttributeType inappropriate USAGE: \"x\"",
        ),
        (
            "ditcontentrule ( 2.5.6.21 NAME 'x' )".to_owned(),
            "site.schema:1: ditcontentrule: Content Rule not for STRUCTURAL object class: \"2.5.6.21\"",
        ),
        (
            "ditcontentrule ( 2.5.6.6 NAME 'x' AUX organization )".to_owned(),
            "site.schema:1: ditcontentrule: Content Rule AUX contains inappropriate object class: \"organization\"",
        ),
        (
            "ditcontentrule ( 2.5.6.6 NAME 'x' NOT ( sn $ cn ) MUST cn )".to_owned(),
            "site.schema:1: ditcontentrule: Content Rule attribute type list contains duplicate: \"cn\"",
        ),
        (
            "ditcontentrule ( 1.2.3 NAME 'x' )".to_owned(),
            "site.schema:1: ditcontentrule: ObjectClass not found: \"1.2.3\"",
        ),
        (
            format!("ldapsyntax ( {X}.1 DESC 'x' X-SUBST '1.2.3' )"),
            "site.schema:1: ldapsyntax: Substitute syntax not found: \"( 1.3.6.1.4.1.32473.1 DESC 'x' X-SUBST '1.2.3' )\"",
        ),
    ] {
        let fault = fault(&text);
        // The position of the other definition is not part of the expected text.
        if expected.ends_with(':') {
            assert!(fault.starts_with(expected), "{text}: {fault}");
        } else {
            assert_eq!(fault, expected, "{text}");
        }
    }
}

#[test]
fn definitions_of_a_file_replace_spare_ones() {
    let ours = SchemaBuilder::standard().build().unwrap();
    assert!(ours.attribute("memberOf").unwrap().is_operational());
    let text = "attributetype ( 1.2.840.113556.1.2.102 NAME 'memberOf' SYNTAX 1.3.6.1.4.1.1466.115.121.1.12 )";
    let theirs = SchemaBuilder::standard()
        .text("site.schema", text)
        .unwrap()
        .build()
        .unwrap();
    assert!(!theirs.attribute("memberOf").unwrap().is_operational());
}

#[test]
fn a_missing_file_is_named() {
    let error = SchemaBuilder::standard()
        .file(std::path::Path::new("/nonexistent/site.schema"))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read schema file /nonexistent/site.schema: "),
        "{error}"
    );
}

#[test]
fn every_built_in_part_resolves_with_its_requirements() {
    for part in Builtin::ALL {
        let schema = SchemaBuilder::new().builtin(part).build();
        assert!(schema.is_ok(), "{}: {}", part.name(), schema.unwrap_err());
        assert_eq!(Builtin::find(&part.name().to_uppercase()), Some(part));
    }
    assert_eq!(Builtin::find("nosuch"), None);
    // All at once, but for the one that excludes another.
    let all = Builtin::ALL
        .into_iter()
        .filter(|part| *part != Builtin::Nis)
        .fold(SchemaBuilder::new(), SchemaBuilder::builtin)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    for name in [
        "sshPublicKey",
        "sudoCommand",
        "sambaSID",
        "eduPersonOrcid",
        "sAMAccountName",
    ] {
        assert!(all.attribute(name).is_some(), "{name}");
    }
}

#[test]
fn the_same_definitions_in_three_forms() {
    const OPENLDAP: &str = "objectidentifier Site 1.3.6.1.4.1.32473
objectidentifier siteAt Site:1
\
        attributetype ( siteAt:1 NAME 'badge' SUP name SINGLE-VALUE )
\
        objectclass ( Site:2 NAME 'visitor' SUP top AUXILIARY MAY badge )
";
    const CONFIG: &str = "dn: cn=site,cn=schema,cn=config
objectClass: olcSchemaConfig
cn: site
\
        olcObjectClasses: {0}( Site:2 NAME 'visitor' SUP top AUX
 ILIARY MAY badge )
\
        olcAttributeTypes: {0}( siteAt:1 NAME 'badge' SUP name SINGLE-VALUE )
\
        olcObjectIdentifier: {0}Site 1.3.6.1.4.1.32473
olcObjectIdentifier: {1}siteAt Site:1
";
    const PLAIN: &str = "dn: cn=schema
objectClass: top
objectClass: ldapSubentry
objectClass: subschema
cn: schema
\
        attributeTypes: ( 1.3.6.1.4.1.32473.1.1 NAME 'badge' SUP name
  SINGLE-VALUE X-ORIGIN ( 'x' 'user defined' ) )
\
        objectClasses: ( 1.3.6.1.4.1.32473.2 NAME 'visitor' SUP 'top' AUXILIARY MAY badge X-ORIGIN 'user defined' )
\
        matchingRules: ( 2.5.13.2 NAME 'caseIgnoreMatch' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
";
    for text in [OPENLDAP, CONFIG, PLAIN] {
        let schema = SchemaBuilder::standard()
            .text("site", text)
            .and_then(SchemaBuilder::build)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(
            schema
                .attribute("1.3.6.1.4.1.32473.1.1")
                .unwrap()
                .single_value
        );
        let badge = schema.attribute("badge").unwrap().index;
        assert_eq!(schema.object_class("visitor").unwrap().may, [badge]);
    }
    let lines: Vec<&str> = OPENLDAP.lines().collect();
    let by_statement =
        lines
            .iter()
            .enumerate()
            .try_fold(SchemaBuilder::standard(), |builder, (number, line)| {
                let (keyword, value) = line.trim().split_once(' ').unwrap();
                assert!(SchemaBuilder::is_statement(keyword));
                builder.statement("slapd.conf", number + 1, keyword, value)
            });
    let schema = by_statement.unwrap().build().unwrap();
    assert!(schema.object_class("visitor").is_some());
    let fault = SchemaBuilder::new().statement("slapd.conf", 7, "AttributeType", "( x )");
    assert_eq!(
        fault.unwrap_err().to_string(),
        "slapd.conf:7: attributetype: OID could not be expanded: \"x\""
    );
}

#[test]
fn name_forms_and_structure_rules_are_checked_and_published() {
    const FORM: &str = "dn: cn=schema
nameForms: ( 1.3.6.1.4.1.32473.1 NAME 'personForm' OC person MUST cn MAY uid )
\
        dITStructureRules: ( 1 NAME 'top rule' FORM personForm )
\
        dITStructureRules: ( 2 FORM personForm SUP ( 1 2 ) )
";
    let form = FORM.replace("'top rule'", "'topRule'");
    let schema = SchemaBuilder::standard()
        .text("site", &form)
        .unwrap()
        .build()
        .unwrap();
    assert_eq!(
        schema.published_name_forms().collect::<Vec<_>>(),
        ["( 1.3.6.1.4.1.32473.1 NAME 'personForm' OC person MUST cn MAY uid )"]
    );
    assert_eq!(
        schema.published_structure_rules().collect::<Vec<_>>(),
        [
            "( 1 NAME 'topRule' FORM personForm )",
            "( 2 FORM personForm SUP ( 1 2 ) )"
        ]
    );
    for (broken, expected) in [
        (
            FORM.to_owned(),
            "site:3: ditstructurerules: Invalid NAME: \"top rule\"",
        ),
        (
            form.replace("OC person", "OC nosuch"),
            "site:2: nameform: ObjectClass not found: \"nosuch\"",
        ),
        (
            form.replace("MUST cn", "MUST nosuch"),
            "site:2: nameform: AttributeType not found: \"nosuch\"",
        ),
        (
            form.replace("( 1 2 )", "3"),
            "site:4: ditstructurerule: rule not found: \"3\"",
        ),
        (
            form.replace("FORM personForm SUP", "FORM x SUP"),
            "site:4: ditstructurerule: name form not found: \"x\"",
        ),
    ] {
        let error = SchemaBuilder::standard()
            .text("site", &broken)
            .and_then(SchemaBuilder::build);
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}
