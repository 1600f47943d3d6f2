use fulgurite_directory::{CONTROLS, ControlRow, ExtendedStep, Session};
use fulgurite_ldap::{Controls, ExtendedRequest, ResultCode, Scope};

use crate::support::{JANE, TOP, World, asked, code};

#[test]
fn the_root_dse_lists_what_is_usable() {
    let world = World::new();
    let anonymous = Session::new();
    let read = |attributes: &[&str]| {
        let found = world.search(
            &anonymous,
            &asked("", Scope::Base, "(objectClass=*)", attributes),
        );
        assert_eq!(found.dns(), [""]);
        found.entries[0].clone()
    };
    assert_eq!(read(&[]).names(), ["objectClass"]);
    let all = read(&["+"]);
    assert_eq!(all.get("namingContexts"), [TOP]);
    assert_eq!(all.get("supportedLDAPVersion"), ["3"]);
    assert_eq!(all.get("subschemaSubentry"), ["cn=Subschema"]);
    // slapd has no vendor; clients compare what `+` selects.
    assert!(all.get("vendorName").is_empty() && all.get("vendorVersion").is_empty());
    assert_eq!(read(&["+", "vendorName"]).get("vendorName"), ["Fulgurite"]);
    assert_eq!(read(&["vendorVersion"]).names(), ["vendorVersion"]);
    let controls = all.get("supportedControl");
    let listed = CONTROLS.iter().filter(|control| control.is_listed());
    let listed: Vec<&str> = listed.map(ControlRow::oid).collect();
    assert_eq!(controls, listed);
    // slapd hides the relax control, too.
    let (relax, pages) = ("1.3.6.1.4.1.4203.666.5.12", "1.2.840.113556.1.4.319");
    assert!(controls.contains(&pages) && !controls.contains(&relax));
    assert!(all.get("supportedExtension").contains(&"1.3.6.1.1.8"));
    assert_eq!(all.get("supportedFeatures").len(), 6);
    assert_eq!(read(&["namingcontexts"]).names(), ["namingContexts"]);
    let matching = asked(
        "",
        Scope::Base,
        "(supportedFeatures=1.3.6.1.1.14)",
        &["1.1"],
    );
    assert_eq!(world.search(&anonymous, &matching).dns(), [""]);
    let other = asked("", Scope::Base, "(cn=x)", &[]);
    assert_eq!(world.search(&anonymous, &other).dns(), [""; 0]);
}

#[test]
fn special_entries_have_base_scope_only() {
    let world = World::new();
    for base in ["", "cn=Subschema", "cn=x,cn=Subschema"] {
        for scope in [Scope::One, Scope::Subtree, Scope::Children] {
            let found = world.search(&Session::new(), &asked(base, scope, "(objectClass=*)", &[]));
            assert_eq!(code(&found.result), ResultCode::NoSuchObject);
        }
    }
}

#[test]
fn the_subschema_is_published_on_request() {
    let world = World::new();
    let read = |attributes: &[&str]| {
        let asked = asked(
            "CN=subschema",
            Scope::Base,
            "(objectClass=subschema)",
            attributes,
        );
        let found = world.search(&Session::new(), &asked);
        assert_eq!(found.dns(), ["cn=Subschema"]);
        found.entries[0].clone()
    };
    assert_eq!(read(&[]).names(), ["cn", "objectClass"]);
    let all = read(&["+"]);
    for (name, count_min) in [
        ("attributeTypes", 150),
        ("objectClasses", 50),
        ("ldapSyntaxes", 25),
        ("matchingRules", 30),
        ("matchingRuleUse", 20),
    ] {
        assert!(
            all.get(name).len() >= count_min,
            "{name}: {}",
            all.get(name).len()
        );
    }
    let types = read(&["attributeTypes"]);
    assert_eq!(types.names(), ["attributeTypes"]);
    let uid = |text: &&str| text.contains("NAME ( 'uid' 'userid' )");
    assert_eq!(
        types.get("attributeTypes").into_iter().filter(uid).count(),
        1
    );
    assert_eq!(all.get("modifyTimestamp"), ["20260102030405Z"]);
}

#[test]
fn who_am_i_and_unknown_extensions() {
    let world = World::new();
    let ask = |session: &mut Session, oid: &str, value: Option<&'static [u8]>| {
        let request = ExtendedRequest {
            oid: oid.as_bytes(),
            value,
        };
        match world
            .directory
            .extended(session, 1, &request, &Controls::NONE)
        {
            ExtendedStep::Done(reply) => reply,
            other => panic!("answered at once: {other:?}"),
        }
    };
    let who = "1.3.6.1.4.1.4203.1.11.3";
    let anonymous = ask(&mut Session::new(), who, None);
    assert_eq!(anonymous.value.as_deref(), Some(&b""[..]));
    let jane = ask(&mut world.user(JANE), who, None);
    assert_eq!(jane.value, Some(format!("dn:{JANE}").into_bytes()));
    let unknown = ask(&mut Session::new(), "1.2.3.4", None);
    assert_eq!(code(&unknown.result), ResultCode::ProtocolError);
    assert_eq!(unknown.value, None);
    let superfluous = ask(&mut Session::new(), who, Some(b"x"));
    assert_eq!(code(&superfluous.result), ResultCode::ProtocolError);
}
