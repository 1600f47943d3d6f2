//! The overlay `dynlist` next to Debian's slapd: the same requests give the same answers. The
//! questions leave out the differences that `docs/overlays.md` names.

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::overlays::{Request, answer, complaint, overlay_lines};
use crate::stage::{Running, Stage};

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
userPassword: pw

dn: uid=b,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: b
cn: Bob
sn: B
mail: b@x.org
mail: A@x.org
userPassword: pw

dn: uid=c,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: c
cn: Cyd
sn: C
preferredLanguage: de
userPassword: pw

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
memberURL: ldap:///ou=elsewhere,dc=example,dc=com??sub?(sn=b)
memberURL: ldap:///ou=p,dc=example,dc=com??one?(sn=c)
";

/// Names and selections of searches for one entry.
const READS: [(&str, &[&str]); 12] = [
    ("cn=dy", &["*"]),
    ("cn=dy", &["member"]),
    ("cn=dy", &["cn"]),
    ("cn=dy", &["1.1"]),
    ("cn=list", &["*"]),
    ("cn=list", &["mail"]),
    ("cn=list", &["sn"]),
    ("cn=odd", &["*"]),
    ("cn=nest", &["*"]),
    ("cn=nest", &["member", "memberOf"]),
    ("cn=l1", &["*", "memberOf"]),
    ("uid=a", &["*"]),
];

/// Filters of searches for names.
const FILTERS: [&str; 14] = [
    "(member=uid=b,ou=p,dc=example,dc=com)",
    "(member=UID=A, ou=p,dc=example,dc=com)",
    "(member:distinguishedNameMatch:=uid=b,ou=p,dc=example,dc=com)",
    "(&(cn=dy)(member=uid=b,ou=p,dc=example,dc=com))",
    "(memberOf=cn=dy,dc=example,dc=com)",
    "(memberOf=CN=Nest, dc=example,dc=com)",
    "(!(memberOf=cn=nest,dc=example,dc=com))",
    "(|(memberOf=cn=st,dc=example,dc=com)(memberOf=cn=dy,dc=example,dc=com))",
    "(&(uid=a)(memberOf=cn=st,dc=example,dc=com))",
    "(memberOf=cn=l1,dc=example,dc=com)",
    "(memberOf=cn=none,dc=example,dc=com)",
    "(memberOf=zz)",
    "(!(memberOf=zz))",
    "(title=boss)",
];

/// Assertions of compares.
const COMPARES: [(&str, &str); 5] = [
    ("cn=dy", "member:uid=b,ou=p,dc=example,dc=com"),
    ("cn=dy", "member:uid=a,ou=p,dc=example,dc=com"),
    ("cn=nest", "member:uid=b,ou=p,dc=example,dc=com"),
    ("cn=dy", "member:zz"),
    ("cn=dy", "title:zz"),
];

const NESTED: &str = "dynlist-attrset groupOfURLs memberURL member+memberOf@groupOfNames*\n";

fn configure(stage: &Stage, sets: &str, rules: &str) {
    let schema = format!("{}/etc/ldap/schema/dyngroup.schema", stage.distribution());
    let database = stage.database("db", SUFFIX, &format!("overlay dynlist\n{sets}{rules}"));
    stage.configure(&format!(
        "include {schema}\nmoduleload dynlist.so\n{database}"
    ));
    stage.add(DATA).well();
}

/// Returns the entries found, in the order of their names. Values of an attribute have no order.
fn found(server: &Running<'_>, who: (&str, &str), arguments: &[&str]) -> String {
    let usual = ["-LLL", "-o", "ldif-wrap=no", "-b", SUFFIX];
    let arguments = [&usual[..], arguments].concat();
    let ran = match who.0 {
        "" => server.client("ldapsearch", &arguments, ""),
        _ => server.client_as(who, "ldapsearch", &arguments, ""),
    };
    let sorted = |entry: &str| {
        let mut lines: Vec<&str> = entry.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let mut entries: Vec<String> = ran.out.split("\n\n").map(sorted).collect();
    entries.sort_unstable();
    format!("{arguments:?} {}\n{}", ran.status, entries.join("\n\n"))
}

/// Returns the answers to all questions.
fn answers(server: &Running<'_>, who: (&str, &str)) -> Vec<String> {
    let mut answers = Vec::new();
    for (name, selection) in READS {
        let filter = format!("({name})");
        answers.push(found(
            server,
            who,
            &[&[filter.as_str()], selection].concat(),
        ));
    }
    answers.push(found(server, who, &["memberOf"]));
    answers.extend(FILTERS.map(|filter| found(server, who, &[filter, "1.1"])));
    for filter in ["(cn=dy)", "(cn=list)", "(uid=a)"] {
        let arguments = ["-e", "manageDSAit", filter, "*", "memberOf"];
        answers.push(found(server, who, &arguments));
    }
    let managed = [
        "-e",
        "manageDSAit",
        "(memberOf=cn=st,dc=example,dc=com)",
        "1.1",
    ];
    answers.push(found(server, who, &managed));
    answers
}

fn compares(server: &Running<'_>, assertions: &[(&str, &str)]) -> Vec<String> {
    let answer = |(name, assertion): &(&str, &str)| {
        let dn = format!("{name},{SUFFIX}");
        let ran = server.client_as((ROOT, PASSWORD), "ldapcompare", &[&dn, assertion], "");
        format!("{dn} {assertion}: {} {}", ran.status, ran.err)
    };
    assertions.iter().map(answer).collect()
}

/// Compares what both servers answer after some changes.
fn assert_same(
    label: &str,
    (sets, rules): (&str, &str),
    requests: &[Request<'_>],
    ask: &dyn Fn(&Running<'_>) -> Vec<String>,
) {
    let ask_stage = |stage: &Stage| {
        configure(stage, sets, rules);
        let server = stage.start();
        let mut all: Vec<String> = requests.iter().map(|one| answer(&server, one)).collect();
        all.extend(ask(&server));
        server.stop();
        all
    };
    let ours = ask_stage(&Stage::new(&format!("{label}-ours")));
    let theirs = ask_stage(&Stage::with_original(&format!("{label}-slapd")));
    let pairs = ours.iter().zip(&theirs);
    let differences: Vec<_> = pairs.filter(|(ours, theirs)| ours != theirs).collect();
    assert!(
        differences.is_empty(),
        "{label}: ours, slapd's: {differences:#?}"
    );
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn groups_and_memberships_are_those_of_slapd() {
    for (label, sets) in [
        ("group", "dynlist-attrset groupOfURLs memberURL member\n"),
        ("pair", "dynlist-attrpair member memberURL\n"),
        (
            "dynamic",
            "dynlist-attrset groupOfURLs memberURL member+memberOf\n",
        ),
        // Without the star, slapd lists no groups in the entries of groups.
        ("nested", NESTED),
    ] {
        // Without the attribute of groups, nothing lists any.
        assert_same(&format!("dynlist-{label}"), (sets, ""), &[], &|server| {
            let mut all = answers(server, (ROOT, PASSWORD));
            all.extend(compares(server, &COMPARES));
            all
        });
    }
}

#[test]
fn groups_change_with_their_entries_as_in_slapd() {
    let modify = |dn: &str, changes: &str| -> Request<'static> {
        let text = format!("dn: {dn},{SUFFIX}\nchangetype: modify\n{changes}\n");
        (&[], text)
    };
    let requests = [
        modify("uid=a,ou=p", "replace: sn\nsn: b"),
        modify("cn=dy", "add: member\nmember: uid=a"),
        modify(
            "cn=dy",
            "delete: member\nmember: uid=b,ou=p,dc=example,dc=com",
        ),
        modify("uid=a,ou=p", "add: memberOf\nmemberOf: cn=x"),
        modify("uid=a,ou=p", "delete: memberOf"),
        modify("cn=nest", "delete: member\nmember: cn=st,dc=example,dc=com"),
        modify(
            "cn=odd",
            "replace: memberURL\nmemberURL: ldap:///dc=example,dc=com??sub?(cn=dy)",
        ),
    ];
    assert_same("dynlist-changes", (NESTED, ""), &requests, &|server| {
        answers(server, (ROOT, PASSWORD))
    });
}

#[test]
fn lists_are_those_of_slapd() {
    let lists = [
        ("cn=list", "mail:B@x.org"),
        ("cn=list", "mail:z@x.org"),
        ("cn=list", "cn:zz"),
        ("cn=list", "title:zz"),
    ];
    for (label, sets) in [
        ("plain", "dynlist-attrset groupOfURLs memberURL\n"),
        (
            "mapped",
            "dynlist-attrset groupOfURLs memberURL sn:cn mail\n",
        ),
        ("same", "dynlist-attrset groupOfURLs memberURL mail:mail\n"),
    ] {
        assert_same(&format!("dynlist-{label}"), (sets, ""), &[], &|server| {
            let who = (ROOT, PASSWORD);
            let reads = READS.iter().map(|(name, selection)| {
                let filter = format!("({name})");
                found(server, who, &[&[filter.as_str()], *selection].concat())
            });
            let filters = [
                "(mail=b@x.org)",
                "(mail=a@X.org)",
                "(mail=*)",
                "(title=boss)",
            ];
            let filters = filters.map(|filter| found(server, who, &[filter, "1.1"]));
            let compares = compares(server, &lists);
            reads.chain(filters).chain(compares).collect()
        });
    }
}

#[test]
fn rights_decide_as_in_slapd() {
    let people = "access to attrs=userPassword by * auth\n\
        access to dn.subtree=\"ou=p,dc=example,dc=com\" by dn.exact=\"uid=a,ou=p,dc=example,dc=com\" read by * none\n\
        access to * by * read\n";
    let group = |what: &str| {
        format!(
            "access to attrs=userPassword by * auth\n\
             access to dn.exact=\"cn=st,dc=example,dc=com\"{what} by dn.exact=\"uid=a,ou=p,dc=example,dc=com\" read by * none\n\
             access to * by * read\n"
        )
    };
    let identity: Request<'static> = (
        &[],
        format!(
            "dn: cn=dy,{SUFFIX}\nchangetype: modify\nadd: objectClass\nobjectClass: dgIdentityAux\n-\n\
             add: dgIdentity\ndgIdentity: uid=a,ou=p,{SUFFIX}\n"
        ),
    );
    let authorized: Request<'static> = (
        &[],
        format!(
            "dn: cn=dy,{SUFFIX}\nchangetype: modify\nadd: dgAuthz\ndgAuthz: dn:uid=c,ou=p,{SUFFIX}\n"
        ),
    );
    let (plain, entry, member) = (people.to_owned(), group(""), group(" attrs=member"));
    let both = [identity.clone(), authorized];
    for (label, rules, requests) in [
        ("people", &plain, &[][..]),
        ("hidden", &entry, &[]),
        ("member", &member, &[]),
        ("identity", &plain, &both[..1]),
        ("authorized", &plain, &both[..]),
    ] {
        assert_same(
            &format!("dynlist-{label}"),
            (NESTED, rules),
            requests,
            &|server| {
                let a = format!("uid=a,ou=p,{SUFFIX}");
                let c = format!("uid=c,ou=p,{SUFFIX}");
                let mut all = Vec::new();
                for who in [("", ""), (a.as_str(), "pw"), (c.as_str(), "pw")] {
                    all.extend(answers(server, who));
                }
                // slapd counts values in the order of their places.
                let plain = all
                    .iter()
                    .map(|answer| answer.replace("dgAuthz: {0}", "dgAuthz: "));
                plain.collect()
            },
        );
    }
}

#[test]
fn the_configuration_directory_has_sets_in_slapds_form() {
    let sets = format!(
        "{NESTED}dynlist-attrset groupOfURLs ldap:///dc=example,dc=com??sub?(cn=d*) memberURL mail:mail sn:cn\n\
         dynlist-attrpair uniqueMember memberURL\n"
    );
    let mut converted = Vec::new();
    for stage in [
        Stage::new("dynlist-olc-ours"),
        Stage::with_original("dynlist-olc-slapd"),
    ] {
        configure(&stage, &sets, "");
        let folder = stage.text("slapd.d");
        std::fs::create_dir(&folder).expect("a folder");
        stage.tool("t", &["-F", &folder], "").well();
        converted.push(overlay_lines(&stage, "slapd.d"));
        // Read and written again, it is the same.
        stage.tool_by_directory("t", &folder, &[]).well();
    }
    assert_eq!(converted[0], converted[1]);
    assert!(
        converted[0]
            .iter()
            .any(|line| line.starts_with("olcDynListAttrSet: {2}"))
    );
}

#[test]
fn wrong_sets_are_refused_in_slapds_words() {
    for line in [
        "dynlist-attrset",
        "dynlist-attrset groupOfURLs",
        "dynlist-attrset nosuch memberURL",
        "dynlist-attrset groupOfURLs cn",
        "dynlist-attrset groupOfURLs nosuch",
        "dynlist-attrset groupOfURLs memberURL nosuch",
        "dynlist-attrset groupOfURLs memberURL nosuch:cn",
        "dynlist-attrset groupOfURLs memberURL sn:nosuch",
        "dynlist-attrset groupOfURLs memberURL a:b:c",
        "dynlist-attrset groupOfURLs memberURL member+nosuch",
        "dynlist-attrset groupOfURLs memberURL member+memberOf@nosuch*",
        "dynlist-attrset groupOfURLs memberURL cn:mail nosuch",
        "dynlist-attrset groupOfURLs ldap://host/dc=x memberURL",
        "dynlist-attrset groupOfURLs ldap:///dc=x?cn memberURL",
        "dynlist-attrset groupOfURLs ldap:///zz??sub memberURL",
        "dynlist-attrset groupOfURLs ldap:///dc=x??bad memberURL",
        "dynlist-attrset groupOfURLs ldap:///dc=x??sub?(bad memberURL",
        "dynlist-attrpair member",
        "dynlist-attrpair member cn",
        "dynlist-attrpair member memberURL cn",
        "overlay dynlist",
    ] {
        let mut texts = Vec::new();
        for stage in [
            Stage::new("dynlist-wrong-ours"),
            Stage::with_original("dynlist-wrong-slapd"),
        ] {
            let schema = format!("{}/etc/ldap/schema/dyngroup.schema", stage.distribution());
            let database = stage.database("db", SUFFIX, &format!("overlay dynlist\n{line}\n"));
            stage.configure(&format!(
                "include {schema}\nmoduleload dynlist.so\n{database}"
            ));
            let said = stage.tool("t", &["-u"], "").with_status(1);
            texts.push(complaint(&said));
        }
        assert_eq!(texts[0], texts[1], "{line}");
    }
}
