//! The overlay `refint` next to Debian's slapd. The same requests give the same entries after each
//! of them, with the order of attributes and values.

use std::time::Duration;

use crate::data::SUFFIX;
use crate::overlays::{Request, answer, delete, modify, rename};
use crate::stage::{Running, Stage};

/// slapd changes references after its answer. So long a history waits for it.
const SLAPD_DELAY: Duration = Duration::from_millis(300);

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
cn: Ann
sn: A

dn: uid=b,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: b
cn: Bob
sn: B
secretary: uid=a,ou=p,dc=example,dc=com
seeAlso;lang-de: uid=a,ou=p,dc=example,dc=com
seeAlso: uid=a,ou=p,dc=example,dc=com
manager: uid=a,ou=p,dc=example,dc=com
manager: uid=b,ou=p,dc=example,dc=com

dn: cn=g,dc=example,dc=com
objectClass: groupOfNames
cn: g
owner: uid=a,ou=p,dc=example,dc=com
member: uid=a,ou=p,dc=example,dc=com

dn: cn=h,dc=example,dc=com
objectClass: groupOfNames
cn: h
member: uid=a,ou=p,dc=example,dc=com
member: uid=zz,ou=p,dc=example,dc=com
member: uid=b,ou=p,dc=example,dc=com

dn: cn=i,dc=example,dc=com
objectClass: groupOfNames
cn: i
member: cn=i,dc=example,dc=com
member: uid=a,ou=p,dc=example,dc=com
owner: cn=i,dc=example,dc=com

dn: cn=k,dc=example,dc=com
objectClass: groupOfNames
cn: k
member: ou=p,dc=example,dc=com
member: uid=a,ou=p,dc=example,dc=com
member: uid=q\\2Cz,ou=p,dc=example,dc=com
member: dc=example,dc=com

dn: cn=u,ou=q,dc=example,dc=com
objectClass: groupOfUniqueNames
cn: u
uniqueMember: uid=a,ou=p,dc=example,dc=com
uniqueMember: uid=a,ou=p,dc=example,dc=com#'01'B
uniqueMember: uid=b,ou=p,dc=example,dc=com
";

/// Returns the answer to each request, with all entries after it.
fn history(stage: &Stage, lines: &str, requests: &[Request<'_>], delay: Duration) -> Vec<String> {
    let database = stage.database("db", SUFFIX, lines);
    stage.configure(&format!("moduleload refint.so\n{database}"));
    stage.add(DATA).well();
    let server = stage.start();
    let states = requests.iter().map(|request| {
        let answer = answer(&server, request);
        std::thread::sleep(delay);
        format!("{answer}\n{}", entries(&server))
    });
    let states = states.collect();
    server.stop();
    states
}

/// Returns all entries, in the order of their names. Values of an attribute have no order.
fn entries(server: &Running<'_>) -> String {
    let found = server.search(&["-o", "ldif-wrap=no", "*", "modifiersName"]);
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
    let ours = history(&ours, lines, requests, Duration::ZERO);
    let original = Stage::with_original(&format!("{label}-slapd"));
    let theirs = history(&original, lines, requests, SLAPD_DELAY);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn references_follow_as_in_slapd() {
    let requests = [
        rename("uid=a,ou=p", "uid=zz", 1, None),
        rename("uid=b,ou=p", "uid=B", 1, None),
        rename("cn=i", "cn=i2", 0, Some("ou=q")),
        rename("ou=p", "ou=P\\, Q", 1, Some("ou=q")),
        modify("nobody", "replace: cn\ncn: x"),
        rename("ou=q", "ou=r", 1, None),
        rename("ou=P\\, Q,ou=r", "ou=p", 1, Some("cn=h")),
        delete("uid=zz,ou=p,cn=h"),
        delete("uid=B,ou=p,cn=h"),
        delete("cn=i2,ou=r"),
        // `ou=p` stays: slapd also removes values below a deleted name, a meant difference.
    ];
    let attributes = "refint_attributes seeAlso secretary member\n\
        refint_attributes manager owner uniqueMember cn\n";
    let one = |more: &str| format!("overlay refint\n{attributes}{more}");
    let nothing = "refint_nothing \"cn=No body,dc=example,dc=com\"\nrefint_modifiersname cn=me\n";
    let twice = "overlay refint\nrefint_attributes member seeAlso\n\
        overlay refint\nrefint_attributes owner manager\n";
    let settings = [
        ("refint", one("")),
        ("refint-index", one("index member,owner,uniqueMember eq\n")),
        ("refint-nothing", one(nothing)),
        ("refint-twice", twice.to_owned()),
    ];
    // They wait more than they work, so they do so at once.
    std::thread::scope(|scope| {
        for (label, lines) in &settings {
            scope.spawn(|| assert_same(label, lines, &requests));
        }
    });
}
