//! Access rules, and who manages what.

use crate::data::{BABS, PASSWORD, ROOT, SUFFIX, UNORDERED, heads, names};
use crate::stage::Stage;

const BJORN: &str = "cn=Bjorn Jensen,ou=People,dc=example,dc=com";

#[test]
fn rules_of_every_kind() {
    let rules = "\
access to attrs=userPassword by self write by anonymous auth by * none
access to dn.subtree=\"ou=Groups,dc=example,dc=com\" attrs=member by dnattr=member selfwrite by * read
access to dn.children=\"ou=Alumni,ou=People,dc=example,dc=com\" by group=\"cn=All Staff,ou=Groups,dc=example,dc=com\" read by * none
access to filter=(uid=bjorn) attrs=telephoneNumber by dn.exact=\"cn=Barbara Jensen,ou=People,dc=example,dc=com\" read by self read by * none
access to dn.regex=\"^(.+,)?(ou=People,dc=example,dc=com)$\" attrs=title by dn.regex=\"^cn=[^,]+,$2$\" write by * read
access to * by peername.ip=10.0.0.1 none by * read";
    let stage = Stage::loaded("acls", rules, UNORDERED);
    let server = stage.start();
    let (babs, bjorn) = ((BABS, "bjensen"), (BJORN, "bjorn"));
    let found = |who: Option<(&str, &str)>, more: &[&str]| {
        let arguments = [&["-LLL", "-b", SUFFIX], more].concat();
        match who {
            Some(who) => server.client_as(who, "ldapsearch", &arguments, "").well(),
            None => server.client("ldapsearch", &arguments, "").well(),
        }
    };
    assert!(!found(None, &["(uid=bjorn)"]).contains("userPassword"));
    assert!(found(Some(bjorn), &["(uid=bjorn)"]).contains("userPassword"));
    assert!(!found(Some(babs), &["(uid=bjorn)"]).contains("userPassword"));
    assert!(!found(None, &["(uid=bjorn)"]).contains("telephoneNumber"));
    assert!(found(Some(babs), &["(uid=bjorn)"]).contains("telephoneNumber"));
    assert_eq!(
        heads(&found(None, &["(telephoneNumber=*)", "1.1"])),
        ["cn=Barbara Jensen"]
    );
    assert_eq!(heads(&found(None, &["(uid=dots)", "1.1"])), [""; 0]);
    assert_eq!(
        heads(&found(Some(babs), &["(uid=dots)", "1.1"])),
        ["cn=Dorothy Stevens"]
    );
    let modify =
        |who: (&str, &str), change: &str| server.client_as(who, "ldapmodify", &[], change).status;
    let title = format!("dn: {BJORN}\nchangetype: modify\nreplace: title\ntitle: x\n");
    assert_eq!(modify(babs, &title), 0);
    let sn = format!("dn: {BJORN}\nchangetype: modify\nreplace: sn\nsn: x\n");
    assert_eq!(modify(babs, &sn), 50);
    let staff = "cn=All Staff,ou=Groups,dc=example,dc=com";
    let leave =
        |who: &str| format!("dn: {staff}\nchangetype: modify\ndelete: member\nmember: {who}\n");
    assert_eq!(modify(babs, &leave(BJORN)), 50);
    assert_eq!(modify(babs, &leave(BABS)), 0);
    let add = format!("dn: cn=x,{SUFFIX}\nchangetype: add\nobjectClass: person\ncn: x\nsn: x\n");
    assert_eq!(modify(babs, &add), 50);
    assert_eq!(modify((ROOT, PASSWORD), &add), 0);
    server.stop();
}

#[test]
fn patterns_over_values() {
    let rules = "\
access to attrs=member val.regex=\"^cn=Bjorn.*$\" by dn.exact=\"cn=Barbara Jensen,ou=People,dc=example,dc=com\" write by * read
access to attrs=member by * read
access to * by * read";
    let stage = Stage::loaded("valregex", rules, UNORDERED);
    let server = stage.start();
    let staff = "cn=All Staff,ou=Groups,dc=example,dc=com";
    let change = |kind: &str, who: &str| {
        let text = format!("dn: {staff}\nchangetype: modify\n{kind}: member\nmember: {who}\n");
        server
            .client_as((BABS, "bjensen"), "ldapmodify", &[], &text)
            .status
    };
    assert_eq!(change("delete", BABS), 50);
    assert_eq!(change("delete", BJORN), 0);
    assert_eq!(change("add", "cn=Dorothy"), 50);
    assert_eq!(change("add", "cn=Bjorn,dc=example,dc=com"), 0);
    server.stop();
}

#[test]
fn who_may_manage_sets_what_nobody_may() {
    let rules = "access to * by dn.exact=\"cn=Barbara Jensen,ou=People,dc=example,dc=com\" manage by * read";
    let stage = Stage::loaded("manage", rules, UNORDERED);
    let server = stage.start();
    let uuid = "11111111-2222-4333-8444-555555555555";
    let add = format!(
        "dn: cn=x,{SUFFIX}\nchangetype: add\nobjectClass: person\ncn: x\nsn: x\nentryUUID: {uuid}\n"
    );
    let babs = (BABS, "bjensen");
    server
        .client_as(babs, "ldapmodify", &[], &add)
        .with_status(19);
    server
        .client_as(babs, "ldapmodify", &["-e", "!relax"], &add)
        .well();
    let shown = server.search(&["(cn=x)", "entryUUID"]);
    assert!(shown.contains(uuid), "{shown}");
    server.stop();
}

#[test]
fn what_is_obsolete_is_for_who_relaxes_the_rules() {
    let stage = Stage::new("obsolete");
    let definitions = "\
attributetype ( 1.3.6.1.4.1.32473.3.1 NAME 'oldNote' OBSOLETE SUP name )
objectclass ( 1.3.6.1.4.1.32473.3.2 NAME 'oldThing' OBSOLETE SUP top AUXILIARY MAY oldNote )
";
    let rules = format!("access to * by dn.exact=\"{BABS}\" manage by * read");
    stage.configure(&(definitions.to_owned() + &stage.database("db", SUFFIX, &rules)));
    stage.add(UNORDERED).well();
    let server = stage.start();
    let bjorn = "cn=Bjorn Jensen,ou=People,dc=example,dc=com";
    let modify = format!(
        "dn: {bjorn}\nchangetype: modify\nadd: objectClass\nobjectClass: oldThing\n-\nadd: oldNote\noldNote: x\n"
    );
    let add = format!(
        "dn: cn=x,{SUFFIX}\nchangetype: add\nobjectClass: person\nobjectClass: oldThing\ncn: x\nsn: x\noldNote: y\n"
    );
    let babs = (BABS, "bjensen");
    for change in [&modify, &add] {
        let said = server.client_as(babs, "ldapmodify", &[], change);
        assert!([19, 65].contains(&said.status), "{said:?}");
        let relaxed = ["-e", "!relax"];
        server
            .client_as(babs, "ldapmodify", &relaxed, change)
            .well();
    }
    assert_eq!(names(&server.search(&["(oldNote=*)", "1.1"])).len(), 2);
    server.stop();
}
