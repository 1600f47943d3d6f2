//! Random lists of access rules, and a small tree that they speak of.

use fulgurite_testkit::Random;

use crate::data::SUFFIX;

/// Identities by the name below the people; their passwords are their names. The empty one is
/// anonymous.
pub(crate) const PEOPLE: [&str; 4] = ["", "ada", "bob", "cid"];

/// Names of the tree, the suffix first.
pub(crate) fn names() -> Vec<String> {
    [
        "",
        "ou=people,",
        "uid=ada,ou=people,",
        "uid=bob,ou=people,",
        "uid=cid,ou=people,",
        "ou=groups,",
        "cn=admins,ou=groups,",
        "cn=inner,ou=groups,",
        "cn=alias,ou=groups,",
        "ou=elsewhere,",
    ]
    .map(|rdns| format!("{rdns}{SUFFIX}"))
    .to_vec()
}

/// The tree as LDIF.
pub(crate) fn tree() -> String {
    let people = [
        ("ada", "Lovelace", "boss", "ada"),
        ("bob", "Builder", "staff", "ada"),
        ("cid", "Campeador", "staff", "bob"),
    ];
    let people: String = people
        .iter()
        .map(|(uid, sn, title, manager)| {
            format!(
                "dn: uid={uid},ou=people,{SUFFIX}\nobjectClass: inetOrgPerson\nuid: {uid}\ncn: {uid} {sn}\n\
                 cn;lang-de: {uid} deutsch\nsn: {sn}\nmail: {uid}@example.org\nuserPassword: {uid}\ntitle: {title}\n\
                 manager: uid={manager},ou=people,{SUFFIX}\nseeAlso: uid=bob,ou=people,{SUFFIX}\n\n"
            )
        })
        .collect();
    format!(
        "dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: Example\ndc: example\n\n\
         dn: ou=people,{SUFFIX}\nobjectClass: organizationalUnit\nou: people\ndescription: all people\n\n{people}\
         dn: ou=groups,{SUFFIX}\nobjectClass: organizationalUnit\nou: groups\n\n\
         dn: cn=admins,ou=groups,{SUFFIX}\nobjectClass: groupOfNames\ncn: admins\n\
         member: uid=ada,ou=people,{SUFFIX}\nmember: cn=inner,ou=groups,{SUFFIX}\n\n\
         dn: cn=inner,ou=groups,{SUFFIX}\nobjectClass: groupOfNames\ncn: inner\nmember: uid=bob,ou=people,{SUFFIX}\n\n\
         dn: cn=alias,ou=groups,{SUFFIX}\nobjectClass: alias\nobjectClass: extensibleObject\ncn: alias\n\
         aliasedObjectName: uid=ada,ou=people,{SUFFIX}\n\n\
         dn: ou=elsewhere,{SUFFIX}\nobjectClass: referral\nobjectClass: extensibleObject\nou: elsewhere\n\
         ref: ldap://elsewhere.example.org/ou=elsewhere,{SUFFIX}\n\n"
    )
}

/// A list of rules.
pub(crate) fn random(random: &mut Random) -> Vec<String> {
    let count = *random.pick(&[1, 2, 3, 4, 6]);
    let mut rules: Vec<String> = (0..count).map(|_| rule(random)).collect();
    let last = *random.pick(&[
        "to * by * read",
        "to * by * read",
        "to * by users write by * search",
        "to * by * break",
        "to * by * write",
        "",
        "",
    ]);
    if !last.is_empty() {
        rules.push(last.to_owned());
    }
    rules
}

fn rule(random: &mut Random) -> String {
    let what = what(random);
    let count = *random.pick(&[1, 1, 2, 3]);
    let by: String = (0..count).map(|_| clause(random, &what)).collect();
    format!("to {what}{by}")
}

fn what(random: &mut Random) -> String {
    if random.chance(25) {
        return "*".to_owned();
    }
    let mut parts = Vec::new();
    if random.chance(60) {
        parts.push(name(random));
    }
    if random.chance(15) {
        let filters = [
            "(uid=ada)",
            "(title=staff)",
            "(objectClass=person)",
            "(!(title=boss))",
            "(member=*)",
        ];
        parts.push(format!("filter={}", random.pick(&filters)));
    }
    if parts.is_empty() || random.chance(70) {
        parts.push(if random.chance(20) {
            value(random)
        } else {
            attributes(random)
        });
    }
    parts.join(" ")
}

fn name(random: &mut Random) -> String {
    let styles = ["base", "exact", "one", "sub", "subtree", "children"];
    if random.chance(85) {
        let dn = random.pick(&names()).clone();
        return format!("dn.{}=\"{dn}\"", random.pick(&styles));
    }
    let patterns = [
        format!("^uid=([^,]+),ou=people,{SUFFIX}$"),
        format!("^(.+,)?ou=groups,{SUFFIX}$"),
        format!(".*,ou=people,{SUFFIX}$"),
        "^cn=.*".to_owned(),
        "uid=a|uid=b".to_owned(),
    ];
    format!("dn.regex=\"{}\"", random.pick(&patterns))
}

fn value(random: &mut Random) -> String {
    let values = [
        "title val=staff".to_owned(),
        format!("member val.exact=\"uid=ada,ou=people,{SUFFIX}\""),
        format!("member val.subtree=\"ou=people,{SUFFIX}\""),
        format!("member val.children=\"ou=groups,{SUFFIX}\""),
        "cn val.regex=\"^a(d)a\"".to_owned(),
        "objectClass val=person".to_owned(),
        "objectClass val=inetOrgPerson".to_owned(),
        format!("manager val.base=\"uid=ada,ou=people,{SUFFIX}\""),
        "mail val.regex=bob".to_owned(),
        "sn val/caseIgnoreMatch=Builder".to_owned(),
    ];
    format!("attrs={}", random.pick(&values))
}

fn attributes(random: &mut Random) -> String {
    const NAMES: [&str; 25] = [
        "entry",
        "children",
        "cn",
        "sn",
        "mail",
        "title",
        "userPassword",
        "objectClass",
        "uid",
        "manager",
        "member",
        "description",
        "seeAlso",
        "name",
        "cn;lang-de",
        "ou",
        "ref",
        "aliasedObjectName",
        "entryUUID",
        "@person",
        "!person",
        "@inetOrgPerson",
        "@extensibleObject",
        "organizationalUnit",
        "entry",
    ];
    let count = *random.pick(&[1, 1, 1, 2, 3]);
    let mut chosen: Vec<&str> = Vec::new();
    while chosen.len() < count {
        let name = *random.pick(&NAMES);
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    format!("attrs={}", chosen.join(","))
}

fn clause(random: &mut Random, what: &str) -> String {
    const ACCESS: [&str; 34] = [
        "none",
        "disclose",
        "auth",
        "compare",
        "search",
        "read",
        "read",
        "read",
        "write",
        "write",
        "manage",
        "add",
        "delete",
        "=rscxd",
        "=rs",
        "=w",
        "=r",
        "=s",
        "=a",
        "=z",
        "=az",
        "+r",
        "+s",
        "+w",
        "-r",
        "-w",
        "=0",
        "+d",
        "",
        "selfwrite",
        "selfread",
        "=scxd",
        "=rscd",
        "=dx",
    ];
    let who = who(random, what);
    let access = random.pick(&ACCESS);
    let control = random.pick(&["", "", "", "", "stop", "continue", "break", "break"]);
    let words = ["by", &who, access, control];
    let words = words.iter().filter(|word| !word.is_empty());
    words.fold(String::new(), |text, word| format!("{text} {word}"))
}

fn who(random: &mut Random, what: &str) -> String {
    let mut all: Vec<String> = [
        "*",
        "*",
        "users",
        "anonymous",
        "self",
        "dnattr=manager",
        "dnattr=member",
        "self.level{1}",
        "self.level{0}",
        "self.level{-1}",
        "peername.ip=127.0.0.1",
        "peername.ip=10.0.0.0%255.0.0.0",
        "ssf=56",
        "realself",
        "realusers",
        "users ssf=1",
        "users peername.ip=127.0.0.1",
        "dn.regex=\".*\"",
        "set=\"user & this/manager\"",
        "set=\"this/manager & user/manager\"",
        "set=\"this/title & [staff]\"",
    ]
    .map(str::to_owned)
    .to_vec();
    let named = [
        "dn.exact=\"uid=ada,ou=people,@\"",
        "dn.base=\"uid=bob,ou=people,@\"",
        "dn.one=\"ou=people,@\"",
        "dn.subtree=\"ou=people,@\"",
        "dn.children=\"@\"",
        "dn.level{1}=\"ou=people,@\"",
        "realdn.children=\"ou=people,@\"",
        "dn.regex=\"^uid=(a|c).*,ou=people,@$$\"",
        "group.exact=\"cn=admins,ou=groups,@\"",
        "group/groupOfNames/member=\"cn=inner,ou=groups,@\"",
        "set=\"[cn=admins,ou=groups,@]/member & user\"",
        "set=\"[cn=admins,ou=groups,@]/member* & user\"",
    ];
    all.extend(named.map(|text| text.replace('@', SUFFIX)));
    // The reference ends where a sub-match does not exist, so there are places for existing ones
    // only.
    if what.contains("dn.") {
        all.push("dn.exact,expand=\"$0\"".to_owned());
        all.push("group.expand=\"$0\"".to_owned());
    }
    if ["dn.one", "dn.sub", "dn.children"]
        .iter()
        .any(|style| what.contains(style))
    {
        all.push("dn.subtree,expand=\"$1\"".to_owned());
    }
    if what.contains("uid=([^,]+),ou") {
        all.push(format!("dn.exact,expand=\"uid=$1,ou=people,{SUFFIX}\""));
        all.push("dn.regex=\"^uid=$1,\"".to_owned());
    }
    random.pick(&all).clone()
}
