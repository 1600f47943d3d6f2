use fulgurite_ldap::{Authentication, BindRequest, LdapResult, ResultCode};

use crate::support::{JANE, ROOT, World, code};
use ResultCode::{
    AuthMethodNotSupported, InappropriateAuthentication, InvalidCredentials, InvalidDnSyntax,
    ProtocolError, Success, UnwillingToPerform,
};

#[test]
fn every_way_to_bind_and_to_fail() {
    let world = World::new();
    for (dn, password, expected, name) in [
        ("", "", Success, ""),
        (ROOT, "secret", Success, ROOT),
        (
            "CN=Admin, DC=example,DC=com",
            "secret",
            Success,
            "cn=Admin,dc=example,dc=com",
        ),
        (JANE, "jane's", Success, JANE),
        (JANE, "john's", InvalidCredentials, ""),
        (ROOT, "wrong", InvalidCredentials, ""),
        ("uid=nobody,dc=example,dc=com", "x", InvalidCredentials, ""),
        ("ou=people,dc=example,dc=com", "x", InvalidCredentials, ""),
        ("cn=x,dc=elsewhere", "x", InvalidCredentials, ""),
        ("cn=Subschema", "x", InvalidCredentials, ""),
        ("", "x", InvalidCredentials, ""),
        ("jane", "x", InvalidDnSyntax, ""),
        ("nope=x,dc=example,dc=com", "x", InvalidDnSyntax, ""),
        (JANE, "", UnwillingToPerform, ""),
    ] {
        let (result, session) = world.bind(dn, password);
        assert_eq!(code(&result), expected, "{dn:?} {password:?}");
        assert_eq!(session.name(), name, "{dn:?}");
        assert_eq!(session.is_authenticated(), !name.is_empty());
        assert_eq!(
            world.is_root(&session),
            session.name().eq_ignore_ascii_case(ROOT)
        );
        assert_eq!(result.matched_dn, "");
        if expected == InvalidCredentials {
            assert_eq!(result, LdapResult::new(InvalidCredentials));
        }
    }
}

#[test]
fn a_password_claims_a_name_in_one_spelling_right_or_wrong() {
    let (_, session) = World::new().bind(JANE, "wrong");
    assert_eq!(session.claimed_name(), None, "nobody asks for it");
    let world = World::with(|options| options.auth.keep_claimed_names = true);
    let mut claimed = Vec::new();
    for (dn, password) in [
        (JANE, "wrong"),
        (&JANE.to_uppercase(), "wrong"),
        (&JANE.replace(',', " , "), "jane's"),
    ] {
        let (_, session) = world.bind(dn, password);
        claimed.push(session.claimed_name().map(str::to_owned));
    }
    assert!(claimed[0].is_some());
    assert!(
        claimed.iter().all(|name| *name == claimed[0]),
        "{claimed:?}"
    );
    let (_, session) = world.bind("cn=nobody,dc=example,dc=com", "wrong");
    let nobody = session.claimed_name();
    assert_eq!(nobody, Some("cn=nobody,dc=example,dc=com"));
    let (_, session) = world.bind("", "");
    assert_eq!(session.claimed_name(), None);
}

#[test]
fn stored_passwords_may_be_hashed_and_several() {
    let world = World::new();
    // SHA-1 of "secret" with the salt "salt".
    world.load(
        "dn: cn=two,dc=example,dc=com
objectClass: organizationalRole
objectClass: simpleSecurityObject
userPassword: clear
userPassword: {SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0",
    );
    let dn = "cn=two,dc=example,dc=com";
    for (password, expected) in [
        ("clear", Success),
        ("secret", Success),
        ("Clear", InvalidCredentials),
        ("{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0", InvalidCredentials),
    ] {
        assert_eq!(code(&world.bind(dn, password).0), expected, "{password}");
    }
}

#[test]
fn a_root_without_configured_password_uses_its_entry() {
    let world = World::with(|options| {
        options.databases[0].root = Some(fulgurite_directory::RootAccount {
            dn: JANE.to_owned(),
            password: None,
        });
    });
    let (result, session) = world.bind(JANE, "jane's");
    assert_eq!(code(&result), Success);
    assert!(world.is_root(&session));
}

#[test]
fn passwords_that_may_not_be_used_do_not_bind() {
    let world = World::with(|options| {
        options.access = vec![
            "to attrs=userPassword by * disclose".into(),
            "to * by * read".into(),
        ];
    });
    assert_eq!(code(&world.bind(JANE, "jane's").0), InvalidCredentials);
}

#[test]
fn other_versions_and_methods_are_refused() {
    let world = World::new();
    let old = BindRequest {
        version: 2,
        ..BindRequest::simple(JANE, b"jane's")
    };
    assert_eq!(code(&world.bind_request(&old).0), ProtocolError);
    let sasl = BindRequest {
        authentication: Authentication::Sasl {
            mechanism: b"CRAM-MD5",
            credentials: None,
        },
        ..BindRequest::simple("", b"")
    };
    assert_eq!(code(&world.bind_request(&sasl).0), AuthMethodNotSupported);
}

#[test]
fn allow_and_disallow_change_binds() {
    let world = World::with(|options| {
        options.allow.bind_v2 = true;
        options.allow.bind_anon_cred = true;
        options.allow.bind_anon_dn = true;
    });
    let old = BindRequest {
        version: 2,
        ..BindRequest::simple(JANE, b"jane's")
    };
    assert_eq!(code(&world.bind_request(&old).0), Success);
    for (dn, password) in [("", "x"), (JANE, "")] {
        let (result, session) = world.bind(dn, password);
        assert_eq!(code(&result), Success);
        assert!(!session.is_authenticated());
    }
    let strict = World::with(|options| {
        options.disallow.bind_anon = true;
        options.disallow.bind_simple = true;
    });
    assert_eq!(code(&strict.bind("", "").0), InappropriateAuthentication);
    assert_eq!(code(&strict.bind(JANE, "jane's").0), UnwillingToPerform);
}

/// Returns true if a wrong password for the name costs a slow hash.
fn is_slow(world: &World, dn: &str) -> bool {
    let request = fulgurite_ldap::Request::Bind(BindRequest::simple(dn, b"guess"));
    let pdu = crate::support::pdu(&request, &[]);
    let message = crate::support::decode(&pdu);
    let fulgurite_ldap::Request::Bind(request) = &message.request else {
        unreachable!("a bind was encoded")
    };
    let mut session = fulgurite_directory::Session::new();
    let step = world
        .directory
        .begin_bind(&mut session, request, &message.controls);
    matches!(step, fulgurite_directory::BindStep::Check(_))
}

#[test]
fn unknown_names_cost_the_same_as_known_ones() {
    let world = World::new();
    // The sample knows that passwords are in clear here, before anybody has bound.
    assert!(!is_slow(&world, "uid=nobody,dc=example,dc=com"));
    assert!(!is_slow(&world, JANE));
    let empty = World::empty(|_| {});
    assert!(
        is_slow(&empty, "uid=nobody,dc=example,dc=com"),
        "nothing is known of passwords: the costliest is assumed"
    );
}

#[test]
fn unknown_names_use_the_kinds_of_passwords_in_use() {
    let world = World::new();
    world.load(
        "dn: cn=slow,dc=example,dc=com
objectClass: organizationalRole
objectClass: simpleSecurityObject
userPassword: {CRYPT}$1$abcdefgh$G3Gln6fQyNrjSqK1tpPEJ.",
    );
    let names: Vec<String> = (0..32)
        .map(|n| format!("uid=n{n},dc=example,dc=com"))
        .collect();
    let slow: Vec<bool> = names.iter().map(|name| is_slow(&world, name)).collect();
    assert!(slow.contains(&true) && slow.contains(&false), "{slow:?}");
    let again: Vec<bool> = names.iter().map(|name| is_slow(&world, name)).collect();
    assert_eq!(slow, again, "a name always costs the same");
}
