//! Searches: filters, scopes, selections, limits, references, aliases.

use crate::data::{SUFFIX, UNORDERED, heads, names};
use crate::stage::Stage;

#[test]
fn filters_and_what_they_find() {
    let stage = Stage::loaded("search", "index cn,sn,uid,mail pres,eq,sub", UNORDERED);
    let server = stage.start();
    for (filter, expected) in [
        ("(sn=jensen)", &["cn=Barbara Jensen", "cn=Bjorn Jensen"][..]),
        ("(SN= JENSEN )", &["cn=Barbara Jensen", "cn=Bjorn Jensen"]),
        ("(cn=babs jensen)", &["cn=Barbara Jensen"]),
        (
            "(&(objectClass=person)(cn=*stev*))",
            &["cn=Dorothy Stevens"],
        ),
        ("(cn=b*jen*sen)", &["cn=Barbara Jensen", "cn=Bjorn Jensen"]),
        (
            "(|(uid=dots)(ou=Groups))",
            &["cn=Dorothy Stevens", "ou=Groups"],
        ),
        (
            "(&(objectClass=inetOrgPerson)(!(seeAlso=*))(!(ou=*)))",
            &["cn=Barbara Jensen", "cn=Dorothy Stevens"],
        ),
        ("(objectClass=groupOfNames)", &["cn=All Staff"]),
        ("(objectClass=organization)", &["dc=example"]),
        ("(name=alumni)", &["ou=Alumni"]),
        (
            "(member=CN=bjorn jensen, ou=people, DC=example,dc=com)",
            &["cn=All Staff"],
        ),
        ("(telephoneNumber=13135559022)", &[]),
        ("(telephoneNumber=+13135559022)", &["cn=Barbara Jensen"]),
        ("(cn;lang-de=dorothea stevens)", &["cn=Dorothy Stevens"]),
        ("(noSuchAttribute=x)", &[]),
        ("(!(noSuchAttribute=x))", &[]),
        (
            "(&)",
            &[
                "cn=All Staff",
                "cn=Barbara Jensen",
                "cn=Bjorn Jensen",
                "cn=Dorothy Stevens",
                "cn=ITD Staff",
                "dc=example",
                "ou=Alumni",
                "ou=Groups",
                "ou=People",
            ],
        ),
        ("(|)", &[]),
        ("(title=Hiker\\2c Biker)", &["cn=Bjorn Jensen"]),
        ("(cn:caseExactMatch:=babs jensen)", &[]),
        ("(cn:caseExactMatch:=Babs Jensen)", &["cn=Barbara Jensen"]),
        ("(ou:dn:=alumni)", &["cn=Dorothy Stevens", "ou=Alumni"]),
        (
            "(:caseIgnoreMatch:=mythical manager, research)",
            &["cn=Barbara Jensen"],
        ),
        ("(uid>=d)", &["cn=Dorothy Stevens"]),
        ("(sn~=jensn)", &["cn=Barbara Jensen", "cn=Bjorn Jensen"]),
    ] {
        // uid has no ordering rule, and phonetics are each server's own.
        if filter.contains(">=") || filter.contains("~=") {
            server.search(&[filter]);
            continue;
        }
        assert_eq!(
            heads(&server.search(&[filter, "1.1"])),
            expected,
            "{filter}"
        );
    }
    server.stop();
}

#[test]
fn scopes_and_selections() {
    let stage = Stage::loaded("scopes", "", UNORDERED);
    let server = stage.start();
    let scope = |scope: &str| heads(&server.search(&["-s", scope, "(objectClass=*)", "1.1"]));
    assert_eq!(scope("base"), ["dc=example"]);
    assert_eq!(scope("one"), ["ou=Groups", "ou=People"]);
    assert_eq!(scope("sub").len(), 9);
    assert_eq!(scope("children").len(), 8);
    let lines = |attributes: &[&str]| -> Vec<String> {
        let found = server.search(&[&["(uid=dots)"], attributes].concat());
        found
            .lines()
            .skip(1)
            .map(str::to_owned)
            .filter(|line| !line.is_empty())
            .collect()
    };
    assert_eq!(lines(&["sn", "uid"]), ["sn: Stevens", "uid: dots"]);
    assert_eq!(
        lines(&["cn"]),
        [
            "cn: Dorothy Stevens",
            "cn: Dot Stevens",
            "cn;lang-de: Dorothea Stevens"
        ]
    );
    assert_eq!(lines(&["cn;lang-de"]), ["cn;lang-de: Dorothea Stevens"]);
    assert_eq!(lines(&["1.1"]), [""; 0]);
    assert!(
        lines(&["+"])
            .iter()
            .any(|line| line.starts_with("entryUUID: "))
    );
    assert_eq!(
        lines(&["@person"])
            .iter()
            .filter(|line| line.starts_with("sn"))
            .count(),
        1
    );
    let missing = server.client(
        "ldapsearch",
        &["-b", "cn=x,ou=People,dc=example,dc=com"],
        "",
    );
    let missing = missing.with_status(32);
    assert!(
        missing.contains("matchedDN: ou=People,dc=example,dc=com"),
        "{missing}"
    );
    server.stop();
}

#[test]
fn limits_of_searches() {
    let limits = "sizelimit 4\nlimits dn.exact=\"cn=Bjorn Jensen,ou=People,dc=example,dc=com\" size.soft=2 size.hard=6\n\
                  limits users size=unlimited size.pr=3";
    let stage = Stage::loaded("limits", limits, UNORDERED);
    let server = stage.start();
    let count = |who: Option<(&str, &str)>, more: &[&str], status: i32| {
        let arguments = [&["-LLL", "-b", SUFFIX], more, &["(objectClass=*)", "1.1"]].concat();
        let ran = match who {
            Some(who) => server.client_as(who, "ldapsearch", &arguments, ""),
            None => server.client("ldapsearch", &arguments, ""),
        };
        assert_eq!(ran.status, status, "{who:?} {more:?} {ran:?}");
        names(&ran.out).len()
    };
    let bjorn = Some(("cn=Bjorn Jensen,ou=People,dc=example,dc=com", "bjorn"));
    let babs = Some((crate::data::BABS, "bjensen"));
    assert_eq!(count(None, &[], 4), 4);
    assert_eq!(count(None, &["-z", "2"], 4), 2);
    assert_eq!(count(bjorn, &[], 4), 2);
    assert_eq!(count(bjorn, &["-z", "5"], 4), 5);
    assert_eq!(count(bjorn, &["-z", "100"], 4), 6);
    assert_eq!(count(babs, &[], 0), 9);
    assert_eq!(
        count(Some((crate::data::ROOT, crate::data::PASSWORD)), &[], 0),
        9
    );
    server.stop();
}

#[test]
fn limits_of_sorting_hold_for_all_databases() {
    let stage = Stage::new("searching-sorted");
    let database = stage.database("db", SUFFIX, "");
    let lines = "moduleload sssvlv.so\noverlay sssvlv\nsssvlv-maxkeys 1\n";
    stage.configure(&format!("{lines}{database}"));
    stage.add(UNORDERED).well();
    let server = stage.start();
    let sorted = |keys: &str| {
        let control = format!("!sss={keys}");
        server.client(
            "ldapsearch",
            &["-LLL", "-b", SUFFIX, "-E", &control, "1.1"],
            "",
        )
    };
    sorted("createTimestamp").well();
    let said = sorted("createTimestamp/modifyTimestamp").with_status(53);
    assert!(said.contains("Too many sort keys"), "{said}");
    server.stop();
}

#[test]
fn referrals_and_references() {
    let referrals = "\ndn: ou=Elsewhere,dc=example,dc=com\nobjectClass: referral\nobjectClass: extensibleObject\n\
                     ou: Elsewhere\nref: ldap://other.example.com:9/ou=There,dc=example,dc=org\n";
    let stage = Stage::loaded("referrals", "", &format!("{UNORDERED}{referrals}"));
    let server = stage.start();
    let found = server.search(&["(ou=People)", "1.1"]);
    assert!(
        found.contains("ldap://other.example.com:9/ou=There,dc=example,dc=org??sub"),
        "{found}"
    );
    let below = "ou=x,ou=Elsewhere,dc=example,dc=com";
    let said = server
        .client("ldapsearch", &["-b", below], "")
        .with_status(10);
    assert!(
        said.contains("ldap://other.example.com:9/ou=x,ou=There,dc=example,dc=org??sub"),
        "{said}"
    );
    let itself = [
        "-LLL",
        "-M",
        "-b",
        "ou=Elsewhere,dc=example,dc=com",
        "-s",
        "base",
        "ref",
    ];
    let shown = server.client("ldapsearch", &itself, "").well();
    assert!(
        shown.contains("ref: ldap://other.example.com:9/"),
        "{shown}"
    );
    let rename = ["ou=Elsewhere,dc=example,dc=com", "ou=Away"];
    server.root("ldapmodrdn", &rename, "").with_status(10);
    server
        .root("ldapmodrdn", &[&["-M"][..], &rename].concat(), "")
        .well();
    server
        .root("ldapdelete", &["-M", "ou=Away,dc=example,dc=com"], "")
        .well();
    server.stop();
}

#[test]
fn aliases() {
    let aliases = "\ndn: cn=Alias,ou=Groups,dc=example,dc=com\nobjectClass: alias\nobjectClass: extensibleObject\n\
                   cn: Alias\naliasedObjectName: ou=Alumni,ou=People,dc=example,dc=com\n";
    let stage = Stage::loaded("aliases", "", &format!("{UNORDERED}{aliases}"));
    let server = stage.start();
    let groups = "ou=Groups,dc=example,dc=com";
    let found = |deref: &str, base: &str| {
        let arguments = ["-LLL", "-a", deref, "-b", base, "(objectClass=*)", "1.1"];
        heads(&server.client("ldapsearch", &arguments, "").well())
    };
    assert_eq!(
        found("never", groups),
        ["cn=Alias", "cn=All Staff", "cn=ITD Staff", "ou=Groups"]
    );
    let through = [
        "cn=All Staff",
        "cn=Dorothy Stevens",
        "cn=ITD Staff",
        "ou=Alumni",
        "ou=Groups",
    ];
    assert_eq!(found("search", groups), through);
    assert_eq!(found("always", groups), through);
    assert_eq!(
        found("find", "cn=Alias,ou=Groups,dc=example,dc=com"),
        ["cn=Dorothy Stevens", "ou=Alumni"]
    );
    server.stop();
}

#[test]
fn the_monitor() {
    let stage = Stage::new("monitor");
    stage.configure(&(stage.database("db", SUFFIX, "") + "database monitor\n"));
    stage.add(UNORDERED).well();
    let server = stage.start();
    let found = |base: &str, attributes: &[&str]| {
        let usual = ["-LLL", "-s", "base", "-b", base];
        server
            .root("ldapsearch", &[&usual[..], attributes].concat(), "")
            .well()
    };
    assert!(found("cn=Monitor", &["*", "+"]).contains("objectClass: monitorServer"));
    let total = found("cn=Total,cn=Connections,cn=Monitor", &["monitorCounter"]);
    assert!(total.contains("monitorCounter: "), "{total}");
    let searches = found(
        "cn=Search,cn=Operations,cn=Monitor",
        &["monitorOpInitiated"],
    );
    assert!(searches.contains("monitorOpInitiated: "), "{searches}");
    server.stop();
}

#[test]
fn counts_of_what_is_sent_include_what_goes_before_them() {
    let stage = Stage::new("monitor-counts");
    stage.configure(&(stage.database("db", SUFFIX, "") + "database monitor\n"));
    let server = stage.start();
    let read = |base: &str, filter: &str| {
        let arguments = ["-LLL", "-b", base, filter, "monitorCounter"];
        let shown = server.root("ldapsearch", &arguments, "").well();
        let counts = shown
            .lines()
            .filter_map(|line| line.strip_prefix("monitorCounter: "));
        let counts: Vec<u64> = counts
            .map(|count| count.parse().expect("a number"))
            .collect();
        counts
    };
    let statistics = "cn=Statistics,cn=Monitor";
    let alone = read(&format!("cn=Entries,{statistics}"), "(objectClass=*)");
    assert_eq!(alone, [0]);
    // One entry by then, and of this search the one before.
    let counts = read(statistics, "(|(cn=PDU)(cn=Entries))");
    assert_eq!(counts[1], 2, "{counts:?}");
    // Of the first connection two results and an entry, of the second the bind's result.
    assert_eq!(counts[0], 4, "{counts:?}");
    server.stop();
}
