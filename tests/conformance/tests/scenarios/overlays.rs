//! Overlays next to Debian's slapd: the same slapd.conf, the same requests, and the same codes,
//! texts and entries.

use crate::data::SUFFIX;
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

dn: ou=q,dc=example,dc=com
objectClass: organizationalUnit
ou: q

dn: uid=a,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: a
uid: a2
cn: Ann
sn: A
mail: a@x.org
title: one
title: two
title: three
title: four

dn: uid=b,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
objectClass: posixAccount
uid: b
cn: Bob
sn: B
mail: b@x.org
uidNumber: 5
gidNumber: 5
homeDirectory: /b

dn: uid=t,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: t
cn: Tim
sn: T
mail: t@x.org
employeeType: counted

dn: uid=o,ou=q,dc=example,dc=com
objectClass: inetOrgPerson
uid: o
cn: Out
sn: O
mail: o@x.org
";

/// A request: options of ldapmodify, and the record.
pub(crate) type Request<'r> = (&'r [&'r str], String);

pub(crate) fn modify(uid: &str, changes: &str) -> Request<'static> {
    let text = format!("dn: uid={uid},ou=p,{SUFFIX}\nchangetype: modify\n{changes}\n");
    (&[], text)
}

pub(crate) fn add(uid: &str, cn: &str, more: &str) -> Request<'static> {
    let text = format!(
        "dn: uid={uid},ou=p,{SUFFIX}\nchangetype: add\nobjectClass: inetOrgPerson\nuid: {uid}\n\
         cn: {cn}\nsn: S\n{more}\n"
    );
    (&[], text)
}

pub(crate) fn rename(dn: &str, rdn: &str, delete: u8, superior: Option<&str>) -> Request<'static> {
    let superior = superior.map(|dn| format!("newsuperior: {dn},{SUFFIX}\n"));
    let superior = superior.unwrap_or_default();
    let text = format!(
        "dn: {dn},{SUFFIX}\nchangetype: modrdn\nnewrdn: {rdn}\ndeleteoldrdn: {delete}\n{superior}"
    );
    (&[], text)
}

pub(crate) fn delete(dn: &str) -> Request<'static> {
    (&[], format!("dn: {dn},{SUFFIX}\nchangetype: delete\n"))
}

fn with(options: &'static [&'static str], (_, text): Request<'static>) -> Request<'static> {
    (options, text)
}

/// Returns the answers to requests, and the entries at the end.
fn history(stage: &Stage, lines: &str, requests: &[Request<'_>]) -> Vec<String> {
    let modules = "moduleload unique.so\nmoduleload constraint.so\nmoduleload refint.so\n";
    let database = stage.database("db", SUFFIX, lines);
    stage.configure(&format!("{modules}{database}"));
    stage.add(DATA).well();
    let server = stage.start();
    let mut answers: Vec<String> = requests
        .iter()
        .map(|request| answer(&server, request))
        .collect();
    let entries = server.search(&["-o", "ldif-wrap=no"]);
    let mut entries: Vec<String> = entries.split("\n\n").map(sorted_lines).collect();
    entries.sort();
    answers.extend(entries);
    server.stop();
    answers
}

pub(crate) fn answer(server: &Running<'_>, (options, text): &Request<'_>) -> String {
    let ran = server.root("ldapmodify", options, text);
    let said = ran.err.lines().filter(|line| !line.trim().is_empty());
    let said: Vec<&str> = said.collect();
    format!("{text}=> {} {}", ran.status, said.join(" "))
}

fn sorted_lines(entry: &str) -> String {
    let mut lines: Vec<&str> = entry.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Compares the histories of both servers.
fn assert_same(label: &str, lines: &str, requests: &[Request<'_>]) {
    let ours = history(&Stage::new(&format!("{label}-ours")), lines, requests);
    let original = Stage::with_original(&format!("{label}-slapd"));
    let theirs = history(&original, lines, requests);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn unique_values_as_in_slapd() {
    let lines = "overlay unique\nunique_uri ldap:///?mail,uid,cn,jpegPhoto,description?sub\n";
    let mut requests = vec![
        add(
            "c",
            "C",
            "mail: A@x.org\njpegPhoto: xx\ndescription: täst * ( ) \\",
        ),
        add("a", "C", "mail: q@x.org"),
        add("b2", "Ann", "description:: AX8CYQ=="),
        modify(
            "a",
            "add: mail\nmail: B@x.org\nmail: z@x.org\n-\nreplace: cn\ncn: Q\n-\ndelete: title\ntitle: one",
        ),
        modify("a", "add: mail;lang-de\nmail;lang-de: b@x.org"),
        modify("a", "replace: mail\nmail: A@X.org"),
        modify("a", "delete: cn\ncn: Ann\n-\nadd: cn\ncn: Ann"),
        modify("a", "replace: description"),
        rename("uid=b,ou=p", "uid=A2+mail=q@x", 0, None),
        rename("uid=b,ou=p", "uid=o", 0, None),
        rename("uid=a,ou=p", "uid=a2", 0, None),
        rename("uid=a2,ou=p", "uid=a", 1, None),
        rename("uid=o,ou=q", "uid=o", 0, Some("ou=p")),
        add("c", "C", "mail: a@x.org\ntelephoneNumber: !!!"),
        with(&["-e", "relax"], add("c", "C", "mail: a@x.org")),
        with(&["-e", "manageDSAit"], add("d", "D", "mail: a@x.org")),
        add("d", "D;lang", "mail: new@x.org\nmail: NEW2@x.org\ncn: bob"),
        delete("uid=b,ou=p"),
        add("e", "Bob", "mail: b@x.org\nuid: b"),
    ];
    assert_same("unique", lines, &requests);
    let lines = "overlay unique\nunique_base ou=p,dc=example,dc=com\nunique_ignore cn sn objectClass title\n";
    requests.truncate(12);
    assert_same("unique-older", lines, &requests);
}

#[test]
fn unique_domains_as_in_slapd() {
    let lines = "overlay unique\n\
        unique_uri \"ldap:///?mail?sub?(uid=zz) ldap:///ou=p,dc=example,dc=com?uid?one?(&(objectclass=person)(cn=a*))\"\n\
        unique_uri \"ldap:///ou=p,dc=example,dc=com?uid,givenName?one\"\n\
        unique_uri \"serialize strict ldap:///?carLicense?sub?(EMPLOYEETYPE=counted)\"\n\
        unique_uri \"ignore ldap:///?objectClass,cn,sn,uid,mail,carLicense,employeeType,ou?sub\"\n";
    let person = "objectClass: inetOrgPerson\ncn: C\nsn: S\n";
    let requests = [
        add("c", "C", "mail: a@x.org\nuid: a2"),
        add("c", "C", "mail: a@x.org\nuid: b"),
        add("c", "C", "mail: ab@x.org"),
        add("d", "C", "title: one"),
        modify("t", "replace: carLicense\ncarLicense: 7"),
        modify("b", "replace: carLicense\ncarLicense: 7"),
        modify("b", "replace: carLicense"),
        modify("t", "replace: carLicense\ncarLicense: 7\ncarLicense: 8"),
        add("f", "F", "carLicense: 7"),
        add("g", "G", "carLicense: 7\nemployeeType: counted"),
        add("g", "G", "employeeType: counted"),
        (
            &[][..],
            format!(
                "dn: uid=deep,uid=a,ou=p,{SUFFIX}\nchangetype: add\n{person}uid: b\nuid: deep\n"
            ),
        ),
        (
            &[][..],
            format!("dn: uid=o2,ou=q,{SUFFIX}\nchangetype: add\n{person}uid: b\nuid: o2\n"),
        ),
        rename("uid=o2,ou=q", "uid=b", 0, None),
        rename("uid=b,ou=q", "uid=a2", 0, Some("ou=p")),
        rename("uid=t,ou=p", "uid=a2", 0, Some("ou=q")),
        rename("uid=b,ou=q", "uid=free", 1, Some("ou=p")),
    ];
    assert_same("unique-domains", lines, &requests);
}

#[test]
fn constraints_as_in_slapd() {
    let lines = "overlay constraint\n\
        constraint_attribute title count 2\n\
        constraint_attribute mail regex ^[a-z]+@x.org$\n\
        constraint_attribute description size 4\n\
        constraint_attribute street count 1\n\
        constraint_attribute uid negregex ^z\n\
        constraint_attribute uidNumber regex ^[[:digit:]]$\n\
        constraint_attribute cn set \"(this/cn & [ann]) | (this/sn & [x])\"\n\
        constraint_attribute l uri ldap:///ou=p,dc=example,dc=com?cn,sn?one?(objectclass=person)\n\
        constraint_attribute o size 3 restrict=\"ldap:///ou=p,dc=example,dc=com??one?(givenName=g)\"\n\
        constraint_attribute employeeNumber count 0\n\
        constraint_attribute carLicense count -1\n\
        constraint_attribute pager size -1\n\
        constraint_attribute mobile size 0\n";
    let requests = [
        modify("a", "delete: title\ntitle: one"),
        modify("a", "delete: title\ntitle: two\ntitle: three"),
        modify("a", "add: title\ntitle: five"),
        modify("a", "replace: title\ntitle: five\ntitle: six\ntitle: seven"),
        modify("a", "replace: title\ntitle: five\ntitle: six"),
        modify("a", "add: title;lang-de\ntitle;lang-de: five"),
        modify("a", "add: mail;lang-de\nmail;lang-de: FIVE"),
        modify("a", "add: title\ntitle: x1\n-\ndelete: title\ntitle: five"),
        modify("a", "add: mail\nmail: FOO@x.org"),
        modify("a", "add: description\ndescription: äöüß"),
        modify("a", "add: description\ndescription: äö"),
        modify("b", "increment: uidNumber\nuidNumber: 50"),
        modify("b", "replace: cn\ncn: ann"),
        modify("b", "replace: cn\ncn: annx"),
        modify("b", "replace: cn\ncn: annx\n-\nreplace: sn\nsn: X"),
        modify("b", "replace: l\nl: nobody"),
        modify("b", "replace: l\nl: ANN"),
        modify(
            "b",
            "replace: o\no: toolong\n-\nadd: givenName\ngivenName: g",
        ),
        modify("b", "replace: o\no: toolong2"),
        modify("b", "replace: employeeNumber\nemployeeNumber: q"),
        modify("b", "replace: carLicense\ncarLicense: q"),
        modify("b", "replace: pager\npager: 12"),
        modify("b", "replace: mobile\nmobile: 12"),
        modify(
            "b",
            "add: description\ndescription: toolong\n-\nadd: mail\nmail: BAD",
        ),
        modify(
            "b",
            "add: mail\nmail: BAD\n-\nadd: description\ndescription: toolong",
        ),
        rename("uid=b,ou=p", "uid=zed", 0, None),
        rename("uid=b,ou=p", "title=q", 0, None),
        rename("title=q,ou=p", "title=q2", 0, None),
        rename("title=q2,ou=p", "title=q3", 1, None),
        add("c", "ann", "mail: BAD@x.org\ntitle: a\ntitle: b\ntitle: c"),
        add("c", "ann", "title: a\ntitle: b\ntitle: c\nmail: BAD@x.org"),
        add("c", "ann", "o: toolong\ngivenName: g"),
        add("zz", "ann", ""),
        add("c", "nope", ""),
        with(&["-e", "manageDSAit"], add("c", "nope", "")),
        with(&["-e", "relax"], add("c", "ANN", "mail: BAD@x.org")),
        with(
            &["-e", "relax"],
            modify("c", "add: title\ntitle: q1\ntitle: q2\ntitle: q3"),
        ),
        modify("a", "replace: mail\nmail:: /wA="),
        modify("a", "delete: mail"),
        modify("nope", "replace: mail\nmail: BAD"),
        (
            &[][..],
            format!(
                "dn: ou=zzzz,{SUFFIX}\nchangetype: add\nobjectClass: organizationalUnit\nou: zzzz\ndescription: 12345\n"
            ),
        ),
    ];
    assert_same("constraint", lines, &requests);
}

#[test]
fn the_overlay_configured_last_refuses_first() {
    let requests = [modify("a", "replace: mail\nmail: B@x.org")];
    let unique = "overlay unique\nunique_uri ldap:///?mail?sub\n";
    let constraint = "overlay constraint\nconstraint_attribute mail regex ^[a-z]+@x.org$\n";
    assert_same("order-1", &format!("{unique}{constraint}"), &requests);
    assert_same("order-2", &format!("{constraint}{unique}"), &requests);
}

/// The lines of a configuration directory that are about overlays.
pub(crate) fn overlay_lines(stage: &Stage, folder: &str) -> Vec<String> {
    let folder = stage.path(folder).join("cn=config/olcDatabase={1}mdb");
    let files = std::fs::read_dir(&folder).expect("the overlays' folder");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let mut lines = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("an overlay's file");
        let text = text.replace("\n ", "");
        let own = text.lines().filter(|line| {
            let line = line.to_ascii_lowercase();
            line.starts_with("olc") || line.starts_with("objectclass")
        });
        lines.extend(own.map(str::to_owned));
    }
    lines
}

#[test]
fn the_configuration_directory_is_that_of_slapd_and_is_read_back() {
    let lines = "overlay unique\n\
        unique_uri ldap:///?mail,uid?one?(objectclass=person)\n\
        unique_uri ldap:///ou=p,dc=example,dc=com?title?sub?(sn=a*)\n\
        overlay constraint\n\
        constraint_attribute mail regex \"^[a-z]+ @x\\\\.org$\"\n\
        constraint_attribute title,description size 4 restrict=\"ldap:///ou=p,dc=example,dc=com??sub?(objectClass=person)\"\n\
        constraint_attribute l uri ldap:///dc=example,dc=com?cn?sub?(cn=*)\n\
        constraint_attribute o set \"this/uid & [a]\"\n\
        constraint_attribute street count 2\n\
        overlay refint\n\
        refint_attributes member manager\n\
        refint_attributes seeAlso\n\
        refint_nothing \"cn=no body,dc=example,dc=com\"\n\
        overlay refint\n\
        refint_attributes uniqueMember\n\
        refint_modifiersname cn=me\n\
        overlay memberof\n\
        overlay memberof\n\
        memberof-dangling drop\n\
        memberof-refint yes\n\
        overlay ppolicy\n\
        ppolicy_use_lockout\n\
        overlay lastbind\n";
    let modules: String = [
        "unique",
        "constraint",
        "refint",
        "memberof",
        "ppolicy",
        "lastbind",
    ]
    .map(|name| format!("moduleload {name}.so\n"))
    .concat();
    let mut converted = Vec::new();
    for stage in [Stage::new("olc-ours"), Stage::with_original("olc-slapd")] {
        let database = stage.database("db", SUFFIX, lines);
        stage.configure(&format!("{modules}{database}"));
        stage.add(DATA).well();
        let folder = stage.text("slapd.d");
        std::fs::create_dir(&folder).expect("a folder");
        stage.tool("t", &["-F", &folder], "").well();
        converted.push(overlay_lines(&stage, "slapd.d"));
        let module = std::fs::read_to_string(stage.path("slapd.d/cn=config/cn=module{0}.ldif"));
        let module = module.expect("the modules").replace("\n ", "");
        let path = format!("\nolcModulePath: {}/usr/lib/ldap\n", stage.distribution());
        assert!(module.contains(&path), "{module}");
        // Read and written again, it is the same.
        stage.tool_by_directory("t", &folder, &[]).well();
    }
    assert_eq!(converted[0], converted[1]);
}

#[test]
fn wrong_directives_are_refused_where_slapd_refuses_them() {
    for lines in [
        "overlay unique\nunique_uri ldap:///?x?sub\n",
        "overlay unique\nunique_uri ldap://h/?mail?sub\n",
        "overlay unique\nunique_uri foo\n",
        "overlay unique\nunique_uri ldap:///?mail?base\n",
        "overlay unique\nunique_uri ldap:///dc=y?mail?sub\n",
        "overlay unique\nunique_uri ldap:///?mail?sub\nunique_attributes mail\n",
        "overlay unique\noverlay unique\n",
        "overlay constraint\nconstraint_attribute x regex a\n",
        "overlay constraint\nconstraint_attribute mail foo a\n",
        "overlay constraint\nconstraint_attribute mail size\n",
        "overlay constraint\nconstraint_attribute mail size 3 foo=1\n",
        "overlay constraint\nconstraint_attribute mail size 3 restrict=ldap:///dc=y??sub?(cn=*)\n",
        "overlay constraint\nconstraint_attribute mail uri ldap:///?cn?sub?(bad\n",
        "overlay auditlog\nauditlog\n",
        "overlay auditlog\nauditlog a b\n",
        "overlay auditlog\noverlay auditlog\n",
        "overlay lastbind\nlastbind-precision\n",
        "overlay lastbind\nlastbind-precision x\n",
        "overlay lastbind\nlastbind_forward_updates x\n",
        "overlay lastbind\noverlay lastbind\n",
        "overlay refint\nrefint_attributes\n",
        "overlay refint\nrefint_attributes x\n",
        "overlay refint\nrefint_attributes member,owner\n",
        "overlay refint\nrefint_nothing x\n",
        "overlay refint\nrefint_nothing cn=a cn=b\n",
        "overlay refint\nrefint_modifiersname x\n",
        "overlay refint\nrefint_modifiersname cn=a cn=b\n",
        "overlay sssvlv\nsssvlv-max\n",
        "overlay sssvlv\nsssvlv-maxkeys x\n",
        "overlay sssvlv\nsssvlv-maxperconn 1 2\n",
    ] {
        let mut texts = Vec::new();
        for stage in [
            Stage::new("wrong-ours"),
            Stage::with_original("wrong-slapd"),
        ] {
            let database = stage.database("db", SUFFIX, lines);
            let modules = [
                "unique",
                "constraint",
                "refint",
                "auditlog",
                "lastbind",
                "sssvlv",
            ];
            let modules: String = modules
                .map(|name| format!("moduleload {name}.so\n"))
                .concat();
            stage.configure(&format!("{modules}{database}"));
            let said = stage.tool("t", &["-u"], "").with_status(1);
            texts.push(complaint(&said));
        }
        assert_eq!(texts[0], texts[1], "{lines}");
    }
}

/// Returns the first complaint without time and place.
pub(crate) fn complaint(said: &str) -> String {
    let mut lines = said.lines();
    let line = lines.find(|line| line.contains(": line ") || line.contains("overlay_config"));
    let line = line.unwrap_or(said);
    let sentence = line.rsplit_once("slapd.conf: line ");
    let sentence = sentence.and_then(|(_, rest)| rest.split_once(": "));
    let text = sentence.map_or(line, |(_, text)| text);
    let overlay = text.find("overlay_config");
    text[overlay.unwrap_or(0)..].trim().to_owned()
}
