//! From names of SASL to names of entries: which rights the searches of `authz-regexp` need.

use fulgurite_directory::{AuthzRegexp, Session};

use crate::support::{JANE, JOHN, World};

/// Measured on slapd: the session needs `auth` on the base and on the attributes of the filter. The
/// entry that is found may be hidden itself.
#[test]
fn searches_of_authz_regexp_need_the_right_auth() {
    let found = |rules: &[&str], asker: &dyn Fn(&World) -> Session| {
        let world = World::with(|options| {
            options.auth.authz_regexp = vec![
                AuthzRegexp::new("^uid=([^,]*),", "ldap:///dc=example,dc=com??sub?(uid=$1)")
                    .unwrap(),
            ];
            options.access = rules.iter().map(|&rule| rule.into()).collect();
        });
        let mapped = world
            .directory
            .sasl_identity(&asker(&world), "jane", None, Some("x"));
        mapped.is_ok_and(|dn| dn.pretty() == JANE)
    };
    let nobody = |_: &World| Session::new();
    let base = "dn.base=\"dc=example,dc=com\"";
    let auth = "to * by anonymous auth";
    for (rules, expected) in [
        (&["to * by * none"][..], false),
        (&[auth], true),
        (&["to * by anonymous search"], true),
        (&["to * by users read by * none"], false),
        (&["to attrs=uid by * none", auth], false),
        (&["to attrs=entry by * none", auth], false),
        (&[&format!("to {base} by * none"), auth], false),
        (
            &[
                &format!("to {base} attrs=entry by anonymous =x"),
                &format!("to {base} by * none"),
                auth,
            ],
            true,
        ),
        (
            &[&format!("to {base} by anonymous auth"), "to * by * none"],
            false,
        ),
        (
            &[
                &format!("to dn.base=\"{JANE}\" attrs=entry by * none"),
                auth,
            ],
            true,
        ),
        (
            &["to attrs=uid by anonymous =s", "to * by anonymous =x"],
            false,
        ),
        (
            &["to attrs=entry by anonymous =x", "to * by anonymous =s"],
            false,
        ),
        (&["to attrs=uid by ssf=50 auth by * none", auth], false),
    ] {
        assert_eq!(found(rules, &nobody), expected, "{rules:?}");
    }
    assert!(
        found(&["to * by * none"], &World::root),
        "no rule keeps a root out"
    );
    let john = |world: &World| world.user(JOHN);
    assert!(
        found(&["to * by users auth"], &john),
        "who asks for a proxied authorization"
    );
}

#[test]
fn a_mapped_identity_is_in_normal_form() {
    let world = World::with(|options| {
        options.auth.authz_regexp =
            vec![AuthzRegexp::new("^uid=root,", "CN=Some  Admin, DC=Example,dc=COM").unwrap()];
    });
    let mapped = |user: &str| {
        let found = world
            .directory
            .sasl_identity(&Session::new(), user, None, Some("EXTERNAL"));
        found.unwrap().pretty().to_owned()
    };
    // slapauth of slapd 2.5 prints the same.
    assert_eq!(mapped("root"), "cn=some admin,dc=example,dc=com");
    assert_eq!(mapped("A  Bc"), "uid=a bc,cn=external,cn=auth");
}
