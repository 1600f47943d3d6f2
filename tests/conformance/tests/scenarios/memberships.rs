//! The overlay `memberof` next to Debian's slapd: the same requests give the same answers, groups
//! and memberships. slapd computes a membership when the group changes. So members come before
//! their groups here, and keep their names unless references follow.

use crate::data::SUFFIX;
use crate::overlays::{Request, answer, delete, rename};
use crate::stage::{Running, Stage, is_ours};

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

dn: uid=b,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: b
cn: Bob
sn: B

dn: uid=c,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: c
cn: Cyd
sn: C
";

/// Filters about groups, asked after each history.
const FILTERS: [&str; 11] = [
    "(memberOf=cn=g,dc=example,dc=com)",
    "(memberOf=CN=U, dc=example,dc=com)",
    "(&(uid=a)(memberOf=cn=g,dc=example,dc=com))",
    "(|(memberOf=cn=g,dc=example,dc=com)(memberOf=cn=sub,dc=example,dc=com))",
    "(!(memberOf=cn=g,dc=example,dc=com))",
    "(memberOf=*)",
    "(!(memberOf=*))",
    "(memberOf=cn=g*)",
    "(memberOf:dnSubtreeMatch:=dc=example,dc=com)",
    "(memberOf=zz)",
    "(!(memberOf=zz))",
];

fn group(cn: &str, class: &str, members: &[&str]) -> Request<'static> {
    let attribute = match class {
        "groupOfUniqueNames" => "uniqueMember",
        _ => "member",
    };
    let lines = members
        .iter()
        .map(|member| format!("{attribute}: {member}\n"));
    let text = format!(
        "dn: cn={cn},{SUFFIX}\nchangetype: add\nobjectClass: {class}\ncn: {cn}\n{}",
        lines.collect::<String>()
    );
    (&[], text)
}

fn modify(dn: &str, changes: &str) -> Request<'static> {
    (
        &[],
        format!("dn: {dn},{SUFFIX}\nchangetype: modify\n{changes}\n"),
    )
}

fn with(control: &str, (_, text): Request<'static>) -> Request<'static> {
    let options: &[&str] = match control {
        "relax" => &["-e", "relax"],
        _ => &["-e", "manageDSAit"],
    };
    (options, text)
}

fn person(uid: &str) -> String {
    format!("uid={uid},ou=p,{SUFFIX}")
}

/// Returns the answers to requests, each with the groups and memberships after it. Searches and
/// compares follow at the end.
fn history(stage: &Stage, lines: &str, requests: &[Request<'_>]) -> Vec<String> {
    let class = "objectclass ( 1.3.6.1.4.1.32473.1 NAME 'team' SUP groupOfNames STRUCTURAL )";
    let database = stage.database(
        "db",
        SUFFIX,
        &format!("{lines}index member,uniqueMember eq\n"),
    );
    stage.configure(&format!("moduleload memberof.so\n{class}\n{database}"));
    stage.add(DATA).well();
    let server = stage.start();
    let mut answers: Vec<String> = requests
        .iter()
        .map(|request| {
            let answer = answer(&server, request);
            format!("{answer}\n{}", memberships(&server))
        })
        .collect();
    answers.extend(FILTERS.map(|filter| format!("{filter}\n{}", found(&server, &[filter, "1.1"]))));
    for value in ["CN=G, dc=example,dc=com", "cn=none", "zz"] {
        for dn in [&person("a"), SUFFIX] {
            let ran = server.client_as(
                (crate::data::ROOT, crate::data::PASSWORD),
                "ldapcompare",
                &[dn, &format!("memberOf:{value}")],
                "",
            );
            answers.push(format!("compare {dn} {value}: {} {}", ran.status, ran.err));
        }
    }
    for attributes in [
        &["*"][..],
        &["memberOf"],
        &["MEMBEROF", "sn"],
        &["memberOf;x-a"],
    ] {
        answers.push(found(&server, &[&["(uid=a)"], attributes].concat()));
    }
    answers.push(found(&server, &["-A", "(uid=a)", "memberOf"]));
    server.stop();
    answers
}

/// Returns the members of groups, the authors of these, and the groups of all entries.
fn memberships(server: &Running<'_>) -> String {
    let groups = "(|(member=*)(uniqueMember=*))";
    let groups = found(server, &[groups, "member", "uniqueMember", "modifiersName"]);
    format!("{groups}\n\n{}", found(server, &["memberOf"]))
}

/// Returns the entries that a search finds, in the order of their names. Values of an attribute
/// have no order.
fn found(server: &Running<'_>, arguments: &[&str]) -> String {
    let found = server.search(&[&["-o", "ldif-wrap=no"], arguments].concat());
    let sorted = |entry: &str| {
        let mut lines: Vec<&str> = entry.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let mut entries: Vec<String> = found.split("\n\n").map(sorted).collect();
    entries.sort_unstable();
    entries.join("\n\n")
}

fn assert_same(label: &str, lines: &str, requests: &[Request<'_>]) {
    let ours = Stage::new(&format!("{label}-ours"));
    let ours = history(&ours, lines, requests);
    let original = Stage::with_original(&format!("{label}-slapd"));
    let theirs = history(&original, lines, requests);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn members_show_their_groups_as_in_slapd() {
    let (a, b, c) = (person("a"), person("b"), person("c"));
    let with_id = format!("{b}#'01'B");
    let lines = "overlay memberof\noverlay memberof\nmemberof-group-oc groupOfUniqueNames\n\
        memberof-member-ad uniqueMember\n";
    let requests = [
        group(
            "g",
            "groupOfNames",
            &["UID=A, ou=p,dc=example,dc=com", &person("z")],
        ),
        group("sub", "team", &[&a, &b]),
        group(
            "u",
            "groupOfUniqueNames",
            &[&a, &with_id, "cn=g,dc=example,dc=com"],
        ),
        modify("cn=g", &format!("add: member\nmember: {b}\nmember: {c}")),
        modify(
            "cn=g",
            &format!("delete: member\nmember: {a}\n-\nadd: member\nmember: ou=p,{SUFFIX}"),
        ),
        modify("cn=g", "add: member\nmember: cn=g,dc=example,dc=com"),
        modify("cn=sub", &format!("replace: member\nmember: {c}")),
        modify("uid=a,ou=p", "add: memberOf\nmemberOf: cn=q"),
        modify("uid=a,ou=p", "delete: memberOf"),
        modify("uid=a,ou=p", "replace: memberOf\nmemberOf: zz"),
        with(
            "relax",
            modify("uid=a,ou=p", "add: memberOf\nmemberOf: cn=q"),
        ),
        rename("cn=sub", "cn=Team  one", 1, Some("ou=p")),
        rename("cn=u", "cn=u", 1, None),
        group("h", "device", &[]),
        delete("cn=Team one,ou=p"),
    ];
    assert_same("memberof", lines, &requests);
}

#[test]
fn members_follow_their_entries_as_in_slapd() {
    let (a, b, c) = (person("a"), person("b"), person("c"));
    let requests = [
        group("g", "groupOfNames", &[&a, &person("z"), &b]),
        group("l", "groupOfNames", &[&b]),
        group("u", "groupOfUniqueNames", &[&a]),
        rename("uid=a,ou=p", "uid=A  a", 1, None),
        rename("uid=b,ou=p", "uid=bb", 0, None),
        modify("cn=g", &format!("add: member\nmember: {c}")),
        delete("uid=c,ou=p"),
        delete("uid=bb,ou=p"),
        delete("uid=A a,ou=p"),
    ];
    for (label, more) in [("refint", ""), ("author", "memberof-dn cn=me\n")] {
        let lines = format!("overlay memberof\nmemberof-refint yes\n{more}");
        assert_same(&format!("memberof-{label}"), &lines, &requests);
    }
}

#[test]
fn members_without_entries_are_treated_as_in_slapd() {
    let (a, b, z) = (person("a"), person("b"), person("z"));
    let add = format!("add: member\nmember: {z}");
    let requests = [
        group("g", "groupOfNames", &[&a, &z]),
        group("g", "groupOfNames", &[&a]),
        group("u", "groupOfUniqueNames", &[&z]),
        group("none", "groupOfNames", &[&z]),
        group("self", "groupOfNames", &["cn=self,dc=example,dc=com"]),
        group("self", "groupOfNames", &["cn=self,dc=example,dc=com", &b]),
        group("out", "groupOfNames", &["cn=out,dc=y"]),
        group("empty", "groupOfNames", &[""]),
        modify("cn=g", &add),
        modify(
            "cn=g",
            &format!("{add}\nmember: {b}\nmember: ou=P, dc=example,dc=com"),
        ),
        modify("cn=g", &format!("replace: member\nmember: {z}")),
        modify(
            "cn=g",
            &format!("replace: member\nmember: {z}\n-\nadd: description\ndescription: d"),
        ),
        modify("cn=g", &format!("{add}\n-\ndelete: member\nmember: {z}")),
        modify("cn=g", &format!("delete: member\nmember: {z}")),
        modify("cn=g", "add: member\nmember: cn=g,dc=example,dc=com"),
        modify(
            "cn=g",
            &format!("replace: member\n-\nadd: member\nmember: {a}"),
        ),
        modify("cn=u", &format!("add: uniqueMember\nuniqueMember: {z}2")),
        modify("cn=nobody", &add),
        with("relax", modify("cn=g", &add)),
        with(
            "manageDSAit",
            modify("cn=g", &format!("add: member\nmember: {z}2")),
        ),
        modify(
            "cn=g",
            &format!("replace: member\nmember: {z}\nmember: {b}"),
        ),
    ];
    for (label, more) in [
        ("ignore", "memberof-dangling ignore\n"),
        ("drop", "memberof-dangling drop\n"),
        ("error", "memberof-dangling error\n"),
        (
            "code",
            "memberof-dangling ERROR\nmemberof-dangling-error noSuchObject\n",
        ),
    ] {
        let lines = format!("overlay memberof\n{more}");
        // As a new group, it may not name itself in slapd.
        let requests: Vec<Request<'_>> = match label {
            "ignore" => requests
                .iter()
                .filter(|(_, text)| !text.contains("cn=self"))
                .cloned()
                .collect(),
            _ => requests.to_vec(),
        };
        assert_same(&format!("memberof-{label}"), &lines, &requests);
    }
}

#[test]
fn a_load_leaves_out_values_of_groups() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("memberof-load");
    let database = stage.database("db", SUFFIX, "overlay memberof\n");
    stage.configure(&format!("moduleload memberof.so\n{database}"));
    let data = format!("{DATA}memberOf: cn=gone,{SUFFIX}\nmemberOf: cn=lost,{SUFFIX}\n");
    let ran = stage.add(&data);
    let note = "2 values of groups left out, because the server computes them from the members";
    assert!(ran.err.contains(note), "{}", ran.err);
    ran.well();
    let kept = stage.cat();
    assert!(
        kept.contains("uid: c") && !kept.contains("memberOf"),
        "{kept}"
    );
}
