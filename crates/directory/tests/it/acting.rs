//! Acting for others: policies, rules in entries, and who a bind may ask to be.

use fulgurite_directory::{AuthzPolicy, Identity};
use fulgurite_ldap::ResultCode;

use crate::sasl::{bind, people, plain_text, protected, scram};
use crate::support::{JANE, JOHN, ROOT, World, code};
use ResultCode::{AuthorizationDenied, InsufficientAccessRights, Success};

fn acting(policy: AuthzPolicy, rules: &str) -> World {
    let world = World::with(|options| {
        people(options);
        options.auth.authz_policy = policy;
    });
    world.load(&format!(
        "dn: cn=proxy,dc=example,dc=com
objectClass: organizationalRole
objectClass: simpleSecurityObject
objectClass: extensibleObject
userPassword: proxy
{rules}"
    ));
    world
}

/// Returns the result of `who` asking to act for `whom`.
fn authorize(world: &World, who: &str, whom: &str) -> Result<String, ResultCode> {
    let session = if who.is_empty() {
        plain_text()
    } else {
        world.user(who)
    };
    match world.directory.authorize(&session, whom.as_bytes()) {
        Ok(acting) => {
            assert_eq!(acting.real_identity(), session.identity());
            Ok(acting.name().to_owned())
        }
        Err(result) => Err(code(&result)),
    }
}

const PROXY: &str = "cn=proxy,dc=example,dc=com";

#[test]
fn authz_rules_decide_who_may_act_for_whom() {
    let jane = format!("dn:{JANE}");
    for (rule, allowed) in [
        (JANE, true),
        (&*jane, true),
        ("dn.exact:uid=JANE,ou=people,dc=example,dc=com", true),
        ("dn:uid=john,ou=people,dc=example,dc=com", false),
        ("dn.onelevel:ou=people,dc=example,dc=com", true),
        ("dn.onelevel:dc=example,dc=com", false),
        ("dn.children:dc=example,dc=com", true),
        ("dn.children:uid=jane,ou=people,dc=example,dc=com", false),
        ("dn.subtree:uid=jane,ou=people,dc=example,dc=com", true),
        ("dn.regex:^uid=[^,]*,ou=people,", true),
        ("dn.regex:^uid=john", false),
        ("dn:*", true),
        ("*", true),
        ("u:jane", true),
        ("u:john", false),
        ("ldap:///dc=example,dc=com??sub?(uid=jane)", true),
        ("ldap:///dc=example,dc=com??one?(uid=jane)", false),
        ("ldap:///dc=example,dc=com??sub?(uid=john)", false),
        ("ldap:///dc=example,dc=com??sub", false),
        ("group:cn=staff,dc=example,dc=com", true),
        (
            "group/organizationalRole/roleOccupant:cn=staff,dc=example,dc=com",
            false,
        ),
    ] {
        let world = acting(AuthzPolicy::To, &format!("authzTo: {rule}"));
        world.load(&format!(
            "dn: cn=staff,dc=example,dc=com\nobjectClass: groupOfNames\nmember: {JANE}"
        ));
        let expected = if allowed {
            Ok(JANE.to_owned())
        } else {
            Err(AuthorizationDenied)
        };
        assert_eq!(authorize(&world, PROXY, &jane), expected, "{rule}");
        assert_eq!(
            authorize(&world, JOHN, &jane),
            Err(AuthorizationDenied),
            "{rule}"
        );
    }
}

#[test]
fn policies() {
    let jane = format!("dn:{JANE}");
    for (policy, allowed) in [
        (AuthzPolicy::None, false),
        (AuthzPolicy::To, true),
        (AuthzPolicy::From, false),
        (AuthzPolicy::Any, true),
        (AuthzPolicy::All, false),
    ] {
        let world = acting(policy, &format!("authzTo: {jane}"));
        assert_eq!(
            authorize(&world, PROXY, &jane).is_ok(),
            allowed,
            "{policy:?}"
        );
    }
    let world = acting(AuthzPolicy::From, &format!("authzFrom: {jane}"));
    assert_eq!(
        authorize(&world, JANE, &format!("dn:{PROXY}")),
        Ok(PROXY.to_owned())
    );
    assert_eq!(
        authorize(&world, JOHN, &format!("dn:{PROXY}")),
        Err(AuthorizationDenied)
    );
}

#[test]
fn proxied_authorization_without_rules() {
    let world = acting(AuthzPolicy::To, "description: none");
    let jane = format!("dn:{JANE}");
    assert_eq!(authorize(&world, JANE, ""), Ok(String::new()));
    assert_eq!(authorize(&world, JANE, "dn:"), Ok(String::new()));
    assert_eq!(authorize(&world, JANE, &jane), Ok(JANE.to_owned()));
    assert_eq!(authorize(&world, ROOT, &jane), Ok(JANE.to_owned()));
    assert_eq!(
        authorize(&world, JANE, &format!("dn:{ROOT}")),
        Err(AuthorizationDenied)
    );
    assert_eq!(
        authorize(&world, ROOT, "dn:cn=x,o=elsewhere"),
        Err(AuthorizationDenied)
    );
    for malformed in ["jane", "x:jane", "dn:jane", "u.plain:jane"] {
        assert_eq!(authorize(&world, JANE, malformed), Err(AuthorizationDenied));
    }
    assert_eq!(authorize(&world, "", ""), Err(AuthorizationDenied));
    let anonymous = World::with(|options| options.allow.proxy_authz_anon = true);
    let acting = anonymous.directory.authorize(&plain_text(), b"").unwrap();
    assert_eq!(*acting.identity(), Identity::Anonymous);
}

#[test]
fn a_bind_may_request_another_identity() {
    let world = acting(AuthzPolicy::To, &format!("authzTo: dn:{JANE}\nuid: proxy"));
    for (id, expected, name) in [
        ("u:jane", Success, JANE),
        (&*format!("dn:{JANE}"), Success, JANE),
        ("u:john", InsufficientAccessRights, ""),
        ("u:nobody", InsufficientAccessRights, ""),
        ("jane", InsufficientAccessRights, ""),
        ("u:proxy", Success, PROXY),
    ] {
        let mut session = protected();
        let message = format!("{id}\0proxy\0proxy");
        let (result, _) = bind(&world, &mut session, "PLAIN", Some(message.as_bytes()));
        assert_eq!((code(&result), session.name()), (expected, name), "{id}");
        let mut session = protected();
        let header = format!(
            "n,a={},",
            id.replace(',', "=2C")
                .replace("uid=", "uid=3D")
                .replace("ou=", "ou=3D")
                .replace("dc=", "dc=3D")
        );
        let result = scram(
            &world,
            &mut session,
            ("SCRAM-SHA-256", &header, b""),
            "proxy",
            "proxy",
        );
        assert_eq!((code(&result), session.name()), (expected, name), "{id}");
    }
}
