//! Definitions that do not resolve: each kind of fault, with its place.

use fulgurite_schema::SchemaBuilder;

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
            "site.schema:2: attribute type 'x': unknown supertype 'nosuch'",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SYNTAX 1.2.3 )"),
            "site.schema:1: attribute type 'x': unknown syntax '1.2.3'",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name EQUALITY nosuchMatch )"),
            "site.schema:1: attribute type 'x': unknown matching rule 'nosuchMatch'",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name EQUALITY caseIgnoreSubstringsMatch )"),
            "site.schema:1: attribute type 'x': matching rule 'caseIgnoreSubstringsMatch' does not fit where it stands",
        ),
        (
            format!(
                "attributetype ( {X}.1 NAME 'x' SUP y )\nattributetype ( {X}.2 NAME 'y' SUP x )"
            ),
            "site.schema:1: attribute type 'x' is its own supertype",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name USAGE dSAOperation )"),
            "site.schema:1: attribute type 'x': USAGE differs from that of its supertype 'name'",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'x' SUP name NO-USER-MODIFICATION )"),
            "site.schema:1: attribute type 'x': NO-USER-MODIFICATION needs an operational USAGE",
        ),
        (
            format!("attributetype ( {X}.1 NAME 'CN' SUP name )"),
            "site.schema:1: name 'CN' of 1.3.6.1.4.1.32473.1 is already used by 2.5.4.3",
        ),
        (
            "attributetype ( 2.5.4.4 NAME ( 'sn' 'surname' ) SUP name SINGLE-VALUE )".to_owned(),
            "site.schema:1: 'sn' (2.5.4.4) is already defined as 'sn' with different SINGLE-VALUE",
        ),
        (
            "attributetype ( 2.5.4.4 NAME 'sn' SUP name )".to_owned(),
            "site.schema:1: 'sn' (2.5.4.4) is already defined as 'sn' with different names",
        ),
        (
            "attributetype ( 2.5.4.4 NAME ( 'SURNAME' 'sn' ) DESC 'other words' SUP 2.5.4.41 )"
                .to_owned(),
            "accepted",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP nosuch )"),
            "site.schema:1: object class 'x': unknown superclass 'nosuch'",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP top MUST nosuch )"),
            "site.schema:1: object class 'x': unknown attribute type 'nosuch'",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP dcObject STRUCTURAL )"),
            "site.schema:1: object class 'x' cannot derive from 'dcObject': kinds do not fit",
        ),
        (
            format!("objectclass ( {X}.1 NAME 'x' SUP y )\nobjectclass ( {X}.2 NAME 'y' SUP x )"),
            "site.schema:1: object class 'x' is its own superclass",
        ),
        (
            "objectclass ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST cn )".to_owned(),
            "site.schema:1: 'person' (2.5.6.6) is already defined as 'person' with different MUST",
        ),
        (
            "ditcontentrule ( 1.2.3 NAME 'x' )".to_owned(),
            "site.schema:1: content rule 'x': '1.2.3' is no structural class",
        ),
        (
            format!("ldapsyntax ( {X}.1 DESC 'x' X-SUBST '1.2.3' )"),
            "site.schema:1: syntax 1.3.6.1.4.1.32473.1 stands for an unknown syntax",
        ),
    ] {
        assert_eq!(fault(&text), expected, "{text}");
    }
}

#[test]
fn what_a_file_defines_replaces_spare_definitions() {
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
