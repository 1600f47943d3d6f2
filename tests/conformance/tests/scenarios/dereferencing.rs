//! The dereference control next to Debian's slapd, as ldapsearch shows its answers.

use crate::data::SUFFIX;
use crate::stage::Stage;

const DATA: &str = "\
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: x

dn: uid=a,dc=example,dc=com
objectClass: inetOrgPerson
uid: a
cn: Ann
sn: A
mail: a@x.org
mail: A2@x.org
userPassword: secret

dn: uid=b,dc=example,dc=com
objectClass: inetOrgPerson
uid: b
cn: Bob
sn: B
userPassword: secret

dn: cn=g,dc=example,dc=com
objectClass: groupOfNames
cn: g
member: uid=a,dc=example,dc=com
member: uid=gone,dc=example,dc=com
member: uid=b,dc=example,dc=com
owner: uid=b,dc=example,dc=com
seeAlso;lang-de: uid=b,dc=example,dc=com

dn: cn=u,dc=example,dc=com
objectClass: groupOfUniqueNames
cn: u
uniqueMember: uid=a,dc=example,dc=com
uniqueMember: uid=b,dc=example,dc=com#'01'B
";

/// Returns what ldapsearch says to each control, for both identities.
fn answers(stage: &Stage) -> Vec<String> {
    let access = "access to attrs=mail by dn.exact=uid=b,dc=example,dc=com none by * read\n\
        access to dn.exact=cn=g,dc=example,dc=com attrs=owner by dn.exact=uid=b,dc=example,dc=com none by * read\n\
        access to attrs=userPassword by anonymous auth by * read\n\
        access to * by * read\n";
    let database = stage.database("db", SUFFIX, &format!("overlay deref\n{access}"));
    stage.configure(&format!("moduleload deref.so\n{database}"));
    stage.add(DATA).well();
    let server = stage.start();
    let mut answers = Vec::new();
    for control in [
        "!deref=MEMBER:CN,mail,uid",
        "deref=owner:uid;member:title,sn,userPassword",
        "!deref=member:entryDN,structuralObjectClass,name,hasSubordinates",
        "!deref=uniqueMember:mail,cn",
        "!deref=seeAlso:uid",
        "!deref=distinguishedName:uid",
        "!deref=creatorsName:uid",
        "!deref=cn:uid",
        "deref=foo:uid",
        "!deref=member:foo",
        "!deref=member:*",
        "!deref=member:cn;member:uid",
    ] {
        for user in ["uid=a,dc=example,dc=com", "uid=b,dc=example,dc=com"] {
            let arguments = ["-LLL", "-b", SUFFIX, "-E", control, "(cn=*)", "1.1"];
            let ran = server.client_as((user, "secret"), "ldapsearch", &arguments, "");
            answers.push(format!(
                "{control} {user}\n{} {}{}",
                ran.status, ran.out, ran.err
            ));
        }
    }
    let found = server.client(
        "ldapsearch",
        &["-LLL", "-s", "base", "-b", "", "supportedControl"],
        "",
    );
    assert!(found.well().contains("1.3.6.1.4.1.4203.666.5.16"));
    server.stop();
    answers
}

#[test]
fn values_are_dereferenced_as_in_slapd() {
    let ours = answers(&Stage::new("deref-ours"));
    let theirs = answers(&Stage::with_original("deref-slapd"));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}
