//! The overlay `memberof`: groups in the entries of their members. The model is slapd 2.5, without
//! its rule that only later changes count.

use std::sync::Arc;

use ModifyOperation::{Add, Delete, Replace};
use fulgurite_access::RuleText;
use fulgurite_directory::{Author, Importer, Session, SystemClock, SystemEntropy};
use fulgurite_ldap::control::ReadEntry;
use fulgurite_ldap::{
    Control, FilterBuf, LdapResult, ModifyDnRequest, ModifyOperation, Request, ResultCode, Scope,
    oid,
};
use fulgurite_policy::OverlaySettings;
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::IndexSpec;

use crate::guards::overlay;
use crate::support::{JANE, JOHN, PEOPLE, ROOT, TOP, World, asked, modify_pdu, pdu, write_request};

const GROUP: &str = "cn=all,ou=groups,dc=example,dc=com";
const IN_CHAIN: &str = "1.2.840.113556.1.4.1941";

/// Returns the example with overlays that have not seen its entries.
fn world_of(overlays: &[OverlaySettings]) -> World {
    let mut world = World::new();
    world.reopen(|options| options.databases[0].overlays = overlays.to_vec());
    world
}

pub(crate) fn world(lines: &[&str]) -> World {
    world_of(&[overlay("memberof", lines)])
}

#[track_caller]
pub(crate) fn assert_ok(result: &LdapResult) {
    assert_eq!(*result, LdapResult::success());
}

pub(crate) fn group(world: &World, cn: &str, members: &[&str]) -> String {
    let dn = format!("cn={cn},{TOP}");
    let mut attributes = vec![("objectClass", "groupOfNames"), ("cn", cn)];
    attributes.extend(members.iter().map(|member| ("member", *member)));
    assert_ok(&world.add(&world.root(), &dn, &attributes));
    dn
}

fn groups_of(world: &World, dn: &str) -> Vec<String> {
    let read = world.read(dn, &["memberOf"]);
    let groups = read.get("memberOf").into_iter();
    groups.map(str::to_owned).collect()
}

#[test]
fn members_show_their_groups_whenever_these_were_made() {
    let world = world(&[]);
    assert_eq!(groups_of(&world, JANE), [GROUP]);
    let later = format!("uid=later,{PEOPLE}");
    let early = group(
        &world,
        "early",
        &["UID=Later, OU=People,dc=example,dc=com", JANE],
    );
    let person = [("objectClass", "inetOrgPerson"), ("cn", "L"), ("sn", "L")];
    assert_ok(&world.add(&world.root(), &later, &person));
    assert_eq!(groups_of(&world, &later), std::slice::from_ref(&early));
    assert_eq!(groups_of(&world, JANE), [GROUP, &early]);
    assert_ok(&world.rename(&world.root(), &early, "cn=New  one", true, Some(PEOPLE)));
    let moved = format!("cn=New  one,{PEOPLE}");
    assert_eq!(groups_of(&world, &later), std::slice::from_ref(&moved));
    assert_ok(&world.rename(&world.root(), PEOPLE, "ou=folk", true, None));
    let jane = JANE.replace("people", "folk");
    assert_eq!(groups_of(&world, &jane), [""; 0]);
    let moved = moved.replace("people", "folk");
    let members = [(Replace, "member", &[jane.as_str()][..])];
    assert_ok(&world.modify(&world.root(), &moved, &members));
    assert_eq!(groups_of(&world, &jane), std::slice::from_ref(&moved));
    assert_ok(&world.delete(&world.root(), &moved));
    assert_eq!(groups_of(&world, &jane), [""; 0]);
    let stamps = ["entryCSN", "modifyTimestamp", "modifiersName"];
    let before = world.read(&jane, &stamps);
    world.clock.sleep_s(5);
    group(&world, "last", &[&jane]);
    assert_eq!(world.read(&jane, &stamps), before);
}

#[test]
fn groups_are_an_operational_attribute() {
    let world = world(&[]);
    let names = |attributes: &[&str]| {
        let read = world.read(JANE, attributes);
        let names = read.names().into_iter().map(str::to_owned);
        names.collect::<Vec<_>>()
    };
    assert!(names(&["+"]).contains(&"memberOf".to_owned()));
    assert!(!names(&["*"]).contains(&"memberOf".to_owned()));
    assert_eq!(names(&["MEMBEROF", "sn"]), ["memberOf", "sn"]);
    assert_eq!(
        world.read(GROUP, &["memberOf", "+"]).get("memberOf"),
        [""; 0]
    );
    let types = |dn: &str| {
        let mut asked = asked(dn, Scope::Base, "(objectClass=*)", &["memberOf"]);
        asked.types_only = true;
        let mut found = world.search(&world.root(), &asked).entries;
        found.remove(0)
    };
    assert_eq!(types(JANE).names(), ["memberOf"]);
    assert_eq!(types(JANE).get("memberOf"), [""; 0]);
    assert_eq!(types(GROUP).names(), [""; 0]);
}

#[test]
fn filters_find_members_by_their_groups() {
    let world = world(&[]);
    let other = group(&world, "other", &[JOHN, GROUP, "uid=nobody,dc=x"]);
    let one = |filter: String| world.names(&filter);
    assert_eq!(one(format!("(memberOf={GROUP})")), [JANE, JOHN]);
    assert_eq!(one(format!("(memberOf={other})")), [GROUP, JOHN]);
    assert_eq!(one(format!("(&(sn=doe)(memberOf={GROUP}))")), [JANE]);
    assert_eq!(one(format!("(&(sn=doe)(memberOf={other}))")), [""; 0]);
    let both = format!("(&(memberOf={GROUP})(memberOf=CN=Other, {TOP}))");
    assert_eq!(one(both), [JOHN]);
    let either = format!("(|(memberOf={GROUP})(memberOf={other}))");
    assert_eq!(one(either), [GROUP, JANE, JOHN]);
    assert_eq!(one("(memberOf=*)".to_owned()), [GROUP, JANE, JOHN]);
    let others = one("(!(memberOf=*))".to_owned());
    assert_eq!(others.len(), 4);
    let others = one(format!("(!(memberOf={GROUP}))"));
    assert!(others.contains(&other) && !others.contains(&JANE.to_owned()));
    assert_eq!(others.len(), 5);
    for nothing in ["cn=none,dc=example,dc=com", JANE, "cn=x", "zz"] {
        assert_eq!(one(format!("(memberOf={nothing})")), [""; 0]);
    }
    let within = one(format!("(memberOf:dnSubtreeMatch:=ou=groups,{TOP})"));
    assert_eq!(within, [JANE, JOHN]);
    let again = one(format!("(memberOf:distinguishedNameMatch:={other})"));
    assert_eq!(again, [GROUP, JOHN]);
    let nested = one(format!("(memberOf:{IN_CHAIN}:={other})"));
    assert_eq!(nested, [GROUP, JANE, JOHN]);
    let base = asked(JANE, Scope::Base, &format!("(memberOf={other})"), &["1.1"]);
    assert_eq!(world.search(&world.root(), &base).dns(), [""; 0]);
}

#[test]
fn compares_sort_and_assert_groups() {
    let world = world(&[]);
    let compare = |dn: &str, value: &str| {
        let result = world.compare(&world.root(), dn, "memberOf", value);
        result.code
    };
    assert_eq!(
        compare(JANE, "CN=All, ou=groups,dc=example,dc=com"),
        ResultCode::CompareTrue
    );
    assert_eq!(compare(JANE, "cn=other"), ResultCode::CompareFalse);
    assert_eq!(compare(GROUP, "cn=other"), ResultCode::NoSuchAttribute);
    assert_eq!(compare(JANE, "zz"), ResultCode::InvalidAttributeSyntax);
    let asserted = |filter: &str| {
        let filter = FilterBuf::parse(filter).expect(filter);
        let control = Control::with_value(oid::ASSERTION, true, filter.encoded());
        let bytes = modify_pdu_with(JANE, &[(Replace, "title", &["x"])], &[control]);
        world.write(&world.root(), &bytes).code
    };
    assert_eq!(
        asserted(&format!("(memberOf={GROUP})")),
        ResultCode::Success
    );
    assert_eq!(asserted("(memberOf=cn=other)"), ResultCode::AssertionFailed);
}

fn modify_pdu_with(
    dn: &str,
    changes: &[(ModifyOperation, &str, &[&str])],
    controls: &[Control<'_>],
) -> Vec<u8> {
    let plain = modify_pdu(dn, changes);
    let message = crate::support::decode(&plain);
    pdu(&message.request, controls)
}

#[test]
fn clients_write_no_groups() {
    let world = world(&[]);
    let text = "memberOf: no user modification allowed";
    let refused = LdapResult::with_diagnostic(ResultCode::ConstraintViolation, text);
    for (operation, values) in [(Add, &[GROUP][..]), (Delete, &[]), (Replace, &[])] {
        let changes = [(operation, "memberOf", values)];
        assert_eq!(world.modify(&world.root(), JANE, &changes), refused);
    }
    let person = [
        ("objectClass", "inetOrgPerson"),
        ("cn", "L"),
        ("sn", "L"),
        ("memberOf", GROUP),
    ];
    let dn = format!("uid=l,{PEOPLE}");
    assert_eq!(world.add(&world.root(), &dn, &person), refused);
}

#[test]
fn groups_may_be_a_user_attribute() {
    let world = world(&["memberof-memberof-ad seeAlso", "memberof-addcheck TRUE"]);
    let groups = |dn: &str, asked: &[&str]| {
        let read = world.read(dn, asked);
        let groups = read.get("seeAlso").into_iter();
        groups.map(str::to_owned).collect::<Vec<_>>()
    };
    for asked in ["*", "seeAlso"] {
        assert_eq!(groups(JANE, &[asked]), [GROUP]);
        assert_eq!(groups(GROUP, &[asked]), [""; 0]);
    }
    assert_eq!(groups(JANE, &["+"]), [""; 0]);
    assert_eq!(world.names(&format!("(seeAlso={GROUP})")), [JANE, JOHN]);
    let text = "seeAlso: no user modification allowed";
    let refused = LdapResult::with_diagnostic(ResultCode::ConstraintViolation, text);
    let other = [(Add, "seeAlso", &["cn=x"][..])];
    assert_eq!(world.modify(&world.root(), JANE, &other), refused);
    // The attribute is an ordinary one with options.
    let other = [(Add, "seeAlso;lang-de", &["cn=x"][..])];
    assert_ok(&world.modify(&world.root(), JANE, &other));
    let members = [(Replace, "member", &[JOHN][..])];
    assert_ok(&world.modify(&world.root(), GROUP, &members));
    assert_eq!(groups(JANE, &["*"]), [""; 0]);
    assert_eq!(groups(JOHN, &["*"]), [GROUP]);
}

#[test]
fn rules_decide_who_sees_groups() {
    let mut world = World::new();
    let rules =
        "access to dn.base=\"uid=jane,ou=people,dc=example,dc=com\" attrs=memberOf by * none
        access to attrs=memberOf by users read by * none
        access to * by * read";
    let rules: Vec<RuleText> = rules
        .split("access ")
        .filter(|rule| !rule.trim().is_empty())
        .map(|rule| RuleText::from(rule.trim().to_owned()))
        .collect();
    world.reopen(|options| {
        options.databases[0].overlays = vec![overlay("memberof", &[])];
        options.databases[0].access = rules;
    });
    let filter = format!("(memberOf={GROUP})");
    let found =
        |session| world.search(session, &asked(TOP, Scope::Subtree, &filter, &["memberOf"]));
    let user = world.user(JOHN);
    let seen = found(&user);
    assert_eq!(seen.dns(), [JOHN]);
    assert_eq!(seen.entries[0].get("memberOf"), [GROUP]);
    let anonymous = Session::new();
    assert_eq!(found(&anonymous).dns(), [""; 0]);
    let not = asked(TOP, Scope::Subtree, &format!("(!{filter})"), &["1.1"]);
    assert_eq!(world.search(&anonymous, &not).dns(), [""; 0]);
    assert!(!world.search(&user, &not).dns().contains(&JANE));
    let hidden = world.compare(&user, JANE, "memberOf", GROUP);
    assert_eq!(hidden.code, ResultCode::InsufficientAccessRights);
    assert_eq!(
        world.compare(&user, JOHN, "memberOf", GROUP).code,
        ResultCode::CompareTrue
    );
    let read = world.search(&user, &asked(JANE, Scope::Base, "(objectClass=*)", &["+"]));
    assert_eq!(read.entries[0].get("memberOf"), [""; 0]);
}

#[test]
fn rules_see_groups() {
    let mut world = World::new();
    let by_group = format!("to filter=(memberOf={GROUP}) attrs=mail by * read");
    let members = format!("to dn.base=\"{TOP}\" by set=\"user/memberOf & [{GROUP}]\" read");
    let owners = format!("to dn.base=\"{JOHN}\" by dnattr=memberOf read");
    let rules = [
        &by_group,
        "to attrs=mail by * none",
        &members,
        &owners,
        "to * by * search",
    ];
    let rules = rules.map(|rule| RuleText::from(rule.to_owned()));
    world.reopen(|options| {
        options.databases[0].overlays = vec![overlay("memberof", &[])];
        options.databases[0].access = rules.to_vec();
    });
    let other = group(&world, "other", &[GROUP]);
    let reads = |user: &str, dn: &str| {
        let asked = asked(dn, Scope::Base, "(objectClass=*)", &["1.1"]);
        !world.search(&world.user(user), &asked).entries.is_empty()
    };
    assert!(reads(JANE, TOP) && !reads(GROUP, TOP));
    assert!(!reads("uid=nobody,dc=example,dc=com", TOP));
    assert!(reads(GROUP, JOHN) && !reads(&other, JOHN));
    let mail = |dn: &str| {
        let rights = world.compare(&world.user(GROUP), dn, "mail", "x");
        rights.code != ResultCode::InsufficientAccessRights
    };
    assert!(mail(JANE) && !mail(GROUP));
    let leave = [(Delete, "member", &[JANE][..])];
    assert_ok(&world.modify(&world.root(), GROUP, &leave));
    assert!(!reads(JANE, TOP) && !mail(JANE));
}

#[test]
fn stored_values_do_not_count() {
    let mut world = World::empty_with_store(
        |_| {},
        |store| {
            let indexes = ["objectClass:eq", "member:eq", "memberOf:eq,pres"];
            let indexes = indexes.map(|text| text.parse::<IndexSpec>().expect(text));
            store.indexes = Some(indexes.to_vec());
        },
    );
    world.load_example();
    let schema = world.directory.schema();
    let mut entry = Entry::new(Dn::parse(schema, &format!("uid=old,{PEOPLE}")).expect("a name"));
    for (name, value) in [
        ("objectClass", "inetOrgPerson"),
        ("cn", "Old"),
        ("sn", "Old"),
        ("memberOf", "cn=gone,dc=example,dc=com"),
        ("memberOf", GROUP),
    ] {
        let description = schema.describe(name.as_bytes()).expect(name);
        entry.push(&description, value.as_bytes().to_vec());
    }
    let (clock, entropy) = (Arc::new(SystemClock::default()), Arc::new(SystemEntropy));
    let author = Author {
        name: ROOT.to_owned(),
        ..Author::default()
    };
    let importer = Importer::new(Arc::clone(schema), &author, clock, entropy);
    let mut importer = importer.expect("whole");
    let checked = importer.complete(entry).expect("a sound entry");
    let mut writer = world.store.write().expect("the writer");
    let parent = Dn::parse(schema, PEOPLE).expect("a name");
    let parent = writer.find(&parent).expect("found").entry().expect("there");
    writer.add(parent, &checked).expect("added");
    writer.commit().expect("committed");
    let old = format!("uid=old,{PEOPLE}");
    assert_eq!(groups_of(&world, &old).len(), 2);
    remove_with_relax(&world, &old);
    world.reopen(|options| options.databases[0].overlays = vec![overlay("memberof", &[])]);
    assert_eq!(groups_of(&world, &old), [""; 0]);
    assert_eq!(world.read(&old, &["+"]).get("memberOf"), [""; 0]);
    assert_eq!(world.names("(memberOf=cn=gone,dc=example,dc=com)"), [""; 0]);
    assert_eq!(world.names(&format!("(memberOf={GROUP})")), [JANE, JOHN]);
    assert_eq!(world.names("(memberOf=*)"), [JANE, JOHN]);
    let result = world.compare(&world.root(), &old, "memberOf", GROUP);
    assert_eq!(result.code, ResultCode::NoSuchAttribute);
}

/// Removes one of the stored values, which no group would change.
fn remove_with_relax(world: &World, old: &str) {
    let root = world.root();
    let gone: (ModifyOperation, &str, &[&str]) =
        (Delete, "memberOf", &["cn=gone,dc=example,dc=com"]);
    let refused = world.modify(&root, old, &[gone]);
    assert_eq!(refused.code, ResultCode::ConstraintViolation);
    let relaxed = |change| {
        let relax = Control {
            oid: oid::RELAX.as_bytes(),
            critical: true,
            value: None,
        };
        world.write(&root, &modify_pdu_with(old, &[change], &[relax]))
    };
    assert_ok(&relaxed(gone));
    assert_eq!(groups_of(world, old), [GROUP]);
    let (_, name, values) = gone;
    let refused = relaxed((Add, name, values));
    assert_eq!(refused.code, ResultCode::ConstraintViolation);
}

#[test]
fn overlays_add_their_groups_up() {
    let names = overlay("memberof", &[]);
    let unique = [
        "memberof-group-oc groupOfUniqueNames",
        "memberof-member-ad uniqueMember",
    ];
    let world = world_of(&[names, overlay("memberof", &unique)]);
    let dn = format!("cn=u,{TOP}");
    let with_id = format!("{JOHN}#'01'B");
    let attributes = [
        ("objectClass", "groupOfUniqueNames"),
        ("uniqueMember", JANE),
        ("uniqueMember", &with_id),
    ];
    assert_ok(&world.add(&world.root(), &dn, &attributes));
    let device = format!("cn=d,{TOP}");
    let attributes = [
        ("objectClass", "device"),
        ("objectClass", "extensibleObject"),
        ("member", JANE),
    ];
    assert_ok(&world.add(&world.root(), &device, &attributes));
    assert_eq!(groups_of(&world, JANE), [GROUP, &dn]);
    assert_eq!(groups_of(&world, JOHN), [GROUP]);
    assert_eq!(world.names(&format!("(memberOf={dn})")), [JANE]);
    assert_eq!(world.names(&format!("(memberOf={device})")), [""; 0]);
    assert_eq!(world.names("(memberOf=*)"), [JANE, JOHN]);
    let nested = format!("(memberOf:{IN_CHAIN}:={device})");
    assert_eq!(world.names(&nested), [""; 0]);
}

#[test]
fn members_that_name_nothing_are_refused() {
    let world = world(&["memberof-dangling error"]);
    let refused =
        |code| LdapResult::with_diagnostic(code, "adding non-existing object as group member");
    let violation = refused(ResultCode::ConstraintViolation);
    let (root, none) = (world.root(), "uid=z,dc=example,dc=com");
    let modify = |changes: &[(ModifyOperation, &str, &[&str])]| world.modify(&root, GROUP, changes);
    assert_eq!(modify(&[(Add, "member", &[TOP, none])]), violation);
    assert_eq!(modify(&[(Replace, "member", &[none])]), violation);
    assert_eq!(
        modify(&[(Add, "member", &[none]), (Delete, "member", &[none])]),
        violation
    );
    assert_ok(&modify(&[(Add, "member", &[GROUP])]));
    assert_ok(&modify(&[
        (Replace, "member", &[]),
        (Add, "member", &[JOHN]),
    ]));
    let gone = modify(&[(Delete, "member", &[none])]);
    assert_eq!(gone.code, ResultCode::NoSuchAttribute);
    let add = |cn: &str, class: &str, member: &str| {
        let dn = format!("cn={cn},{TOP}");
        let classes = [("objectClass", class), ("objectClass", "extensibleObject")];
        let more = [("cn", cn), ("member", member)];
        world.add(&root, &dn, &[&classes[..], &more].concat())
    };
    for member in [none, "cn=self,dc=example,dc=com", "cn=self,dc=y", ""] {
        assert_eq!(add("self", "groupOfNames", member), violation, "{member}");
    }
    assert_ok(&add("device", "device", none));
    assert_ok(&add(
        "device2",
        "groupOfNames",
        "cn=DEVICE, dc=example,dc=com",
    ));
    let relax = Control {
        oid: oid::RELAX.as_bytes(),
        critical: true,
        value: None,
    };
    let bytes = modify_pdu_with(GROUP, &[(Add, "member", &[none])], &[relax]);
    assert_ok(&world.write(&root, &bytes));
    let coded = self::world(&["memberof-dangling error", "memberof-dangling-error 32"]);
    let result = coded.modify(&coded.root(), GROUP, &[(Add, "member", &[none])]);
    assert_eq!(result, refused(ResultCode::NoSuchObject));
}

#[test]
fn members_that_name_nothing_are_dropped() {
    let world = world(&["memberof-dangling drop"]);
    let (root, none) = (world.root(), "uid=z,dc=example,dc=com");
    let modify = |changes: &[(ModifyOperation, &str, &[&str])]| {
        let result = world.modify(&root, GROUP, changes);
        let read = world.read(GROUP, &["member"]);
        let members: Vec<String> = read.get("member").into_iter().map(str::to_owned).collect();
        (result.code, members)
    };
    let is = |members: &[&str]| {
        let members: Vec<String> = members.iter().map(|&member| member.to_owned()).collect();
        (ResultCode::Success, members)
    };
    assert_eq!(modify(&[(Add, "member", &[none])]), is(&[JANE, JOHN]));
    assert_eq!(modify(&[(Replace, "member", &[none])]), is(&[JANE, JOHN]));
    assert_eq!(
        modify(&[(Add, "member", &[none, TOP, ""])]),
        is(&[JANE, JOHN, TOP])
    );
    assert_eq!(
        modify(&[(Replace, "member", &[none, JOHN]), (Replace, "o", &["x"])]),
        is(&[JOHN])
    );
    assert_eq!(world.read(GROUP, &["o"]).get("o"), ["x"]);
    let gone = modify(&[(Delete, "member", &[none])]);
    assert_eq!(gone.0, ResultCode::NoSuchAttribute);
    let text = "object class 'groupOfNames' requires attribute 'member'";
    let refused = LdapResult::with_diagnostic(ResultCode::ObjectClassViolation, text);
    let add = |members: &[&str]| {
        let mut attributes = vec![("objectClass", "groupOfNames"), ("cn", "g")];
        attributes.extend(members.iter().map(|member| ("member", *member)));
        world.add(&root, &format!("cn=g,{TOP}"), &attributes)
    };
    assert_eq!(add(&[none, "cn=g,dc=example,dc=com"]), refused);
    assert_ok(&add(&[none, JOHN, "cn=g,dc=example,dc=com"]));
    let read = world.read(&format!("cn=g,{TOP}"), &["member"]);
    assert_eq!(read.get("member"), [JOHN]);
}

#[test]
fn members_follow_their_entries() {
    let world = world(&["memberof-refint TRUE", "memberof-dn cn=me"]);
    let device = format!("cn=d,{TOP}");
    let attributes = [
        ("objectClass", "device"),
        ("objectClass", "extensibleObject"),
        ("member", JANE),
    ];
    assert_ok(&world.add(&world.root(), &device, &attributes));
    assert_ok(&world.rename(&world.root(), JANE, "uid=jane", true, None));
    let read = world.read(GROUP, &["member", "modifiersName"]);
    assert_eq!(read.get("member"), [JANE, JOHN]);
    assert_ne!(read.get("modifiersName"), ["cn=me"]);
    assert_ok(&world.rename(&world.root(), JANE, "uid=j", true, None));
    let renamed = JANE.replace("jane", "j");
    let read = world.read(GROUP, &["member", "modifiersName"]);
    assert_eq!(read.get("member"), [JOHN, &renamed]);
    assert_eq!(read.get("modifiersName"), ["cn=me"]);
    assert_eq!(world.read(&device, &["member"]).get("member"), [JANE]);
    assert_eq!(groups_of(&world, &renamed), [GROUP]);
    assert_ok(&world.delete(&world.root(), &renamed));
    assert_eq!(world.read(GROUP, &["member"]).get("member"), [JOHN]);
    // A group that has the new name only loses the old one.
    let known = JOHN.replace("john", "known");
    let both = group(&world, "both", &[&known, JOHN]);
    assert_ok(&world.rename(&world.root(), JOHN, "uid=known", true, None));
    assert_eq!(world.read(&both, &["member"]).get("member"), [&known]);
    let by_root = self::world(&["memberof-refint TRUE"]);
    assert_ok(&by_root.delete(&by_root.root(), JANE));
    let read = by_root.read(GROUP, &["modifiersName"]);
    assert_eq!(read.get("modifiersName"), [ROOT]);
}

#[test]
fn a_large_group_costs_its_members_little() {
    let world = world(&[]);
    let member = |number: usize| format!("uid=m{number},{PEOPLE}");
    let mut names: Vec<String> = (0..3000).map(member).collect();
    names.push(JOHN.to_owned());
    let values: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_ok(&world.modify(&world.root(), GROUP, &[(Replace, "member", &values)]));
    assert_eq!(groups_of(&world, JOHN), [GROUP]);
    assert_eq!(groups_of(&world, JANE), [""; 0]);
    for filter in [
        format!("(memberOf={GROUP})"),
        format!("(&(uid=john)(memberOf={GROUP}))"),
        format!("(&(objectClass=person)(memberOf={GROUP}))"),
    ] {
        assert_eq!(world.names(&filter), [JOHN], "{filter}");
    }
    let mut slowly = asked(
        TOP,
        Scope::Subtree,
        &format!("(memberOf={GROUP})"),
        &["1.1"],
    );
    slowly.quantum.candidates_max = 7;
    assert_eq!(world.search(&world.root(), &slowly).dns(), [JOHN]);
}

#[test]
fn presence_is_planned_from_the_members_of_all_groups() {
    let world = world(&[]);
    for number in 0..60 {
        let dn = format!("uid=m{number},{PEOPLE}");
        let person = [("objectClass", "inetOrgPerson"), ("cn", "M"), ("sn", "M")];
        assert_ok(&world.add(&world.root(), &dn, &person));
    }
    group(&world, "other", &[JOHN, "uid=nobody,dc=x", GROUP]);
    assert_eq!(world.examined("(memberOf=*)"), (3, 3));
    assert_eq!(world.examined("(&(cn=M)(memberOf=*))"), (3, 0));
    assert_eq!(
        world.examined(&format!("(|(memberOf={GROUP})(memberOf=*))")),
        (3, 3)
    );
    assert_eq!(world.names("(memberOf=*)"), [GROUP, JANE, JOHN]);
    let (_, others) = world.examined("(!(memberOf=*))");
    assert_eq!(others, 64);
    let mut slowly = asked(TOP, Scope::Subtree, "(memberOf=*)", &["1.1"]);
    slowly.quantum.candidates_max = 1;
    assert_eq!(world.search(&world.root(), &slowly).entries.len(), 3);
}

#[test]
fn post_read_shows_groups_after_the_change() {
    let world = world(&["memberof-refint TRUE"]);
    let attributes = vec![&b"memberOf"[..]];
    let value = ReadEntry { attributes }.encode();
    let control = Control::with_value(oid::POST_READ, true, &value);
    let request = Request::ModifyDn(ModifyDnRequest {
        dn: JANE.as_bytes(),
        new_rdn: b"uid=j",
        delete_old_rdn: true,
        new_superior: None,
    });
    let bytes = pdu(&request, &[control]);
    let replies = world
        .directory
        .apply(&[write_request(&world.root(), &bytes)]);
    assert_ok(&replies[0].result);
    let shown = String::from_utf8_lossy(&replies[0].bytes).into_owned();
    assert!(
        shown.contains("memberOf") && shown.contains(GROUP),
        "{shown}"
    );
}
