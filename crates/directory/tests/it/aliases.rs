use fulgurite_ldap::{Deref, ResultCode, Scope};

use crate::support::{Asked, JANE, PEOPLE, TOP, World, asked, code};

const ALIASES: &str = "
dn: ou=aliases,dc=example,dc=com
objectClass: organizationalUnit
ou: aliases

dn: cn=staff,ou=aliases,dc=example,dc=com
objectClass: alias
objectClass: extensibleObject
cn: staff
aliasedObjectName: ou=people,dc=example,dc=com

dn: cn=again,ou=aliases,dc=example,dc=com
objectClass: alias
objectClass: extensibleObject
cn: again
aliasedObjectName: cn=staff,ou=aliases,dc=example,dc=com

dn: cn=circle,ou=aliases,dc=example,dc=com
objectClass: alias
objectClass: extensibleObject
cn: circle
aliasedObjectName: cn=round,ou=aliases,dc=example,dc=com

dn: cn=round,ou=aliases,dc=example,dc=com
objectClass: alias
objectClass: extensibleObject
cn: round
aliasedObjectName: cn=circle,ou=aliases,dc=example,dc=com

dn: cn=gone,ou=aliases,dc=example,dc=com
objectClass: alias
objectClass: extensibleObject
cn: gone
aliasedObjectName: cn=nobody,dc=example,dc=com

dn: cn=outside,ou=aliases,dc=example,dc=com
objectClass: alias
objectClass: extensibleObject
cn: outside
aliasedObjectName: dc=elsewhere
";

fn followed(base: &str, scope: Scope, deref: Deref) -> Asked {
    Asked {
        deref,
        ..asked(base, scope, "(objectClass=*)", &["1.1"])
    }
}

#[test]
fn an_alias_as_base_is_its_target() {
    let world = World::new();
    world.load(ALIASES);
    let root = world.root();
    let dns = |base: &str, scope, deref| {
        let found = world.search(&root, &followed(base, scope, deref));
        assert_eq!(code(&found.result), ResultCode::Success, "{base}");
        found.dns().join(" ")
    };
    let again = "cn=again,ou=aliases,dc=example,dc=com";
    assert_eq!(dns(again, Scope::Base, Deref::Never), again);
    assert_eq!(dns(again, Scope::Base, Deref::Searching), again);
    assert_eq!(dns(again, Scope::Base, Deref::Finding), PEOPLE);
    assert_eq!(dns(again, Scope::Base, Deref::Always), PEOPLE);
    let below = format!("uid=jane,{again}");
    assert_eq!(dns(&below, Scope::Subtree, Deref::Finding), JANE);
}

#[test]
fn a_dangling_alias_fails_as_base_and_is_skipped_below_it() {
    let world = World::new();
    world.load(ALIASES);
    let root = world.root();
    for (name, text) in [
        ("cn=gone", "aliasedObject not found"),
        ("cn=outside", "aliasedObject not found"),
        ("cn=circle", "circular alias"),
    ] {
        let base = format!("{name},ou=aliases,dc=example,dc=com");
        let found = world.search(&root, &followed(&base, Scope::Base, Deref::Always));
        assert_eq!(code(&found.result), ResultCode::AliasProblem, "{name}");
        assert_eq!(found.result.matched_dn, base);
        assert_eq!(found.result.diagnostic, text);
    }
    let base = "ou=aliases,dc=example,dc=com";
    let found = world.search(&root, &followed(base, Scope::One, Deref::Searching));
    assert_eq!(code(&found.result), ResultCode::Success);
    assert_eq!(found.dns(), [PEOPLE], "the others lead nowhere");
}

#[test]
fn the_target_of_several_aliases_is_returned_once() {
    let world = World::new();
    world.load(ALIASES);
    let root = world.root();
    for quantum in [1, 1024] {
        let mut asked = followed(TOP, Scope::Subtree, Deref::Always);
        asked.quantum.candidates_max = quantum;
        let found = world.search(&root, &asked);
        let mut once = found.dns();
        once.sort_unstable();
        let before = once.len();
        once.dedup();
        assert_eq!(once.len(), before);
        assert_eq!(before, 7, "six of the example and the unit of aliases");
        let people = followed(
            "ou=aliases,dc=example,dc=com",
            Scope::Subtree,
            Deref::Always,
        );
        assert_eq!(world.search(&root, &people).entries.len(), 4);
    }
}

#[test]
fn a_hidden_alias_is_not_followed() {
    let world = World::with(|options| {
        options.access = vec![
            "access to dn.base=\"cn=staff,ou=aliases,dc=example,dc=com\" by * none".into(),
            "access to * by * read".into(),
        ];
    });
    world.load(ALIASES);
    let asker = world.user(JANE);
    let base = "cn=staff,ou=aliases,dc=example,dc=com";
    let found = world.search(&asker, &followed(base, Scope::Base, Deref::Always));
    assert_eq!(code(&found.result), ResultCode::NoSuchObject);
    assert_eq!(found.result.matched_dn, "ou=aliases,dc=example,dc=com");
    let units = followed("ou=aliases,dc=example,dc=com", Scope::One, Deref::Searching);
    assert_eq!(world.search(&asker, &units).dns(), [""; 0]);
    assert_eq!(world.search(&world.root(), &units).dns(), [PEOPLE]);
}

#[test]
fn aliases_are_followed_up_to_the_limit() {
    let world = World::with(|options| options.databases[0].max_deref_depth = 3);
    for number in 0..5 {
        let target = match number {
            0 => PEOPLE.to_owned(),
            _ => format!("cn=c{},{TOP}", number - 1),
        };
        world.load(&format!(
            "dn: cn=c{number},{TOP}\nobjectClass: alias\nobjectClass: extensibleObject\ncn: c{number}\naliasedObjectName: {target}"
        ));
    }
    let found = |number| {
        let base = format!("cn=c{number},{TOP}");
        let found = world.search(&world.root(), &followed(&base, Scope::Base, Deref::Finding));
        assert_eq!(code(&found.result), ResultCode::Success);
        found.entries.len()
    };
    assert_eq!((found(2), found(3)), (1, 0));
}
