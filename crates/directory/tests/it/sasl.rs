//! SASL binds and the identities behind names.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fulgurite_directory::{
    AuthzPolicy, AuthzRegexp, BindStep, ChannelBindings, Connection, DirectoryOptions,
    ExtendedStep, Method, PeerCredentials, Session, Strength, TlsFacts,
};
use fulgurite_ldap::{
    Authentication, BindRequest, ExtendedRequest, LdapResult, Message, Request, Response,
    ResponseMessage, ResultCode, Scope,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::support::{JANE, World, asked, code, decode, pdu};
use ResultCode::{
    AuthMethodNotSupported, InappropriateAuthentication, InsufficientAccessRights,
    InvalidCredentials, Other, SaslBindInProgress, Success,
};

pub(crate) fn people(options: &mut DirectoryOptions) {
    let rule = AuthzRegexp::new(
        "^uid=([^,]*),cn=[^,]*,cn=auth$",
        "ldap:///dc=example,dc=com??sub?(uid=$1)",
    );
    options.auth.authz_regexp = vec![
        AuthzRegexp::new("^cn=client$", JANE).unwrap(),
        AuthzRegexp::new("^uid=everybody,", "ldap:///dc=example,dc=com??sub?(uid=*)").unwrap(),
        rule.unwrap(),
    ];
    options.auth.authz_policy = AuthzPolicy::To;
}

pub(crate) fn plain_text() -> Session {
    Session::new()
}

pub(crate) fn protected() -> Session {
    on(Connection {
        strength: Strength {
            tls: 256,
            ..Strength::default()
        },
        tls: Some(TlsFacts {
            channel_bindings: ChannelBindings {
                server_end_point: Some(b"end point".to_vec()),
                exporter: Some(b"exported".to_vec()),
            },
            ..TlsFacts::default()
        }),
        ..Connection::default()
    })
}

fn on(connection: Connection) -> Session {
    Session::on(Arc::new(connection))
}

/// One bind of `session`; the result and what the mechanism says.
pub(crate) fn bind(
    world: &World,
    session: &mut Session,
    mechanism: &str,
    credentials: Option<&[u8]>,
) -> (LdapResult, Option<Vec<u8>>) {
    let request = Request::Bind(BindRequest {
        authentication: Authentication::Sasl {
            mechanism: mechanism.as_bytes(),
            credentials,
        },
        ..BindRequest::simple("", b"")
    });
    let pdu = pdu(&request, &[]);
    let message: Message<'_> = decode(&pdu);
    let Request::Bind(request) = &message.request else {
        unreachable!("a bind was encoded")
    };
    let outcome = match world
        .directory
        .begin_bind(session, request, &message.controls)
    {
        BindStep::Done(outcome) => outcome,
        BindStep::Check(check) => check.run(&world.directory),
    };
    let mut out = Vec::new();
    outcome.finish(session, message.id, &mut out);
    let response = ResponseMessage::decode(&out).expect("a bind response");
    match response.response {
        Response::Bind {
            result,
            server_credentials,
        } => (result, server_credentials.map(<[u8]>::to_vec)),
        other => panic!("{other:?}"),
    }
}

fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.chain_update(data).finalize().into_bytes().to_vec()
}

/// A whole SCRAM-SHA-256 bind as a client does it, from the RFC rather than from the server's code.
pub(crate) fn scram(
    world: &World,
    session: &mut Session,
    (mechanism, header, binding): (&str, &str, &[u8]),
    user: &str,
    password: &str,
) -> LdapResult {
    let bare = format!("n={user},r=client");
    let (result, challenge) = bind(
        world,
        session,
        mechanism,
        Some(format!("{header}{bare}").as_bytes()),
    );
    if code(&result) != SaslBindInProgress {
        return result;
    }
    assert!(session.is_binding());
    let challenge = String::from_utf8(challenge.unwrap()).unwrap();
    let part = |name: &str| {
        let mut parts = challenge.split(',');
        parts
            .find_map(|part| part.strip_prefix(name))
            .unwrap()
            .to_owned()
    };
    let salt = STANDARD.decode(part("s=")).unwrap();
    let mut salted = [0; 32];
    let iterations = part("i=").parse().unwrap();
    pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, iterations, &mut salted);
    let client_key = hmac(&salted, b"Client Key");
    let bound = STANDARD.encode([header.as_bytes(), binding].concat());
    let without_proof = format!("c={bound},r={}", part("r="));
    let signed = format!("{bare},{challenge},{without_proof}");
    let signature = hmac(&Sha256::digest(&client_key), signed.as_bytes());
    let proof: Vec<u8> = client_key
        .iter()
        .zip(signature)
        .map(|(a, b)| a ^ b)
        .collect();
    let last = format!("{without_proof},p={}", STANDARD.encode(proof));
    let (result, answer) = bind(world, session, mechanism, Some(last.as_bytes()));
    if result.is_success() {
        let server = hmac(&hmac(&salted, b"Server Key"), signed.as_bytes());
        let expected = format!("v={}", STANDARD.encode(server));
        assert_eq!(
            answer.as_deref(),
            Some(expected.as_bytes()),
            "the server's own proof"
        );
    }
    assert!(!session.is_binding());
    result
}

const SCRAM: (&str, &str, &[u8]) = ("SCRAM-SHA-256", "n,,", b"");

#[test]
fn mechanisms_depend_on_the_connection() {
    let world = World::with(people);
    let offered = |session: &Session| {
        let found = world.search(session, &asked("", Scope::Base, "(objectClass=*)", &["+"]));
        found.entries[0].get("supportedSASLMechanisms").join(" ")
    };
    assert_eq!(
        offered(&plain_text()),
        "SCRAM-SHA-512 SCRAM-SHA-256 SCRAM-SHA-1"
    );
    assert_eq!(
        offered(&protected()),
        "SCRAM-SHA-512-PLUS SCRAM-SHA-512 SCRAM-SHA-256-PLUS SCRAM-SHA-256 SCRAM-SHA-1-PLUS SCRAM-SHA-1 PLAIN"
    );
    assert_eq!(
        offered(&local(0, 0)),
        "SCRAM-SHA-512 SCRAM-SHA-256 SCRAM-SHA-1 EXTERNAL PLAIN"
    );
}

fn local(uid: u32, gid: u32) -> Session {
    on(Connection {
        peer_credentials: Some(PeerCredentials { uid, gid }),
        strength: Strength {
            transport: 71,
            ..Strength::default()
        },
        ..Connection::default()
    })
}

#[test]
fn unavailable_mechanisms_are_refused() {
    let world = World::with(people);
    for (mechanism, message, expected) in [
        ("NONSENSE", &b""[..], AuthMethodNotSupported),
        ("", b"", AuthMethodNotSupported),
        ("EXTERNAL", b"", AuthMethodNotSupported),
        ("ANONYMOUS", b"", AuthMethodNotSupported),
        (
            "SCRAM-SHA-256-PLUS",
            b"n,,n=jane,r=x",
            AuthMethodNotSupported,
        ),
        ("PLAIN", b"\0jane\0jane's", InappropriateAuthentication),
        ("SCRAM-SHA-256", b"hello", Other),
    ] {
        let mut session = plain_text();
        let (result, _) = bind(&world, &mut session, mechanism, Some(message));
        assert_eq!(code(&result), expected, "{mechanism}");
        assert!(!session.is_authenticated() && !session.is_binding());
    }
    let open = World::with(|options| {
        options.auth.sasl_properties = "none".parse().unwrap();
        people(options);
    });
    let mut session = plain_text();
    let (result, _) = bind(&open, &mut session, "PLAIN", Some(b"\0jane\0jane's"));
    assert_eq!(code(&result), Success);
    let (result, _) = bind(&open, &mut session, "ANONYMOUS", Some(b"trace"));
    assert_eq!(code(&result), Success);
    assert!(!session.is_authenticated());
}

#[test]
fn plain_finds_the_entry_behind_the_name() {
    let world = World::with(people);
    for (message, expected, name) in [
        (&b"\0jane\0jane's"[..], Success, JANE),
        (b"\0JANE\0jane's", Success, JANE),
        (b"\0jane\0john's", InvalidCredentials, ""),
        (b"\0nobody\0jane's", InvalidCredentials, ""),
        // More than one entry fits.
        (b"\0everybody\0jane's", InvalidCredentials, ""),
        (b"\0jane\0", InvalidCredentials, ""),
        (b"jane", Other, ""),
    ] {
        let mut session = protected();
        let (result, _) = bind(&world, &mut session, "PLAIN", Some(message));
        let shown = String::from_utf8_lossy(message);
        assert_eq!(code(&result), expected, "{shown:?}");
        assert_eq!(session.name(), name, "{shown:?}");
        if expected == Success {
            assert_eq!(session.method(), Method::Sasl("PLAIN"));
        }
    }
}

#[test]
fn external_uses_the_identity_of_the_layer() {
    let world = World::with(people);
    let mut session = local(1000, 100);
    assert_eq!(
        code(&bind(&world, &mut session, "EXTERNAL", Some(b"")).0),
        Success
    );
    assert_eq!(
        session.name(),
        "gidNumber=100+uidNumber=1000,cn=peercred,cn=external,cn=auth"
    );
    let certificate = |dn: &str| {
        on(Connection {
            tls: Some(TlsFacts {
                client_dn: Some(dn.to_owned()),
                ..TlsFacts::default()
            }),
            ..Connection::default()
        })
    };
    let mut session = certificate("CN=client");
    assert_eq!(
        code(&bind(&world, &mut session, "EXTERNAL", None).0),
        Success
    );
    assert_eq!(session.name(), JANE);
    let mut session = certificate("cn=stranger,o=elsewhere");
    assert_eq!(
        code(&bind(&world, &mut session, "EXTERNAL", None).0),
        Success
    );
    assert_eq!(session.name(), "cn=stranger,o=elsewhere");
    let mut session = certificate("CN=client");
    let (result, _) = bind(&world, &mut session, "EXTERNAL", Some(b"u:john"));
    assert_eq!(code(&result), InsufficientAccessRights);
    assert!(!session.is_authenticated());
}

#[test]
fn scram_proves_the_password_without_sending_it() {
    let world = World::with(people);
    let mut session = plain_text();
    assert_eq!(
        code(&scram(&world, &mut session, SCRAM, "jane", "jane's")),
        Success
    );
    assert_eq!(session.name(), JANE);
    for (user, password) in [("jane", "john's"), ("nobody", "jane's"), ("everybody", "x")] {
        let mut session = plain_text();
        let result = scram(&world, &mut session, SCRAM, user, password);
        assert_eq!(result, LdapResult::new(InvalidCredentials), "{user}");
        assert!(!session.is_authenticated());
    }
}

#[test]
fn unknown_users_have_stable_salts() {
    let world = World::with(people);
    let challenge = |user: &str| {
        let first = format!("n,,n={user},r=client");
        let (result, challenge) = bind(
            &world,
            &mut plain_text(),
            "SCRAM-SHA-256",
            Some(first.as_bytes()),
        );
        assert_eq!(code(&result), SaslBindInProgress);
        let text = String::from_utf8(challenge.unwrap()).unwrap();
        text.split_once(",s=").unwrap().1.to_owned()
    };
    for user in ["jane", "nobody"] {
        assert_eq!(challenge(user), challenge(user), "{user}");
    }
    assert_ne!(challenge("jane"), challenge("nobody"));
    assert_eq!(challenge("jane").len(), challenge("nobody").len());
}

#[test]
fn stored_keys_verify_although_the_password_is_hashed() {
    let world = World::with(people);
    let keys = fulgurite_auth::ScramKeys::derive(
        fulgurite_auth::ScramHash::Sha256,
        b"secret",
        b"a salt",
        4096,
    );
    world.load(&format!(
        "dn: uid=hashed,dc=example,dc=com
objectClass: account
objectClass: extensibleObject
uid: hashed
userPassword: {{SSHA}}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0
authPassword: {}",
        keys.to_value()
    ));
    let mut session = plain_text();
    assert_eq!(
        code(&scram(&world, &mut session, SCRAM, "hashed", "secret")),
        Success
    );
    let wrong = scram(&world, &mut plain_text(), SCRAM, "hashed", "secrets");
    assert_eq!(code(&wrong), InvalidCredentials);
}

#[test]
fn keys_follow_the_password_that_is_set() {
    let world = World::with(|options| {
        people(options);
        options.auth.scram_keys = vec![fulgurite_directory::ScramHash::Sha256];
    });
    let change = |password: &str| {
        let value = fulgurite_ldap::PasswordModifyRequest {
            user_identity: Some(JANE.as_bytes()),
            new_password: Some(password.as_bytes()),
            ..Default::default()
        };
        let value = value.encode();
        let request = Request::Extended(ExtendedRequest {
            oid: fulgurite_ldap::oid::PASSWORD_MODIFY.as_bytes(),
            value: Some(&value),
        });
        let pdu = pdu(&request, &[]);
        let message = decode(&pdu);
        let Request::Extended(request) = &message.request else {
            unreachable!("an extended request was encoded")
        };
        let controls = &message.controls;
        let mut root = world.root();
        let step = world
            .directory
            .extended(&mut root, message.id, request, controls);
        let ExtendedStep::Passwords(change) = step else {
            panic!("{step:?}")
        };
        let replies = world.directory.apply(&[change.run().unwrap()]);
        assert_eq!(code(&replies[0].result), Success);
    };
    for password in ["first", "second"] {
        change(password);
        let mut session = plain_text();
        assert_eq!(
            code(&scram(&world, &mut session, SCRAM, "jane", password)),
            Success
        );
        assert_eq!(code(&world.bind(JANE, password).0), Success);
    }
    for old in ["first", "jane's"] {
        let result = scram(&world, &mut plain_text(), SCRAM, "jane", old);
        assert_eq!(code(&result), InvalidCredentials);
    }
}

#[test]
fn any_password_in_clear_verifies() {
    use fulgurite_ldap::ModifyOperation::Replace;
    let world = World::with(people);
    let passwords: [(_, &str, &[&str]); 1] = [(
        Replace,
        "userPassword",
        &["first", "{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0", "second"],
    )];
    assert_eq!(
        code(&world.modify(&world.root(), JANE, &passwords)),
        Success
    );
    for (password, expected) in [
        ("first", Success),
        ("second", Success),
        ("secret", InvalidCredentials),
        ("third", InvalidCredentials),
    ] {
        let result = scram(&world, &mut plain_text(), SCRAM, "jane", password);
        assert_eq!(code(&result), expected, "{password}");
    }
}

/// A password may stand in the name.
#[test]
fn a_rename_that_removes_a_password_removes_its_keys() {
    use fulgurite_ldap::ModifyOperation::Replace;
    let world = World::with(people);
    let hash = fulgurite_auth::ScramHash::Sha256;
    let keys = fulgurite_auth::ScramKeys::derive(hash, b"old", b"a salt", 4096).to_value();
    let changes: [(_, &str, &[&str]); 1] = [(Replace, "authPassword", &[&keys])];
    assert_eq!(code(&world.modify(&world.root(), JANE, &changes)), Success);
    let root = world.root();
    let held = |dn: &str| world.read(dn, &["authPassword"]).get("authPassword").len();
    let above = JANE.split_once(',').expect("a parent").1;
    let moved = |rdn: &str| format!("{rdn},{above}");
    let rename = |from: &str, to: &str, delete| {
        assert_eq!(
            code(&world.rename(&root, from, to, delete, None)),
            Success,
            "{from} {to}"
        );
    };
    rename(JANE, "uid=joan", false);
    assert_eq!(
        held(&moved("uid=joan")),
        1,
        "the name alone changes nothing"
    );
    rename(&moved("uid=joan"), "userPassword=x", false);
    assert_eq!(held(&moved("userPassword=x")), 0, "a password has come");
    assert_eq!(
        code(&world.modify(&root, &moved("userPassword=x"), &changes)),
        Success
    );
    rename(&moved("userPassword=x"), "uid=jane", true);
    assert_eq!(held(JANE), 0, "and gone");
}

#[test]
fn every_change_of_a_password_removes_its_keys() {
    use fulgurite_ldap::ModifyOperation::{Add, Delete, Replace};
    let world = World::with(people);
    let keys = |password: &[u8]| {
        let hash = fulgurite_auth::ScramHash::Sha256;
        fulgurite_auth::ScramKeys::derive(hash, password, b"a salt", 4096).to_value()
    };
    let (old, new) = (keys(b"old"), keys(b"new"));
    // A password that is no secret for SCRAM by itself, so that it is the keys that let in.
    let hashed = "{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0";
    let fresh = || {
        let changes: [(_, &str, &[&str]); 2] = [
            (Replace, "userPassword", &[hashed]),
            (Replace, "authPassword", &[&old]),
        ];
        assert_eq!(code(&world.modify(&world.root(), JANE, &changes)), Success);
    };
    let enters = |password: &str| {
        let result = scram(&world, &mut plain_text(), SCRAM, "jane", password);
        code(&result) == Success
    };
    let unrelated: [(_, &str, &[&str]); 1] = [(Replace, "description", &["x"])];
    fresh();
    world.modify(&world.root(), JANE, &unrelated);
    assert!(enters("old"), "they stay as long as the password does");
    let cases: [&[(_, &str, &[&str])]; 7] = [
        &[(Replace, "userPassword", &["{SSHA}x"])],
        &[(Replace, "userPassword", &[])],
        &[(Add, "userPassword", &["{SSHA}x"])],
        &[(Delete, "userPassword", &[])],
        &[(Delete, "2.5.4.35", &[hashed])],
        &[(Replace, "userPassword;lang-de", &["{SSHA}x"])],
        &[
            (Replace, "userPassword", &["{SSHA}x"]),
            (Replace, "description", &["x"]),
        ],
    ];
    for changes in cases {
        fresh();
        assert!(enters("old"), "{changes:?}");
        let result = world.modify(&world.root(), JANE, changes);
        assert_eq!(code(&result), Success, "{changes:?}");
        assert!(!enters("old"), "{changes:?}");
        assert!(
            world
                .read(JANE, &["authPassword"])
                .get("authPassword")
                .is_empty()
        );
    }
    // Keys that the request itself sets stay.
    for set in [Add, Replace] {
        fresh();
        let changes: [(_, &str, &[&str]); 2] = [
            (set, "authPassword", &[&new]),
            (Replace, "userPassword", &["{SSHA}x"]),
        ];
        let result = world.modify(&world.root(), JANE, &changes);
        assert_eq!(code(&result), Success);
        assert!(enters("new") && !enters("old"), "{set:?}");
    }
}

#[test]
fn a_proof_bound_to_another_channel_fails() {
    let world = World::with(people);
    let plus = "SCRAM-SHA-256-PLUS";
    for (header, binding) in [
        ("p=tls-exporter,,", &b"exported"[..]),
        ("p=tls-server-end-point,,", b"end point"),
    ] {
        let right = (plus, header, binding);
        assert_eq!(
            code(&scram(&world, &mut protected(), right, "jane", "jane's")),
            Success
        );
        let wrong = (plus, header, &b"of somebody in the middle"[..]);
        let result = scram(&world, &mut protected(), wrong, "jane", "jane's");
        assert_eq!(code(&result), InvalidCredentials);
    }
    // The client saw a shortened list of mechanisms, and believes that the server cannot bind
    // channels.
    let result = scram(
        &world,
        &mut protected(),
        ("SCRAM-SHA-256", "y,,", b""),
        "jane",
        "jane's",
    );
    assert_eq!(code(&result), InvalidCredentials);
}

#[test]
fn another_bind_ends_an_exchange() {
    let world = World::with(people);
    let first = b"n,,n=jane,r=client";
    let begin = |session: &mut Session| {
        let (result, _) = bind(&world, session, "SCRAM-SHA-256", Some(first));
        assert_eq!(code(&result), SaslBindInProgress);
    };
    let mut session = protected();
    begin(&mut session);
    assert_eq!(
        code(&bind(&world, &mut session, "", None).0),
        AuthMethodNotSupported
    );
    assert!(!session.is_binding());
    begin(&mut session);
    let (result, _) = bind(&world, &mut session, "PLAIN", Some(b"\0jane\0jane's"));
    assert_eq!((code(&result), session.name()), (Success, JANE));
    begin(&mut session);
    assert!(!session.is_authenticated());
    assert_eq!(
        code(&bind(&world, &mut session, "SCRAM-SHA-256", Some(first)).0),
        Other
    );
    let (result, said) = bind(&world, &mut session, "SCRAM-SHA-512", None);
    assert_eq!(
        (code(&result), said),
        (SaslBindInProgress, Some(Vec::new()))
    );
    let (result, said) = bind(&world, &mut session, "SCRAM-SHA-512", Some(first));
    assert_eq!(code(&result), SaslBindInProgress);
    assert!(said.unwrap().starts_with(b"r=client"));
}
