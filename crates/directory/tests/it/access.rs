use ModifyOperation::Replace;
use fulgurite_directory::Session;
use fulgurite_ldap::{ModifyOperation, ResultCode, Scope};

use crate::support::{JANE, JOHN, PEOPLE, TOP, World, asked, code};

fn world(rules: &[&str]) -> World {
    World::with(|options| options.access = rules.iter().map(|&rule| rule.into()).collect())
}

#[test]
fn passwords_are_neither_shown_nor_searched() {
    let world = World::new();
    let anonymous = Session::new();
    let entry = &world
        .search(
            &anonymous,
            &asked(JANE, Scope::Base, "(uid=jane)", &["*", "userPassword"]),
        )
        .entries[0];
    assert!(entry.names().contains(&"mail") && !entry.names().contains(&"userPassword"));
    for filter in [
        "(userPassword=*)",
        "(userPassword=jane's)",
        "(!(userPassword=x))",
        "(:octetStringMatch:=jane's)",
        "(|(userPassword=*)(cn=nobody))",
    ] {
        let found = world.search(&anonymous, &asked(TOP, Scope::Subtree, filter, &[]));
        assert_eq!(found.dns(), [""; 0], "{filter}");
        assert_eq!(code(&found.result), ResultCode::Success);
    }
    assert_eq!(
        world.names("(userPassword=*)"),
        [JANE],
        "root sees everything"
    );
    assert_eq!(
        world.read(JANE, &["userPassword"]).get("userPassword"),
        ["jane's"]
    );
}

/// Rules that depend on names and on who is who.
const RULES: [&str; 6] = [
    "to attrs=userPassword by self write by anonymous auth",
    r#"to dn.subtree="ou=people,dc=example,dc=com" attrs=mail by self write by users search"#,
    r#"to dn.exact="uid=john,ou=people,dc=example,dc=com" attrs=entry by users read by * none"#,
    r#"to dn.children="ou=groups,dc=example,dc=com" by * none"#,
    r#"to dn.exact="ou=groups,dc=example,dc=com" attrs=entry by users search by * disclose"#,
    "to * by * read",
];

#[test]
fn entries_and_attributes_depend_on_the_requester() {
    let world = world(&RULES);
    let (anonymous, jane, john) = (Session::new(), world.user(JANE), world.user(JOHN));
    let mail = |session: &Session, filter: &str| {
        let found = world.search(session, &asked(TOP, Scope::Subtree, filter, &["mail"]));
        assert_eq!(code(&found.result), ResultCode::Success);
        found
            .entries
            .iter()
            .map(|entry| format!("{} {}", entry.dn, entry.get("mail").join(" ")))
            .collect::<Vec<_>>()
    };
    // Anonymous: John's entry is hidden, mail neither searched nor seen.
    assert_eq!(
        mail(&anonymous, "(objectClass=person)"),
        [format!("{JANE} ")]
    );
    assert_eq!(mail(&anonymous, "(mail=jane@example.com)"), [""; 0]);
    assert_eq!(mail(&anonymous, "(!(mail=x))"), [TOP.to_owned() + " "]);
    // John may search by Jane's mail, but not see it.
    assert_eq!(mail(&john, "(mail=jane@example.com)"), [format!("{JANE} ")]);
    assert_eq!(
        mail(&jane, "(mail=jane@example.com)"),
        [format!("{JANE} jane@example.com")]
    );
    assert_eq!(mail(&john, "(cn=all)"), [""; 0], "groups are hidden");
}

#[test]
fn a_hidden_base_counts_as_missing() {
    let world = world(&RULES);
    let (anonymous, jane) = (Session::new(), world.user(JANE));
    let search = |session: &Session, base: &str| {
        let found = world.search(
            session,
            &asked(base, Scope::Subtree, "(objectClass=*)", &[]),
        );
        (code(&found.result), found.result.matched_dn)
    };
    let groups = "ou=groups,dc=example,dc=com";
    assert_eq!(
        search(&anonymous, JOHN),
        (ResultCode::NoSuchObject, PEOPLE.to_owned())
    );
    assert_eq!(search(&jane, JOHN).0, ResultCode::Success);
    assert_eq!(
        search(&anonymous, groups).0,
        ResultCode::InsufficientAccessRights
    );
    assert_eq!(search(&jane, groups).0, ResultCode::Success);
    // matchedDN names the nearest ancestor that may be known.
    let below = |dn: &str| format!("cn=x,{dn}");
    assert_eq!(search(&anonymous, &below(JOHN)).1, PEOPLE);
    assert_eq!(search(&jane, &below(JOHN)).1, JOHN);
    // Every name below the groups is hidden: one that is there, and one that is not.
    for hidden in ["cn=x", "cn=all", "cn=x,cn=all"] {
        let name = format!("{hidden},{groups}");
        assert_eq!(search(&anonymous, &name).1, "", "{name}");
    }
}

#[test]
fn no_matched_name_below_an_entry_that_hides_its_children() {
    let world = world(&[
        "access to dn.children=\"ou=people,dc=example,dc=com\" by users read by * none",
        "access to * by * read",
    ]);
    let matched = |session: &Session, base: &str| {
        let found = world.search(session, &asked(base, Scope::Base, "(objectClass=*)", &[]));
        assert_eq!(code(&found.result), ResultCode::NoSuchObject, "{base}");
        found.result.matched_dn
    };
    let anonymous = Session::new();
    let missing = format!("uid=nobody,{PEOPLE}");
    for name in [JOHN, &missing, &format!("cn=x,{JOHN}")] {
        assert_eq!(matched(&anonymous, name), "", "{name}");
    }
    assert_eq!(matched(&world.user(JANE), &missing), PEOPLE);
    assert_eq!(matched(&anonymous, "cn=x,dc=example,dc=com"), TOP);
}

#[test]
fn compare_and_bind_need_their_rights() {
    let world = world(&RULES);
    let compare = |session: &Session, dn: &str, name: &str, value: &str| {
        code(&world.compare(session, dn, name, value))
    };
    let (anonymous, jane) = (Session::new(), world.user(JANE));
    assert_eq!(
        compare(&anonymous, JOHN, "sn", "Roe"),
        ResultCode::CompareTrue,
        "the right to compare does not take the right to see that the entry is there"
    );
    assert_eq!(compare(&jane, JOHN, "sn", "Roe"), ResultCode::CompareTrue);
    assert_eq!(
        compare(&anonymous, JANE, "mail", "x"),
        ResultCode::InsufficientAccessRights
    );
    assert_eq!(
        compare(&jane, JANE, "userPassword", "jane's"),
        ResultCode::CompareTrue
    );
    assert_eq!(code(&world.bind(JANE, "jane's").0), ResultCode::Success);
}

#[test]
fn updates_need_rights_to_the_written_attributes() {
    let world = world(&[
        "to attrs=userPassword,mail by self write by * auth",
        r#"to dn.exact="ou=people,dc=example,dc=com" attrs=children by dn.exact="uid=john,ou=people,dc=example,dc=com" write"#,
        r#"to dn.children="ou=people,dc=example,dc=com" attrs=entry,uid by dn.exact="uid=john,ou=people,dc=example,dc=com" write by * read"#,
        "to * by * read",
    ]);
    let (jane, john) = (world.user(JANE), world.user(JOHN));
    let modify = |session: &Session, dn: &str, names: &[&str]| {
        let changes: Vec<(ModifyOperation, &str, &[&str])> = names
            .iter()
            .map(|&name| (Replace, name, &["x@y"][..]))
            .collect();
        code(&world.modify(session, dn, &changes))
    };
    let refused = ResultCode::InsufficientAccessRights;
    assert_eq!(
        modify(&jane, JANE, &["mail", "userPassword"]),
        ResultCode::Success
    );
    assert_eq!(modify(&jane, JANE, &["mail", "title"]), refused);
    assert_eq!(modify(&john, JANE, &["mail"]), refused);
    let person = [("objectClass", "inetOrgPerson"), ("cn", "x"), ("sn", "x")];
    let new = "uid=new,ou=people,dc=example,dc=com";
    assert_eq!(code(&world.add(&jane, new, &person)), refused);
    assert_eq!(code(&world.add(&john, new, &person)), ResultCode::Success);
    assert_eq!(
        code(&world.add(&john, "uid=new,dc=example,dc=com", &person)),
        refused
    );
    assert_eq!(
        code(&world.rename(&john, new, "uid=newer", true, None)),
        ResultCode::Success
    );
    let newer = "uid=newer,ou=people,dc=example,dc=com";
    assert_eq!(
        code(&world.rename(&john, newer, "cn=x", true, None)),
        ResultCode::Success,
        "cn is there, uid may go"
    );
    let by_cn = "cn=x,ou=people,dc=example,dc=com";
    assert_eq!(
        code(&world.rename(&john, by_cn, "cn=y", true, None)),
        refused
    );
    assert_eq!(
        code(&world.rename(&john, by_cn, "uid=z", false, Some(TOP))),
        refused
    );
    assert_eq!(code(&world.delete(&jane, by_cn)), refused);
    assert_eq!(code(&world.delete(&john, by_cn)), ResultCode::Success);
    assert_eq!(code(&world.delete(&john, PEOPLE)), refused);
}

#[test]
fn single_values_are_hidden_from_every_question() {
    let world = world(&[
        r#"to attrs=mail val.regex="^jane" by users read"#,
        "to * by * read",
    ]);
    let (anonymous, john) = (Session::new(), world.user(JOHN));
    let finds = |session: &Session, filter: &str| {
        let found = world.search(session, &asked(TOP, Scope::Subtree, filter, &["mail"]));
        let mails = found.entries.iter().filter(|entry| entry.dn == JANE);
        mails.map(|entry| entry.get("mail").join(" ")).next()
    };
    // Jane has that one address: nothing tells that it is there.
    for filter in [
        "(mail=*)",
        "(mail=jane*)",
        "(mail=*example*)",
        "(mail=jane@example.com)",
        "(!(mail=jane@example.com))",
        "(:caseIgnoreIA5Match:=jane@example.com)",
    ] {
        assert_eq!(finds(&anonymous, filter), None, "{filter}");
    }
    assert_eq!(finds(&anonymous, "(uid=jane)"), Some(String::new()));
    assert_eq!(
        finds(&john, "(mail=jane*)"),
        Some("jane@example.com".to_owned())
    );
    let compare = |value: &str| code(&world.compare(&anonymous, JANE, "mail", value));
    assert_eq!(
        compare("jane@example.com"),
        ResultCode::InsufficientAccessRights
    );
    assert_eq!(compare("somebody@example.com"), ResultCode::NoSuchAttribute);
}

#[test]
fn groups_count_with_uniform_rules() {
    let rules = [
        r#"to attrs=mail by group.exact="cn=all,ou=groups,dc=example,dc=com" read by * none"#,
        "to * by * read",
    ];
    let world = world(&rules);
    let (jane, nobody) = (world.user(JANE), Session::new());
    let mail = |session: &Session| {
        let found = world.search(
            session,
            &asked(TOP, Scope::Subtree, "(mail=jane@*)", &["mail"]),
        );
        found.dns().len()
    };
    assert_eq!((mail(&jane), mail(&nobody)), (1, 0));
}

/// A count of children reveals hidden ones. Only requesters with the same rights to all entries get
/// it.
#[test]
fn children_are_counted_only_with_uniform_rules() {
    let world = world(&RULES);
    let jane = world.user(JANE);
    let base = asked(PEOPLE, Scope::Base, "(objectClass=*)", &["numSubordinates"]);
    assert_eq!(world.search(&jane, &base).entries[0].names(), [""; 0]);
    for filter in ["(numSubordinates>=1)", "(!(numSubordinates=77))"] {
        let found = world.search(&jane, &asked(TOP, Scope::Subtree, filter, &[]));
        assert_eq!(found.dns(), [""; 0], "{filter}");
    }
    let compared = world.compare(&jane, PEOPLE, "numSubordinates", "2");
    assert_eq!(code(&compared), ResultCode::NoSuchAttribute);
    assert_eq!(
        world.read(PEOPLE, &["numSubordinates"]).names(),
        ["numSubordinates"]
    );
}
