//! The overlay `dynlist`: dynamic lists and groups, and nested membership. The model is slapd 2.5.

use ModifyOperation::{Add, Delete, Replace};
use fulgurite_access::RuleText;
use fulgurite_directory::Session;
use fulgurite_ldap::control::{SortKey, SortRequest};
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode, Scope, oid};
use fulgurite_schema::{Builtin, SchemaBuilder};

use crate::guards::overlay;
use crate::support::{Asked, TOP, World, asked};

const IN_CHAIN: &str = "1.2.840.113556.1.4.1941";

/// People, a static group, dynamic groups and lists, a group of groups, and two groups in a circle.
const DATA: &str = "\
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: x

dn: ou=p,dc=example,dc=com
objectClass: organizationalUnit
ou: p

dn: uid=a,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: a
cn: Ann
sn: A
mail: a@x.org
title: boss

dn: uid=b,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: b
cn: Bob
sn: B
mail: b@x.org
mail: A@x.org

dn: uid=c,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: c
cn: Cyd
sn: C
preferredLanguage: de

dn: cn=st,dc=example,dc=com
objectClass: groupOfNames
cn: st
member: uid=a,ou=p,dc=example,dc=com

dn: cn=dy,dc=example,dc=com
objectClass: groupOfURLs
cn: dy
memberURL: ldap:///ou=p,dc=example,dc=com??sub?(sn=b)

dn: cn=nest,dc=example,dc=com
objectClass: groupOfNames
cn: nest
member: cn=st,dc=example,dc=com
member: cn=dy,dc=example,dc=com

dn: cn=l1,dc=example,dc=com
objectClass: groupOfNames
cn: l1
member: cn=l2,dc=example,dc=com
member: uid=c,ou=p,dc=example,dc=com

dn: cn=l2,dc=example,dc=com
objectClass: groupOfNames
cn: l2
member: cn=l1,dc=example,dc=com

dn: cn=list,dc=example,dc=com
objectClass: groupOfURLs
cn: list
memberURL: ldap:///ou=p,dc=example,dc=com?mail,preferredLanguage?sub?(objectClass=person)

dn: cn=odd,dc=example,dc=com
objectClass: groupOfURLs
cn: odd
memberURL: ldap://host/ou=p,dc=example,dc=com??sub?(sn=b)
memberURL: ldap:///ou=p,dc=example,dc=com??sub?(sn=
memberURL: ldap:///ou=elsewhere,dc=example,dc=com??sub?(sn=b)
memberURL: ldap:///ou=p,dc=example,dc=com??one?(sn=c)
";

const A: &str = "uid=a,ou=p,dc=example,dc=com";
const B: &str = "uid=b,ou=p,dc=example,dc=com";
const C: &str = "uid=c,ou=p,dc=example,dc=com";
const ST: &str = "cn=st,dc=example,dc=com";
const DY: &str = "cn=dy,dc=example,dc=com";
const NEST: &str = "cn=nest,dc=example,dc=com";
const L1: &str = "cn=l1,dc=example,dc=com";
const L2: &str = "cn=l2,dc=example,dc=com";
const LIST: &str = "cn=list,dc=example,dc=com";
const ODD: &str = "cn=odd,dc=example,dc=com";

/// Returns an empty world that knows dynamic groups.
pub(crate) fn empty() -> World {
    let schema = SchemaBuilder::standard()
        .builtin(Builtin::DynGroup)
        .build()
        .expect("the built-in schema resolves");
    World::empty_with_schema(schema.into(), |_| {}, |_| {})
}

/// Returns the data with sets; the words of a set are divided by blanks.
fn world(sets: &[&str]) -> World {
    world_with(sets, &[])
}

/// Does the same with access rules.
fn world_with(sets: &[&str], rules: &[&str]) -> World {
    let mut world = empty();
    world.load(DATA);
    let lines: Vec<String> = sets
        .iter()
        .map(|set| format!("dynlist-attrset {}", set.replace(' ', "~")))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let rules: Vec<RuleText> = rules.iter().map(|rule| (*rule).to_owned().into()).collect();
    world.reopen(|options| {
        options.databases[0].overlays = vec![overlay("dynlist", &lines)];
        if !rules.is_empty() {
            options.databases[0].access = rules;
        }
    });
    world
}

fn nested() -> World {
    world(&["groupOfURLs memberURL member+memberOf@groupOfNames*"])
}

fn sorted(values: Vec<&str>) -> Vec<String> {
    let mut values: Vec<String> = values.into_iter().map(str::to_owned).collect();
    values.sort();
    values
}

pub(crate) fn shown(world: &World, dn: &str, selection: &[&str], attribute: &str) -> Vec<String> {
    sorted(world.read(dn, selection).get(attribute))
}

pub(crate) fn managed(mut asked: Asked) -> Asked {
    asked.controls.push((oid::MANAGE_DSA_IT, true, None));
    asked
}

fn names_as(world: &World, session: &Session, filter: &str) -> Vec<String> {
    let found = world.search(session, &asked(TOP, Scope::Subtree, filter, &["1.1"]));
    sorted(found.dns())
}

#[test]
fn groups_show_the_names_of_entries_found() {
    let world = world(&["groupOfURLs memberURL member"]);
    let read = world.read(DY, &[]);
    assert_eq!(read.names(), ["cn", "member", "memberURL", "objectClass"]);
    assert_eq!(read.get("member"), [B]);
    assert_eq!(world.read(DY, &["member"]).get("member"), [B]);
    for selection in ["1.1", "cn", "+"] {
        assert_eq!(world.read(DY, &[selection]).get("member"), [""; 0]);
    }
    assert_eq!(shown(&world, ODD, &["member"], "member"), [C]);
    assert_eq!(shown(&world, LIST, &["*"], "member"), [""; 0]);
    assert_eq!(shown(&world, LIST, &["*"], "mail"), [""; 0]);
    assert_eq!(shown(&world, NEST, &["*"], "member"), [DY, ST]);
    let stored = managed(asked(DY, Scope::Base, "(objectClass=*)", &[]));
    let stored = world.search(&world.root(), &stored);
    assert_eq!(stored.entries[0].get("member"), [""; 0]);
    let change = [(Replace, "sn", &["B"][..])];
    assert_eq!(
        world.modify(&world.root(), A, &change),
        LdapResult::success()
    );
    assert_eq!(shown(&world, DY, &["member"], "member"), [A, B]);
}

#[test]
fn lists_show_the_attributes_of_entries_found() {
    let world = world(&["groupOfURLs memberURL"]);
    let read = world.read(LIST, &[]);
    assert_eq!(read.get("mail"), ["a@x.org", "b@x.org"]);
    assert_eq!(read.get("preferredLanguage"), ["de"]);
    assert_eq!(read.get("objectClass"), ["groupOfURLs"]);
    assert_eq!(read.get("cn"), ["list"]);
    assert_eq!(world.read(LIST, &["mail"]).names(), ["mail"]);
    assert_eq!(world.read(LIST, &["sn"]).names(), [""; 0]);
    let all = world.read(DY, &[]);
    assert_eq!(all.get("cn"), ["dy", "Bob"]);
    assert_eq!(all.get("uid"), ["b"]);
    assert_eq!(all.get("entryUUID"), [""; 0]);
    let text = |filter: &str| world.names(filter);
    assert_eq!(text("(mail=a@X.org)"), [DY, LIST, A, B]);
    assert_eq!(text("(preferredLanguage=*)"), [LIST, ODD, C]);
    assert_eq!(
        text("(&(mail=b@x.org)(objectClass=groupOfURLs))"),
        [DY, LIST]
    );
    let others = text("(!(mail=*))");
    assert!(!others.contains(&LIST.to_owned()) && others.contains(&ST.to_owned()));
    let compare = |dn: &str, attribute: &str, value: &str| {
        world.compare(&world.root(), dn, attribute, value).code
    };
    assert_eq!(compare(LIST, "mail", "B@x.org"), ResultCode::CompareTrue);
    assert_eq!(compare(LIST, "mail", "z@x.org"), ResultCode::CompareFalse);
    assert_eq!(compare(LIST, "cn", "Bob"), ResultCode::CompareFalse);
    assert_eq!(compare(LIST, "title", "x"), ResultCode::NoSuchAttribute);
    assert_eq!(compare(DY, "cn", "bob"), ResultCode::CompareTrue);
}

#[test]
fn a_list_shows_nothing_of_other_lists() {
    let world = world(&["groupOfURLs memberURL"]);
    let outer = format!("cn=outer,{TOP}");
    let attributes = [
        ("objectClass", "groupOfURLs"),
        ("cn", "outer"),
        (
            "memberURL",
            "ldap:///dc=example,dc=com?cn?sub?(|(cn=dy)(uid=a))",
        ),
    ];
    let added = world.add(&world.root(), &outer, &attributes);
    assert_eq!(added, LdapResult::success());
    assert_eq!(world.read(&outer, &["cn"]).get("cn"), ["outer", "Ann"]);
    assert!(world.names("(cn=ann)").contains(&outer));
    assert!(!world.names("(cn=dy)").contains(&outer));
    let compared = world.compare(&world.root(), &outer, "cn", "dy");
    assert_eq!(compared.code, ResultCode::CompareFalse);
    // A URL without attributes shows those of lists, too.
    let all = [(
        Replace,
        "memberURL",
        &["ldap:///dc=example,dc=com??sub?(cn=dy)"][..],
    )];
    world.modify(&world.root(), &outer, &all);
    assert_eq!(world.read(&outer, &["cn"]).get("cn"), ["outer", "dy"]);
    assert!(world.names("(cn=dy)").contains(&outer));
}

#[test]
fn single_valued_attributes_get_one_value() {
    let world = world(&["groupOfURLs memberURL"]);
    let language = [(Add, "preferredLanguage", &["en"][..])];
    let result = world.modify(&world.root(), A, &language);
    assert_eq!(result, LdapResult::success());
    assert_eq!(world.read(LIST, &[]).get("preferredLanguage").len(), 1);
}

#[test]
fn values_are_shown_under_another_name() {
    let world = world(&["groupOfURLs memberURL sn:cn mail"]);
    let read = world.read(DY, &[]);
    assert_eq!(read.get("cn"), ["dy"]);
    assert_eq!(sorted(read.get("sn")), ["B", "Bob"]);
    assert_eq!(read.get("mail").len(), 2);
    let compare =
        |attribute: &str, value: &str| world.compare(&world.root(), DY, attribute, value).code;
    assert_eq!(compare("sn", "bob"), ResultCode::CompareTrue);
    assert_eq!(compare("cn", "bob"), ResultCode::CompareFalse);
    assert_eq!(world.read(DY, &["uid"]).names(), [""; 0]);
    assert_eq!(world.read(DY, &["sn", "uid"]).get("uid"), ["b"]);
    assert_eq!(world.names("(sn=bob)"), [DY]);
    assert_eq!(world.names("(title=*)"), [A]);
}

#[test]
fn filters_and_compares_find_members_of_dynamic_groups() {
    let world = world(&["groupOfURLs memberURL member"]);
    let text = |filter: &str| world.names(filter);
    assert_eq!(text(&format!("(member={B})")), [DY]);
    assert_eq!(text("(member=UID=B, ou=p,dc=example,dc=com)"), [DY]);
    assert_eq!(text(&format!("(member={A})")), [ST]);
    assert_eq!(text(&format!("(member:distinguishedNameMatch:={B})")), [DY]);
    assert_eq!(text(&format!("(&(cn=dy)(member={B}))")), [DY]);
    assert_eq!(text("(member=*)"), [DY, L1, L2, NEST, ODD, ST]);
    assert!(!text(&format!("(!(member={B}))")).contains(&DY.to_owned()));
    assert_eq!(text("(member=zz)"), [""; 0]);
    let mut slowly = asked(TOP, Scope::Subtree, "(member=*)", &["member"]);
    slowly.quantum.candidates_max = 1;
    let found = world.search(&world.root(), &slowly);
    assert_eq!(found.entries.len(), 6);
    assert!(
        found
            .entries
            .iter()
            .all(|entry| !entry.get("member").is_empty())
    );
    let base = asked(DY, Scope::Base, &format!("(member={B})"), &["1.1"]);
    assert_eq!(world.search(&world.root(), &base).dns(), [DY]);
    let compare = |dn: &str, value: &str| world.compare(&world.root(), dn, "member", value).code;
    assert_eq!(compare(DY, B), ResultCode::CompareTrue);
    assert_eq!(compare(DY, A), ResultCode::CompareFalse);
    assert_eq!(compare(NEST, B), ResultCode::CompareFalse);
    assert_eq!(compare(DY, "zz"), ResultCode::InvalidAttributeSyntax);
    let far = format!("cn=far,{TOP}");
    let attributes = [
        ("objectClass", "groupOfURLs"),
        ("cn", "far"),
        ("memberURL", "ldap://host/dc=example,dc=com??sub?(sn=b)"),
    ];
    let added = world.add(&world.root(), &far, &attributes);
    assert_eq!(added, LdapResult::success());
    assert_eq!(compare(&far, B), ResultCode::CompareFalse);
    assert_eq!(text(&format!("(member={B})")), [DY]);
    assert_eq!(shown(&world, &far, &["*"], "member"), [""; 0]);
    let changes = [(Delete, "memberURL", &[][..])];
    let changed = world.modify(&world.root(), &far, &changes);
    assert_eq!(changed, LdapResult::success());
    assert_eq!(compare(&far, B), ResultCode::NoSuchAttribute);
}

#[test]
fn a_base_above_the_database_finds_members_for_member_of_only() {
    let world = world(&["groupOfURLs memberURL member+memberOf"]);
    let above = ["ldap:///??sub?(sn=b)", "ldap:///dc=com??children?(sn=b)"];
    for (name, url) in ["all", "com"].into_iter().zip(above) {
        let group = format!("cn={name},{TOP}");
        let attributes = [
            ("objectClass", "groupOfURLs"),
            ("cn", name),
            ("memberURL", url),
        ];
        let added = world.add(&world.root(), &group, &attributes);
        assert_eq!(added, LdapResult::success());
        assert_eq!(shown(&world, &group, &["member"], "member"), [""; 0]);
        assert_eq!(world.names(&format!("(memberOf={group})")), [B]);
        assert!(!world.names(&format!("(member={B})")).contains(&group));
        let groups = shown(&world, B, &["memberOf"], "memberOf");
        assert!(groups.contains(&group), "{groups:?}");
    }
    let group = format!("cn=one,{TOP}");
    let attributes = [
        ("objectClass", "groupOfURLs"),
        ("cn", "one"),
        ("memberURL", "ldap:///dc=com??one?(objectClass=*)"),
    ];
    let added = world.add(&world.root(), &group, &attributes);
    assert_eq!(added, LdapResult::success());
    assert_eq!(world.names(&format!("(memberOf={group})")), [TOP]);
}

#[test]
fn entries_list_the_groups_that_find_or_name_them() {
    let groups = |world: &World, dn: &str| shown(world, dn, &["memberOf"], "memberOf");
    let dynamic = world(&["groupOfURLs memberURL member+memberOf"]);
    assert_eq!(groups(&dynamic, A), [""; 0]);
    assert_eq!(groups(&dynamic, B), [DY]);
    assert_eq!(dynamic.names("(memberOf=*)"), [B, C]);
    let flat = world(&["groupOfURLs memberURL member+memberOf@groupOfNames"]);
    assert_eq!(groups(&flat, A), [ST]);
    assert_eq!(groups(&flat, C), [L1, ODD]);
    assert_eq!(flat.names(&format!("(memberOf={NEST})")), [DY, ST]);
    let nested = nested();
    assert_eq!(groups(&nested, A), [NEST, ST]);
    assert_eq!(groups(&nested, B), [DY, NEST]);
    assert_eq!(groups(&nested, C), [L1, L2, ODD]);
    assert_eq!(groups(&nested, L1), [L1, L2]);
    assert_eq!(nested.names(&format!("(memberOf={NEST})")), [DY, ST, A, B]);
    assert_eq!(nested.names(&format!("(memberOf={L1})")), [L1, L2, C]);
    assert_eq!(nested.names(&format!("(memberOf={ODD})")), [C]);
    assert_eq!(nested.names("(memberOf=*)"), [DY, L1, L2, ST, A, B, C]);
    let others = nested.names(&format!("(!(memberOf={NEST}))"));
    assert_eq!(others.len(), 8);
    for world in [&nested, &flat] {
        let chain = |filter: &str| world.names(&filter.replace('~', IN_CHAIN));
        assert_eq!(chain(&format!("(memberOf:~:={NEST})")), [DY, ST, A, B]);
        assert_eq!(chain(&format!("(memberOf:~:={L1})")), [L1, L2, C]);
        assert_eq!(chain(&format!("(member:~:={B})")), [DY, NEST]);
        assert_eq!(chain(&format!("(member:~:={C})")), [L1, L2, ODD]);
        let mut slowly = asked(
            TOP,
            Scope::Subtree,
            &format!("(memberOf:{IN_CHAIN}:={NEST})"),
            &["1.1"],
        );
        slowly.quantum.candidates_max = 1;
        assert_eq!(world.search(&world.root(), &slowly).entries.len(), 4);
    }
    let compare = |value: &str| nested.compare(&nested.root(), A, "memberOf", value).code;
    assert_eq!(compare(NEST), ResultCode::CompareTrue);
    assert_eq!(compare(DY), ResultCode::CompareFalse);
    assert!(nested.read(A, &["+"]).names().contains(&"memberOf"));
    assert!(!nested.read(A, &["*"]).names().contains(&"memberOf"));
}

#[test]
fn groups_show_members_of_members_next_to_their_own_groups() {
    let world = nested();
    assert_eq!(shown(&world, NEST, &["member"], "member"), [DY, ST]);
    assert_eq!(
        shown(&world, NEST, &["*", "memberOf"], "member"),
        [DY, ST, A, B]
    );
    assert_eq!(shown(&world, L1, &["*", "+"], "member"), [L1, L2, C]);
    assert_eq!(shown(&world, DY, &["member", "memberOf"], "member"), [B]);
    let mut slowly = asked(
        NEST,
        Scope::Base,
        "(objectClass=*)",
        &["member", "memberOf"],
    );
    slowly.quantum.candidates_max = 1;
    let found = world.search(&world.root(), &slowly);
    assert_eq!(sorted(found.entries[0].get("member")).len(), 4);
}

#[test]
fn manage_dsa_it_shows_what_is_stored() {
    let world = nested();
    let found = |filter: &str| {
        let asked = managed(asked(TOP, Scope::Subtree, filter, &["*", "memberOf"]));
        world.search(&world.root(), &asked)
    };
    let all = found("(objectClass=*)");
    assert!(
        all.entries
            .iter()
            .all(|entry| entry.get("memberOf").is_empty())
    );
    assert_eq!(found(&format!("(memberOf={ST})")).dns(), [""; 0]);
    assert_eq!(found(&format!("(!(memberOf={ST}))")).entries.len(), 12);
    assert_eq!(found(&format!("(member={B})")).dns(), [""; 0]);
}

#[test]
fn clients_write_stored_values_only() {
    let world = nested();
    let root = world.root();
    let result = world.modify(&root, A, &[(Add, "memberOf", &[ST])]);
    let text = "memberOf: no user modification allowed";
    let refused = LdapResult::with_diagnostic(ResultCode::ConstraintViolation, text);
    assert_eq!(result, refused);
    let result = world.modify(&root, DY, &[(Delete, "member", &[B])]);
    assert_eq!(result.code, ResultCode::NoSuchAttribute);
}

#[test]
fn several_sets_work_side_by_side() {
    let sets = [
        "groupOfURLs memberURL member+memberOf",
        "labeledURIObject labeledURI mail:mail",
    ];
    let world = world(&sets);
    let root = world.root();
    let classes = [
        (Add, "objectClass", &["labeledURIObject"][..]),
        (
            Add,
            "labeledURI",
            &["ldap:///ou=p,dc=example,dc=com?mail?sub label"],
        ),
    ];
    assert_eq!(world.modify(&root, DY, &classes), LdapResult::success());
    let read = world.read(DY, &[]);
    assert_eq!(read.get("member"), [B]);
    assert_eq!(read.get("mail").len(), 2);
    assert_eq!(world.names("(mail=b@x.org)"), [DY, B]);
}

#[test]
fn lists_are_expanded_with_the_rights_of_the_requester() {
    let hidden = "to dn.subtree=\"ou=p,dc=example,dc=com\" by dn.exact=\"uid=a,ou=p,dc=example,dc=com\" read by * none";
    let rules = [hidden, "to * by * read"];
    let sets = ["groupOfURLs memberURL member+memberOf@groupOfNames*"];
    let world = world_with(&sets, &rules);
    let members = |session: &Session| {
        let asked = asked(DY, Scope::Base, "(objectClass=*)", &["member"]);
        let found = world.search(session, &asked);
        sorted(found.entries[0].get("member"))
    };
    let anyone = Session::new();
    assert_eq!(members(&world.user(A)), [B]);
    assert_eq!(members(&anyone), [""; 0]);
    assert_eq!(names_as(&world, &anyone, &format!("(member={B})")), [""; 0]);
    assert_eq!(
        names_as(&world, &world.user(A), &format!("(member={B})")),
        [DY]
    );
    let compare = world.compare(&anyone, DY, "member", B);
    assert_eq!(compare.code, ResultCode::CompareFalse);
    let identity = [
        (Add, "objectClass", &["dgIdentityAux"][..]),
        (Add, "dgIdentity", &[A]),
    ];
    assert_eq!(
        world.modify(&world.root(), DY, &identity),
        LdapResult::success()
    );
    assert_eq!(members(&anyone), [B]);
    assert_eq!(names_as(&world, &anyone, &format!("(member={B})")), [DY]);
    let only = format!("{{0}}dn:{C}");
    let authorized = [(Add, "dgAuthz", &[only.as_str()][..])];
    assert_eq!(
        world.modify(&world.root(), DY, &authorized),
        LdapResult::success()
    );
    assert_eq!(members(&anyone), [""; 0]);
    assert_eq!(members(&world.user(C)), [B]);
    let nobody = [(Replace, "dgIdentity", &[""][..]), (Delete, "dgAuthz", &[])];
    assert_eq!(
        world.modify(&world.root(), DY, &nobody),
        LdapResult::success()
    );
    assert_eq!(members(&world.user(A)), [""; 0]);
}

#[test]
fn groups_count_if_the_requester_may_search_for_them() {
    let sets = ["groupOfURLs memberURL member+memberOf@groupOfNames*"];
    let groups = |rule: &str| {
        let world = world_with(&sets, &[rule, "to * by * read"]);
        let asked = asked(A, Scope::Base, "(objectClass=*)", &["memberOf"]);
        let anyone = Session::new();
        let found = world.search(&anyone, &asked);
        let by_filter = names_as(&world, &anyone, &format!("(memberOf={NEST})"));
        (sorted(found.entries[0].get("memberOf")), by_filter)
    };
    let both = vec![NEST.to_owned(), ST.to_owned()];
    let (shown, found) = groups("to dn.exact=\"cn=st,dc=example,dc=com\" attrs=member by * none");
    assert_eq!((&shown, found.len()), (&both, 4));
    let (shown, found) = groups("to dn.exact=\"cn=st,dc=example,dc=com\" by * none");
    assert_eq!((shown.len(), found), (0, vec![DY.to_owned(), B.to_owned()]));
    let (shown, found) = groups("to attrs=memberOf by * none");
    assert_eq!((shown.len(), found.len()), (0, 0));
}

#[test]
fn entries_show_a_bounded_number_of_values() {
    let mut world = world(&[]);
    world.reopen(|options| {
        let set = "dynlist-attrset groupOfURLs~memberURL~member+memberOf@groupOfNames*";
        options.databases[0].overlays = vec![overlay("dynlist", &[set])];
        options.databases[0].expanded_max = 2;
    });
    let everybody = [(
        Replace,
        "memberURL",
        &["ldap:///dc=example,dc=com??sub?(objectClass=person)"][..],
    )];
    assert_eq!(
        world.modify(&world.root(), DY, &everybody),
        LdapResult::success()
    );
    let read = |dn: &str, attribute: &str| {
        let asked = asked(dn, Scope::Base, "(objectClass=*)", &[attribute]);
        let found = world.search(&world.root(), &asked);
        (found.entries[0].get(attribute).len(), found.result.code)
    };
    assert_eq!(read(DY, "member"), (2, ResultCode::SizeLimitExceeded));
    assert_eq!(read(C, "memberOf"), (2, ResultCode::SizeLimitExceeded));
    assert_eq!(read(ST, "memberOf"), (1, ResultCode::Success));
}

#[test]
fn pages_and_sorted_searches_show_lists_too() {
    let world = world(&["groupOfURLs memberURL member"]);
    let mut paged = asked(
        TOP,
        Scope::Subtree,
        "(objectClass=groupOfURLs)",
        &["member"],
    );
    paged.page = Some((1, Vec::new()));
    let first = world.search(&world.root(), &paged);
    assert_eq!(first.dns(), [DY]);
    assert_eq!(first.entries[0].get("member"), [B]);
    let order = SortRequest {
        keys: vec![SortKey {
            attribute: b"cn",
            rule: Some(b"caseIgnoreOrderingMatch"),
            reverse: true,
        }],
    };
    let mut sorted = asked(
        TOP,
        Scope::Subtree,
        "(objectClass=groupOfURLs)",
        &["member"],
    );
    sorted
        .controls
        .push((oid::SORT_REQUEST, true, Some(order.encode())));
    let found = world.search(&world.root(), &sorted);
    assert_eq!(found.dns(), [ODD, LIST, DY]);
    assert_eq!(found.entries[0].get("member"), [C]);
    assert_eq!(found.entries[2].get("member"), [B]);
}
